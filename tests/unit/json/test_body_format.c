/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kinformer/body.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/json/body_check.h"
#include "support/json/json_reference.h"
#include "support/unit.h"

/* Checks the text and frees the body. */
static void assert_body(ki_body *body, const char *expected)
{
    body_assert_text(body, expected);
    json_t *reference = json_reference_parse(ki_body_json(body).raw);
    assert_non_null(reference);
    assert_true(json_reference_same(ki_body_json(body), reference));
    json_decref(reference);
    ki_body_free(body);
}

/* Checks the failure and that its message contains these words, and frees the body. */
static void assert_failure(ki_body *body, int code, uint64_t offset, const char *words)
{
    ki_error err = {0};
    assert_non_null(body);
    assert_int_equal(ki_body_check(body, &err), code);
    assert_int_equal(err.code, code);
    assert_int_equal(ki_json_type_of(ki_body_json(body)), KI_JSON_NONE);
    if (strstr(err.message, words) == NULL)
        fail_msg("\"%s\" has no \"%s\"", err.message, words);
    assert_int_equal(err.offset, offset);
    ki_body_free(body);
}

/* A format that the compiler does not check. */
static ki_body *unchecked(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ki_body *body = ki_body_vformat(format, args);
    va_end(args);
    return body;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void a_configmap_is_written_in_one_line(void **state)
{
    (void)state;
    assert_body(ki_body_format("{metadata:{name:%s,namespace:%s},data:{team:%s}}", "web", "default", "a\"b"),
                "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"},\"data\":{\"team\":\"a\\\"b\"}}");
}

static void strings_come_with_a_nul_or_a_length(void **state)
{
    (void)state;
    ki_str slice = {"abcdef", 3};
    const char *none = getenv("KI_TEST_NO_SUCH_VARIABLE");
    assert_body(ki_body_format("[%s,%.*s,%.*s,'',\"\"]", "x", KI_STR_ARGS(slice), 0, none),
                "[\"x\",\"abc\",\"\",\"\",\"\"]");
    assert_body(ki_body_format("%.*s", 4, "a\0b\n"), "\"a\\u0000b\\n\"");
}

static void integers_have_printfs_sizes(void **state)
{
    (void)state;
    assert_body(ki_body_format("[%d,%i,%u,%ld,%lld,%lu,%llu]", -1, 2, 3U, -4L, (long long)INT64_MIN, 5UL,
                               (unsigned long long)UINT64_MAX),
                "[-1,2,3,-4,-9223372036854775808,5,18446744073709551615]");
    assert_body(ki_body_format("[%zu,%jd,%td,%hd,%hhd,%hu,%hhu,%" PRId64 "]", (size_t)1, (intmax_t)-2,
                               (ptrdiff_t)-3, (short)-4, (signed char)-5, (unsigned short)65535,
                               (unsigned char)255, INT64_MAX),
                "[1,-2,-3,-4,-5,65535,255,9223372036854775807]");
    assert_body(ki_body_format("[%ju,%zd,%hhd]", UINTMAX_MAX, (ptrdiff_t)-1, (signed char)1),
                "[18446744073709551615,-1,1]");
}

static void doubles_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    assert_body(ki_body_format("[%g,%g,%g]", 0.1, 1e300, -2.0), "[0.1,1e+300,-2]");
    assert_failure(ki_body_format("{a:%g}", (double)INFINITY), KI_ERR_INVALID, 4, "infinity");
    assert_failure(ki_body_format("{a:%g}", (double)NAN), KI_ERR_INVALID, 4, "NaN");
}

static void literals_and_booleans_are_written_as_they_are(void **state)
{
    (void)state;
    assert_body(ki_body_format(" { a : true , b:false,c: null, d:-1.5e3,e:[ ], f:{ } } "),
                "{\"a\":true,\"b\":false,\"c\":null,\"d\":-1.5e3,\"e\":[],\"f\":{}}");
    assert_body(ki_body_format("[bool(%d),bool(%d),bool( %lu )]", 0, 7, 1UL), "[false,true,true]");
    assert_body(ki_body_format("{\"kind\":\"Pod\",'api Version':'v1'}"),
                "{\"kind\":\"Pod\",\"api Version\":\"v1\"}");
}

