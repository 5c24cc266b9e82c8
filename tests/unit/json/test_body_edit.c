/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/body.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/json/body_check.h"
#include "support/unit.h"

static ki_body *body_of(const char *text)
{
    ki_body *body = ki_body_copy((ki_json){ki_str_of(text)});
    assert_non_null(body);
    return body;
}

/* So it can be passed to calls that take a string. */
static void every_text_is_followed_by_a_nul(void **state)
{
    (void)state;
    char spaces[300];
    memset(spaces, ' ', sizeof(spaces));
    for (int bytes = 0; bytes < (int)sizeof(spaces); bytes++) { /* any size of the buffer */
        ki_body *body = ki_body_format("{a:%.*s}", bytes, spaces);
        assert_int_equal(strlen(ki_body_json(body).raw.ptr), ki_body_json(body).raw.len);
        assert_int_equal(ki_body_set(body, "/b", "%d", bytes), 0);
        assert_int_equal(strlen(ki_body_json(body).raw.ptr), ki_body_json(body).raw.len);
        assert_int_equal(ki_body_remove(body, "/a"), 1);
        assert_int_equal(strlen(ki_body_json(body).raw.ptr), ki_body_json(body).raw.len);
        ki_body_free(body);
    }
}

/* ---- setting ------------------------------------------------------------------------------------------- */

typedef struct set_row {
    const char *text;
    const char *pointer;
    const char *expected; /* NULL: the call fails */
    int code;
} set_row;

static void a_value_is_set_at_a_pointer(void **state)
{
    (void)state;
    static const set_row rows[] = {
        {"{\"a\":1}", "/a", "{\"a\":7}", 0},
        {"{\"a\":1}", "", "7", 0},
        {"{\"a\":1}", "/b", "{\"a\":1,\"b\":7}", 0},
        {"{}", "/b", "{\"b\":7}", 0},
        {"{ }", "/b", "{ \"b\":7}", 0},
        {"{\"a\":{\"b\":[1,{\"c\":2}]},\"z\":0}", "/a/b/1/c", "{\"a\":{\"b\":[1,{\"c\":7}]},\"z\":0}", 0},
        {"{}", "/a/b/c", "{\"a\":{\"b\":{\"c\":7}}}", 0},
        {"{\"a\":null}", "/a/b", "{\"a\":{\"b\":7}}", 0},
        {"{\"a\":null}", "/a/-", "{\"a\":[7]}", 0},
        {"null", "/a", "{\"a\":7}", 0},
        {"{\"a\":[]}", "/a/-", "{\"a\":[7]}", 0},
        {"{\"a\":[1]}", "/a/-", "{\"a\":[1,7]}", 0},
        {"{\"a\":[1]}", "/a/1", "{\"a\":[1,7]}", 0},
        {"{\"a\":[1]}", "/a/0", "{\"a\":[7]}", 0},
        {"{\"a\":[1]}", "/a/-/b/-", "{\"a\":[1,{\"b\":[7]}]}", 0},
        {"{}", "/metadata/finalizers/-", "{\"metadata\":{\"finalizers\":[7]}}", 0},
        {"{\"-\":1}", "/-", "{\"-\":7}", 0},
        {"{\"a\":1}", "/-", "{\"a\":1,\"-\":7}", 0},
        {"{}", "/a~1b~0c", "{\"a/b~c\":7}", 0},
        {"{\"a/b\":1}", "/a~1b", "{\"a/b\":7}", 0},
        {"{}", "/q\"\\", "{\"q\\\"\\\\\":7}", 0},
        {"{}", "/", "{\"\":7}", 0},
        {"{\"a\":[1]}", "/a/2", NULL, KI_ERR_NOT_FOUND},
        {"{\"a\":[1]}", "/a/x", NULL, KI_ERR_NOT_FOUND},
        {"{\"a\":\"s\"}", "/a/b", NULL, KI_ERR_TYPE},
        {"1", "/a", NULL, KI_ERR_TYPE},
        {"{}", "a", NULL, KI_ERR_INVALID},
        {"{}", "/a~2", NULL, KI_ERR_INVALID},
        {"{}", "/a~", NULL, KI_ERR_INVALID},
        {"{}", NULL, NULL, KI_ERR_INVALID},
        {"{}", "/\xff", NULL, KI_ERR_JSON_UTF8},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_body *body = body_of(rows[i].text);
        int rc = ki_body_set(body, rows[i].pointer, "%d", 7);
        if (rc != rows[i].code)
            fail_msg("%s of %s: %d", rows[i].pointer, rows[i].text, rc);
        if (rc == 0)
            body_assert_text(body, rows[i].expected);
        else
            assert_int_equal(ki_body_check(body, NULL), rc);
        ki_body_free(body);
    }
}

static void values_are_formats(void **state)
{
    (void)state;
    ki_body *body = body_of("{\"spec\":{}}");
    assert_int_equal(ki_body_set(body, "/spec/template", "{image:'nginx:%s',args:[%s]}", "1", "a\"b"), 0);
    body_assert_text(body, "{\"spec\":{\"template\":{\"image\":\"nginx:1\",\"args\":[\"a\\\"b\"]}}}");
    ki_body_free(body);
}

static void the_first_failure_is_kept(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_body *body = body_of("{\"a\":1}");
    assert_int_equal(ki_body_set(body, "/a/b", "1"), KI_ERR_TYPE);
    assert_int_equal(ki_body_set(body, "/c", "1"), KI_ERR_TYPE);
    assert_int_equal(ki_body_set(body, "c", "1"), KI_ERR_TYPE);
    assert_int_equal(ki_body_remove(body, "/a"), KI_ERR_TYPE);
    assert_int_equal(ki_body_check(body, &err), KI_ERR_TYPE);
    assert_non_null(strstr(err.message, "/a/b"));
    assert_int_equal(ki_json_type_of(ki_body_json(body)), KI_JSON_NONE);
    ki_body_free(body);
    body = body_of("{\"a\":1}");
    assert_int_equal(ki_body_set(body, "/a", "{x}"), KI_ERR_INVALID);
    assert_int_equal(ki_body_check(body, &err), KI_ERR_INVALID);
    assert_int_equal(err.offset, 2);
    ki_body_free(body);
}

static void text_that_is_not_json_is_not_copied(void **state)
{
    (void)state;
    ki_body *body = ki_body_copy((ki_json){KI_STR("{\"a\":}")});
    assert_int_equal(ki_body_check(body, NULL), KI_ERR_JSON_SYNTAX);
    ki_body_free(body);
    body = ki_body_copy((ki_json){KI_STR(" [1 , 2] ")});
    body_assert_text(body, "[1 , 2]");
    ki_body_free(body);
}

/* A pointer adds a level for each of its parts. */
static void a_body_is_never_too_deep(void **state)
{
    (void)state;
    char pointer[2 * 1001 + 1];
    for (int i = 0; i < 1001; i++)
        memcpy(pointer + 2 * i, "/a", 2);
    pointer[sizeof(pointer) - 1] = 0;
    ki_body *body = body_of("{}");
    assert_int_equal(ki_body_set(body, pointer, "1"), KI_ERR_JSON_DEPTH);
    ki_body_free(body);
    pointer[sizeof(pointer) - 3] = 0;
    body = body_of("{}");
    assert_int_equal(ki_body_set(body, pointer, "1"), 0);
    assert_int_equal(ki_body_set(body, pointer, "[]"), KI_ERR_JSON_DEPTH);
    ki_body_free(body);
}

/* ---- removing ------------------------------------------------------------------------------------------ */