static void quoted_strings_may_contain_arguments(void **state)
{
    (void)state;
    assert_body(ki_body_format("{image:'nginx:%s',rate:\"%d%%\",name:'%.*s-%u'}", "1.2", 5, 3, "webby", 7U),
                "{\"image\":\"nginx:1.2\",\"rate\":\"5%\",\"name\":\"web-7\"}");
    assert_body(ki_body_format("{'a%s':1,app.kubernetes.io/name:%s}", "\"b", "x"),
                "{\"a\\\"b\":1,\"app.kubernetes.io/name\":\"x\"}");
}

static void json_arguments_are_checked_and_inserted(void **state)
{
    (void)state;
    ki_body *inner = ki_body_format("{x:%d}", 1);
    assert_body(ki_body_format("{a:json(%.*s),b:json(%s)}", KI_STR_ARGS(ki_body_json(inner).raw), " [1, 2] "),
                "{\"a\":{\"x\":1},\"b\":[1,2]}");
    ki_body_free(inner);
    assert_failure(ki_body_format("{a:json(%s)}", "1,\"b\":2"), KI_ERR_JSON_TRAILING, 8,
                   "format, position 8");
    assert_failure(ki_body_format("{a:json(%s)}", "{"), KI_ERR_JSON_TRUNCATED, 8, "format, position 8");
    assert_failure(ki_body_format("{a:json(%s)}", ""), KI_ERR_INVALID, 8, "the JSON text is empty");
}

static void a_question_mark_leaves_out_empty_values(void **state)
{
    (void)state;
    const char *none = getenv("KI_TEST_NO_SUCH_VARIABLE");
    assert_body(ki_body_format("{a?:%s,b?:%s,c?:%d,d?:bool(%d),e?:json(%s),f?:%.*s,g?:%g,h?:'%s'}", none, "",
                               0, 0, none, 0, "", 0.0, ""),
                "{}");
    assert_body(ki_body_format("{a?:%s,b?:%s,c?:%d,d?:bool(%d),e?:json(%s),f:1}", "x", none, 3, 1, "null"),
                "{\"a\":\"x\",\"c\":3,\"d\":true,\"e\":null,\"f\":1}");
    assert_body(ki_body_format("{x:1,m?:{a?:%s,b?:{c?:%s}},n?:[],o?:{p:{}},q:{}}", none, none),
                "{\"x\":1,\"o\":{\"p\":{}},\"q\":{}}");
    assert_body(ki_body_format("{m?:{a?:%s},%s?:%s,z:1}", none, "k", none), "{\"z\":1}");
}

static void names_come_from_arguments(void **state)
{
    (void)state;
    assert_body(ki_body_format("{metadata:{labels:{%s:%s,%.*s:%s}}}", "a/\"b", "c", 1, "zz", "d"),
                "{\"metadata\":{\"labels\":{\"a/\\\"b\":\"c\",\"z\":\"d\"}}}");
    assert_failure(ki_body_format("{app:%s,%s:%s}", "x", "app", "y"), KI_ERR_INVALID, 8, "already");
    assert_failure(ki_body_format("{%s:1,app:{}}", "app"), KI_ERR_INVALID, 6, "already");
    assert_body(ki_body_format("{app:1,b:{app:2},app?:%d}", 0), "{\"app\":1,\"b\":{\"app\":2}}");
}

/* ---- escaping ------------------------------------------------------------------------------------------ */