static void a_value_is_removed_with_its_comma(void **state)
{
    (void)state;
    static const set_row rows[] = {
        {"{\"a\":1}", "/a", "{}", 1},
        {"{\"a\":1,\"b\":2,\"c\":3}", "/a", "{\"b\":2,\"c\":3}", 1},
        {"{\"a\":1,\"b\":2,\"c\":3}", "/b", "{\"a\":1,\"c\":3}", 1},
        {"{\"a\":1,\"b\":2,\"c\":3}", "/c", "{\"a\":1,\"b\":2}", 1},
        {"{ \"a\" : 1 , \"b\" : 2 }", "/a", "{\"b\" : 2 }", 1},
        {"{ \"a\" : 1 , \"b\" : 2 }", "/b", "{ \"a\" : 1 }", 1},
        {"[1,2,3]", "/0", "[2,3]", 1},
        {"[1,2,3]", "/1", "[1,3]", 1},
        {"[1,2,3]", "/2", "[1,2]", 1},
        {"[[1]]", "/0/0", "[[]]", 1},
        {"{\"a\":{\"b\":[{},2]}}", "/a/b/0", "{\"a\":{\"b\":[2]}}", 1},
        {"{\"a\":1}", "/b", "{\"a\":1}", 0},
        {"{\"a\":1}", "/a/b", "{\"a\":1}", 0},
        {"[1]", "/-", "[1]", 0},
        {"[1]", "/1", "[1]", 0},
        {"{\"a\":1}", "", NULL, KI_ERR_INVALID},
        {"{\"a\":1}", "a", NULL, KI_ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_body *body = body_of(rows[i].text);
        assert_int_equal(ki_body_remove(body, rows[i].pointer), rows[i].code);
        if (rows[i].expected != NULL)
            body_assert_text(body, rows[i].expected);
        ki_body_free(body);
    }
}

/* ---- merge patches ------------------------------------------------------------------------------------- */

static void a_merge_patch_contains_the_differences(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        const char *patch;
    } rows[] = {
        {"{}", "{}", "{}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":2.0,\"a\":1}", "{}"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", "{\"b\":3}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":2}", "{\"a\":null}"},
        {"{\"b\":2}", "{\"a\":1,\"b\":2}", "{\"a\":1}"},
        {"{\"m\":{\"x\":1,\"y\":{\"z\":1}}}", "{\"m\":{\"x\":1,\"y\":{\"z\":2}}}",
         "{\"m\":{\"y\":{\"z\":2}}}"},
        {"{\"m\":{\"x\":1}}", "{\"m\":{}}", "{\"m\":{\"x\":null}}"},
        {"{\"m\":{\"x\":1}}", "{\"m\":[1]}", "{\"m\":[1]}"},
        {"{\"m\":[1,2]}", "{\"m\":[2,1]}", "{\"m\":[2,1]}"},
        {"{\"m\":[1]}", "{\"m\":{\"a\":1}}", "{\"m\":{\"a\":1}}"},
        {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}", "{\"f\":6,\"a\":1,\"e\":0}",
         "{\"e\":0,\"b\":null,\"c\":null,\"d\":null}"},
        {"{\"\\u0061\":1}", "{\"a\":1}", "{}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_body *to = body_of(rows[i].to);
        ki_body *patch = ki_body_merge_patch((ki_json){ki_str_of(rows[i].from)}, to);
        body_assert_text(patch, rows[i].patch);
        ki_body_free(patch);
        ki_body_free(to);
    }
}

static void a_merge_patch_has_the_failure_of_its_source(void **state)
{
    (void)state;
    ki_json object = {KI_STR("{}")};
    ki_body *to = body_of("{}");
    ki_body *patch = ki_body_merge_patch((ki_json){KI_STR("[]")}, to);
    assert_int_equal(ki_body_check(patch, NULL), KI_ERR_TYPE);
    ki_body_free(patch);
    patch = ki_body_merge_patch((ki_json){KI_STR("{")}, to);
    assert_int_equal(ki_body_check(patch, NULL), KI_ERR_JSON_TRUNCATED);
    ki_body_free(patch);
    assert_int_equal(ki_body_set(to, "x", "1"), KI_ERR_INVALID);
    patch = ki_body_merge_patch(object, to);
    assert_int_equal(ki_body_check(patch, NULL), KI_ERR_INVALID);
    ki_body_free(patch);
    ki_body_free(to);
    patch = ki_body_merge_patch(object, NULL);
    assert_int_equal(ki_body_check(patch, NULL), KI_ERR_NO_MEMORY);
    ki_body_free(patch);
}

/* {"a":{"a":…1…}}, with `last` as the innermost value. */
static ki_body *nest(int levels, char last)
{
    char text[8 * 101 + 2];
    size_t len = 0;
    for (int i = 0; i < levels; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "{\"a\":");
    text[len++] = last;
    memset(text + len, '}', (size_t)levels);
    return ki_body_copy((ki_json){{text, len + (size_t)levels}});
}

static void differences_that_are_too_deep_are_an_error(void **state)
{
    (void)state;
    for (int levels = 100; levels <= 101; levels++) {
        ki_body *from = nest(levels, '1');
        ki_body *to = nest(levels, '2');
        ki_body *patch = ki_body_merge_patch(ki_body_json(from), to);
        assert_int_equal(ki_body_check(patch, NULL), levels == 100 ? 0 : KI_ERR_JSON_DEPTH);
        if (levels == 100)
            assert_int_equal(ki_json_equal(ki_body_json(patch), ki_body_json(to)), 1);
        ki_body_free(patch);
        patch = ki_body_merge_patch(ki_body_json(from), from);
        body_assert_text(patch, "{}");
        ki_body_free(patch);
        ki_body_free(from);
        ki_body_free(to);
    }
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* Makes all calls. Returns the failure. */
static int edit_all(void)
{
    static const char text[] = "{\"a\":{\"b\":[1]},\"c\":2}";
    ki_body *body = ki_body_copy((ki_json){ki_str_of(text)});
    (void)ki_body_set(body, "/a/b/-", "{x:%s}", "text");
    (void)ki_body_set(body, "/d~1/e", "%d", 1);
    (void)ki_body_remove(body, "/c");
    ki_body *patch = ki_body_merge_patch((ki_json){ki_str_of(text)}, body);
    int rc = ki_body_check(patch, NULL);
    if (rc == 0)
        body_assert_text(patch, "{\"a\":{\"b\":[1,{\"x\":\"text\"}]},\"d/\":{\"e\":1},\"c\":null}");
    ki_body_free(patch);
    ki_body_free(body);
    return rc;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    size_t failures = 0;
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        failing_allocator_fail_at(n);
        int rc = edit_all();
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        failures += has_failed;
    }
    assert_true(failures > 10);
}

static int set_through(ki_body *body, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = ki_body_vset(body, pointer, format, args);
    va_end(args);
    return rc;
}

static void values_may_come_as_a_va_list(void **state)
{
    (void)state;
    ki_body *body = body_of("{}");
    assert_int_equal(set_through(body, "/a", "{n:%d,t:%s}", 7, "x\"y"), 0);
    body_assert_text(body, "{\"a\":{\"n\":7,\"t\":\"x\\\"y\"}}");
    assert_int_equal(set_through(body, "a", "%d", 1), KI_ERR_INVALID);
    ki_body_free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(every_text_is_followed_by_a_nul),
        WITH_MEMORY_CHECK(a_value_is_set_at_a_pointer),
        WITH_MEMORY_CHECK(values_are_formats),
        WITH_MEMORY_CHECK(the_first_failure_is_kept),
        WITH_MEMORY_CHECK(text_that_is_not_json_is_not_copied),
        WITH_MEMORY_CHECK(a_body_is_never_too_deep),
        WITH_MEMORY_CHECK(a_value_is_removed_with_its_comma),
        WITH_MEMORY_CHECK(a_merge_patch_contains_the_differences),
        WITH_MEMORY_CHECK(a_merge_patch_has_the_failure_of_its_source),
        WITH_MEMORY_CHECK(differences_that_are_too_deep_are_an_error),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
        WITH_MEMORY_CHECK(values_may_come_as_a_va_list),
    };
    return RUN_TESTS(tests);
}