static void no_value_can_break_out_of_its_place(void **state)
{
    (void)state;
    static const char *const nasty[] = {"\",\"admin\":true,\"x\":\"",
                                        "\\",
                                        "\\\"",
                                        "%s%n%d",
                                        "'},{'",
                                        "\x01\x1f\x7f",
                                        "a\nb\tc",
                                        "</script>",
                                        "?",
                                        "null",
                                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "{\"a\":1}",
                                        ""};
    for (size_t i = 0; i < sizeof(nasty) / sizeof(nasty[0]); i++) {
        ki_body *body = ki_body_format("{first:%s,second:'<%s>',%s:3}", nasty[i], nasty[i], nasty[i]);
        assert_int_equal(ki_body_check(body, NULL), 0);
        json_t *read = json_reference_parse(ki_body_json(body).raw);
        char quoted[128];
        (void)snprintf(quoted, sizeof(quoted), "<%s>", nasty[i]);
        assert_int_equal(json_object_size(read), 3);
        assert_string_equal(json_string_value(json_object_get(read, "first")), nasty[i]);
        assert_string_equal(json_string_value(json_object_get(read, "second")), quoted);
        assert_int_equal(json_integer_value(json_object_get(read, nasty[i])), 3);
        json_decref(read);
        ki_body_free(body);
    }
}

static void text_that_is_not_utf8_is_an_error(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_failure(ki_body_format("{a:%s}", wrong[i]), KI_ERR_JSON_UTF8, 3, "not UTF-8");
        assert_failure(ki_body_format("{%s:1}", wrong[i]), KI_ERR_JSON_UTF8, 1, "not UTF-8");
        assert_failure(ki_body_format("{a:'x%s'}", wrong[i]), KI_ERR_JSON_UTF8, 4, "not UTF-8");
    }
}

static void null_is_an_error_where_it_is_not_optional(void **state)
{
    (void)state;
    const char *none = getenv("KI_TEST_NO_SUCH_VARIABLE");
    assert_failure(ki_body_format("{a:%s}", none), KI_ERR_INVALID, 3, "NULL");
    assert_failure(ki_body_format("{%s:1}", none), KI_ERR_INVALID, 1, "NULL");
    assert_failure(ki_body_format("{a:'x%s'}", none), KI_ERR_INVALID, 5, "NULL");
    assert_failure(ki_body_format("[%s]", none), KI_ERR_INVALID, 1, "NULL");
    assert_failure(ki_body_format("[%.*s]", -1, "abc"), KI_ERR_INVALID, 5, "negative");
}

/* ---- formats ------------------------------------------------------------------------------------------- */

static void wrong_formats_are_reported_with_position_and_reason(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        uint64_t offset;
        const char *words;
    } rows[] = {
        {"", 0, "ends too early"},
        {"{", 1, "ends too early"},
        {"{a:1", 4, "ends too early"},
        {"{a}", 2, ": is missing"},
        {"{a 1}", 3, ": is missing"},
        {"{a:}", 3, "a value is missing"},
        {"{a:1 b:2}", 5, ", or } is missing"},
        {"{a:1,}", 5, "a name is missing"},
        {"[1,]", 3, "a value is missing"},
        {"[1 2]", 3, ", or ] is missing"},
        {"[1}", 2, ", or ] is missing"},
        {"{kind:Deployment}", 6, "strings need quotes"},
        {"{a:'x}", 6, "ends too early"},
        {"{a:'\\n'}", 4, "backslash"},
        {"{a:01}", 3, "not a value"},
        {"{a:%x}", 4, "not one of"},
        {"{a:%5d}", 4, "not one of"},
        {"{a:%lg}", 5, "not one of"},
        {"{a:%", 4, "ends too early"},
        {"1 2", 2, "text after the value"},
        {"{a:bool()}", 8, "an argument is missing"},
        {"{a:bool(%d}", 10, ") is missing"},
        {"{a:bool(%s)}", 8, "integer"},
        {"{a:json(%d)}", 8, "string argument"},
        {"{%d:1}", 1, "a name must be a string"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_failure(unchecked(rows[i].format, 0L, 0L), KI_ERR_INVALID, rows[i].offset, rows[i].words);
    ki_body *body = unchecked(NULL);
    assert_failure(body, KI_ERR_INVALID, 0, "must not be NULL");
}

static void depth_and_size_have_limits(void **state)
{
    (void)state;
    char deep[200] = "";
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    deep[128] = 0;
    ki_body *body = unchecked(deep);
    assert_int_equal(ki_body_check(body, NULL), 0);
    ki_body_free(body);
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    deep[130] = 0;
    assert_failure(unchecked(deep), KI_ERR_JSON_DEPTH, 64, "too deeply");
    char *text = malloc(2001);
    assert_non_null(text);
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = 0;
    body = ki_body_format("json(%s)", text);
    assert_int_equal(ki_body_check(body, NULL), 0);
    ki_body_free(body);
    body = ki_body_format("[json(%s)]", text);
    assert_int_equal(ki_body_check(body, NULL), KI_ERR_JSON_DEPTH);
    ki_body_free(body);
    free(text);
    size_t half = ((size_t)32 << 20) + 1;
    char *large = malloc(half);
    assert_non_null(large);
    memset(large, 'x', half);
    body = ki_body_format("[%.*s,%.*s]", (int)half, large, (int)half, large);
    assert_int_equal(ki_body_check(body, NULL), KI_ERR_TOO_LARGE);
    ki_body_free(body);
    free(large);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        ki_body *body = ki_body_format("{a:%s,b:'x%dy',c?:{d?:%s},e:json(%s)}", "text", 12, "", "[1,[2]]");
        int rc = ki_body_check(body, NULL);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        if (!has_failed)
            assert_true(ki_str_equal(ki_body_json(body).raw,
                                     KI_STR("{\"a\":\"text\",\"b\":\"x12y\",\"e\":[1,[2]]}")));
        ki_body_free(body);
        if (!has_failed)
            break;
        failures++;
    }
    assert_true(failures > 3);
}

static void a_null_body_counts_as_out_of_memory(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_body_check(NULL, &err), KI_ERR_NO_MEMORY);
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    assert_int_equal(ki_json_type_of(ki_body_json(NULL)), KI_JSON_NONE);
    assert_int_equal(ki_body_set(NULL, "/a", "1"), KI_ERR_NO_MEMORY);
    assert_int_equal(ki_body_remove(NULL, "/a"), KI_ERR_NO_MEMORY);
    assert_int_equal(ki_body_add_finalizer(NULL, KI_STR("a")), KI_ERR_NO_MEMORY);
    ki_body_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_configmap_is_written_in_one_line),
        WITH_MEMORY_CHECK(strings_come_with_a_nul_or_a_length),
        WITH_MEMORY_CHECK(integers_have_printfs_sizes),
        WITH_MEMORY_CHECK(doubles_are_written_in_their_shortest_form),
        WITH_MEMORY_CHECK(literals_and_booleans_are_written_as_they_are),
        WITH_MEMORY_CHECK(quoted_strings_may_contain_arguments),
        WITH_MEMORY_CHECK(json_arguments_are_checked_and_inserted),
        WITH_MEMORY_CHECK(a_question_mark_leaves_out_empty_values),
        WITH_MEMORY_CHECK(names_come_from_arguments),
        WITH_MEMORY_CHECK(no_value_can_break_out_of_its_place),
        WITH_MEMORY_CHECK(text_that_is_not_utf8_is_an_error),
        WITH_MEMORY_CHECK(null_is_an_error_where_it_is_not_optional),
        WITH_MEMORY_CHECK(wrong_formats_are_reported_with_position_and_reason),
        WITH_MEMORY_CHECK(depth_and_size_have_limits),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
        WITH_MEMORY_CHECK(a_null_body_counts_as_out_of_memory),
    };
    return RUN_TESTS(tests);
}
