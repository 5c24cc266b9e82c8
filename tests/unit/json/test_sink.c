/* SPDX-License-Identifier: Apache-2.0 */
#include "json/sink.h"

#include <stdlib.h>
#include <string.h>

#include "json/kernel.h"
#include "json/scan.h"
#include "support/failing_allocator.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

static ki_projection *compile(const ki_projection_options *options)
{
    ki_error err = {0};
    ki_projection *projection = ki_projection_new(options, &err);
    if (projection == NULL)
        fail_msg("%s", err.message);
    return projection;
}

/* ---- captures ------------------------------------------------------------------------------------------ */

typedef struct expected_capture {
    ki_capture_place place;
    const char *text;
    size_t start;
} expected_capture;

static void assert_captures(const scan_run *run, const expected_capture *expected, size_t count)
{
    for (size_t i = 0; i < KI_PROJECTION_CAPTURES_MAX; i++) {
        const ki_capture *capture = &run->captures[i];
        assert_int_equal(capture->place, i < count ? expected[i].place : KI_CAPTURE_NONE);
        if (capture->place == KI_CAPTURE_NONE)
            continue;
        if (!ki_str_equal(scan_run_capture(run, i), ki_str_of(expected[i].text)))
            fail_msg("capture %zu: %.*s instead of %s", i, KI_STR_ARGS(scan_run_capture(run, i)),
                     expected[i].text);
        assert_int_equal(capture->start, expected[i].start);
        assert_int_equal(capture->end, expected[i].start + strlen(expected[i].text));
    }
}

/* Checks with every kernel: whole, byte by byte, and cut at every position. */
static void assert_sink(const ki_projection_options *options, const char *text, const char *kept,
                        const expected_capture *expected)
{
    ki_projection *projection = compile(options);
    scan_run run;
    scan_run_init(&run);
    run.projection = projection;
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run.kernel = *kernel;
        for (size_t first = 0; first <= strlen(text); first++) {
            scan_split split = {.first = first, .others = first == strlen(text) ? 1 : 0};
            assert_int_equal(scan_run_text(&run, ki_str_of(text), split), 0);
            if (!ki_str_equal(scan_run_kept(&run), ki_str_of(kept)))
                fail_msg("%.*s instead of %s", KI_STR_ARGS(scan_run_kept(&run)), kept);
            assert_captures(&run, expected, options->capture_count);
        }
    }
    scan_run_fini(&run);
    ki_projection_free(projection);
}

static void kept_values_are_captured_in_the_text(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {
        {"/kind", 0}, {"/metadata/name", 1}, {"/metadata/labels", 0}, {"/spec", 0}, {"/none", 1}};
    static const expected_capture expected[] = {{KI_CAPTURE_TEXT, "\"Pod\"", 8},
                                                {KI_CAPTURE_TEXT, "\"p-1\"", 33},
                                                {KI_CAPTURE_TEXT, "{\"a\":\"b c\",\"d\":null}", 48},
                                                {KI_CAPTURE_TEXT, "[1,{}]", 77},
                                                {KI_CAPTURE_NONE, NULL, 0}};
    assert_sink(&(ki_projection_options){.captures = captures, .capture_count = 5},
                "{ \"kind\": \"Pod\", \"metadata\": {\"name\" : \"p-1\" , \"labels\":{ \"a\":\"b c\", \"d\" "
                ":null } },\n"
                "\"spec\":[ 1, { }\t] }",
                "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-1\",\"labels\":{\"a\":\"b "
                "c\",\"d\":null}},\"spec\":[1,{}]}",
                expected);
}

static void values_that_are_not_kept_are_captured_aside_by_option(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {
        {"/metadata/name", 1}, {"/metadata/uid", 0}, {"/metadata/labels", 1}, {"/kind", 1}, {"/spec/a", 1}};
    static const expected_capture expected[] = {{KI_CAPTURE_SIDE, "\"p\"", 4},
                                                {KI_CAPTURE_NONE, NULL, 0},
                                                {KI_CAPTURE_SIDE, "{\"x\":[1,\"y z\"]}", 7},
                                                {KI_CAPTURE_SIDE, "true", 0},
                                                {KI_CAPTURE_TEXT, "-1.5", 13}};
    assert_sink(&(ki_projection_options){.keep = PATHS("/spec"), .captures = captures, .capture_count = 5},
                "{\"kind\":true, \"metadata\":{\"uid\":\"u\",\"name\":\"p\",\"labels\":{\"x\": [ 1, \"y z\"] "
                "},\"z\":9}, \"spec\":{\"a\":-1.5}}",
                "{\"spec\":{\"a\":-1.5}}", expected);
}

static void a_capture_leaves_no_empty_container(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a/b/c", 1}, {"/d/*/e", 1}};
    static const expected_capture expected[] = {{KI_CAPTURE_SIDE, "1", 0}, {KI_CAPTURE_SIDE, "2", 1}};
    assert_sink(&(ki_projection_options){.drop = PATHS("/a", "/d"), .captures = captures, .capture_count = 2},
                "{\"a\":{\"b\":{\"c\":1}},\"d\":[{},{\"e\":2}],\"f\":3}", "{\"f\":3}", expected);
    assert_sink(&(ki_projection_options){.keep = PATHS("/f"), .captures = captures, .capture_count = 2},
                "{\"a\":{\"b\":{\"c\":1}},\"d\":[{},{\"e\":2}],\"f\":3}", "{\"f\":3}", expected);
}

static void a_captured_container_has_its_kept_members(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a", 0}, {"/a/b", 0}, {"/a/c", 1}};
    static const expected_capture expected[] = {
        {KI_CAPTURE_TEXT, "{\"b\":[1]}", 5}, {KI_CAPTURE_TEXT, "[1]", 10}, {KI_CAPTURE_SIDE, "\"x\"", 0}};
    assert_sink(&(ki_projection_options){.keep = PATHS("/a/b"), .captures = captures, .capture_count = 3},
                "{\"a\":{\"c\":\"x\",\"b\":[1],\"d\":2}}", "{\"a\":{\"b\":[1]}}", expected);
}

static void a_scalar_where_a_container_was_expected_is_not_kept(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a", 0}, {"/c", 1}};
    static const expected_capture expected[] = {{KI_CAPTURE_NONE, NULL, 0}, {KI_CAPTURE_SIDE, "7", 0}};
    assert_sink(
        &(ki_projection_options){.keep = PATHS("/a/b", "/c/d"), .captures = captures, .capture_count = 2},
        "{\"a\":5,\"b\":6,\"c\":7}", "{}", expected);
}

static void the_first_of_several_matches_is_captured(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a", 0}, {"/l/*/n", 0}, {"/x", 1}};
    static const expected_capture expected[] = {
        {KI_CAPTURE_TEXT, "1", 5}, {KI_CAPTURE_TEXT, "\"u\"", 17}, {KI_CAPTURE_SIDE, "8", 0}};
    assert_sink(&(ki_projection_options){.drop = PATHS("/x"), .captures = captures, .capture_count = 3},
                "{\"a\":1,\"a\":2,\"x\":8,\"l\":[{\"n\":\"u\"},{\"n\":\"v\"}],\"a\":3,\"x\":9}",
                "{\"a\":1,\"l\":[{\"n\":\"u\"},{\"n\":\"v\"}]}", expected);
}

static void an_empty_array_has_no_element_to_capture(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a/*", 1}, {"/b/*", 1}};
    static const expected_capture none[] = {{KI_CAPTURE_NONE, NULL, 0}, {KI_CAPTURE_NONE, NULL, 0}};
    assert_sink(&(ki_projection_options){.keep = PATHS("/a"), .captures = captures, .capture_count = 2},
                "{\"a\":[ ],\"b\":[]}", "{\"a\":[]}", none);
    assert_sink(&(ki_projection_options){.keep = PATHS("/a"), .captures = captures, .capture_count = 2},
                "{\"a\":{},\"b\":{}}", "{\"a\":{}}", none);
    static const expected_capture some[] = {{KI_CAPTURE_TEXT, "[]", 6}, {KI_CAPTURE_SIDE, "0", 0}};
    assert_sink(&(ki_projection_options){.keep = PATHS("/a"), .captures = captures, .capture_count = 2},
                "{\"a\":[[]],\"b\":[0]}", "{\"a\":[[]]}", some);
}

static void a_name_beside_a_star_has_its_own_capture(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a/*", 0}, {"/a/b", 0}, {"/*/c", 0}};
    static const expected_capture expected[] = {
        {KI_CAPTURE_TEXT, "3", 22}, {KI_CAPTURE_TEXT, "1", 10}, {KI_CAPTURE_TEXT, "2", 16}};
    assert_sink(&(ki_projection_options){.captures = captures, .capture_count = 3},
                "{\"a\":{\"b\":1,\"c\":2,\"d\":3}}", "{\"a\":{\"b\":1,\"c\":2,\"d\":3}}", expected);
}

static void names_with_escapes_are_captured(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/metadata/name", 1}, {"/a~1b", 0}};
    static const expected_capture expected[] = {{KI_CAPTURE_SIDE, "\"\\u003cp\\u003e\"", 0},
                                                {KI_CAPTURE_TEXT, "1", 8}};
    assert_sink(
        &(ki_projection_options){.drop = PATHS("/metadata"), .captures = captures, .capture_count = 2},
        "{\"metadat\\u0061\":{\"\\u006e\\u0061me\":\"\\u003cp\\u003e\"},\"a\\/b\" : 1}", "{\"a\\/b\":1}",
        expected);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

typedef struct limited {
    int code;
    int overflowed;
    size_t used;
} limited;

static limited scan_into(ki_json_sink *sink, const ki_projection *projection, ki_str text, size_t piece)
{
    ki_json_scanner scanner;
    limited result = {0};
    ki_json_scanner_init(&scanner, NULL);
    ki_json_sink_begin(sink, projection);
    ki_json_scan_begin(&scanner, sink);
    while (result.code == 0 && result.used < text.len) {
        size_t left = text.len - result.used;
        size_t used;
        result.code = ki_json_scan(&scanner, text.ptr + result.used, piece < left ? piece : left, &used);
        result.used += used;
    }
    result.overflowed = sink->overflowed;
    return result;
}

static void assert_overflow(const ki_projection *projection, size_t bytes_max, ki_str text, int overflowed)
{
    ki_json_sink sink;
    ki_json_sink_init(&sink, bytes_max);
    static const size_t pieces[] = {SIZE_MAX, 1, 7, 64, 1000};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        limited result = scan_into(&sink, projection, text, pieces[i]);
        assert_int_equal(result.code, 1);
        assert_int_equal(result.used, text.len);
        assert_int_equal(result.overflowed, overflowed);
    }
    ki_json_sink_fini(&sink);
}

static void a_value_may_fill_the_sink_exactly(void **state)
{
    (void)state;
    assert_overflow(NULL, 7, KI_STR("[1,2,3]"), 0);
    assert_overflow(NULL, 6, KI_STR("[1,2,3]"), 1);
    assert_overflow(
        NULL, 7,
        KI_STR("[ 1,    2, 3                                                                      ]"), 0);
    assert_overflow(NULL, 5, KI_STR("\"abc\""), 0);
    assert_overflow(NULL, 4, KI_STR("\"abc\""), 1);
}

static void dropped_values_do_not_fill_the_sink(void **state)
{
    (void)state;
    enum { LEN = 9000 };
    char *text = malloc(LEN);
    assert_non_null(text);
    memset(text, '1', LEN);
    memcpy(text, "{\"drop\":[\"", 10);
    memcpy(text + LEN - 9, "\"],\"a\":1}", 9);
    ki_projection *projection = compile(&(ki_projection_options){.drop = PATHS("/drop")});
    assert_overflow(projection, 7, (ki_str){text, LEN}, 0);
    assert_overflow(projection, 6, (ki_str){text, LEN}, 1);
    ki_projection_free(projection);
    free(text);
}

/* A value captured aside passes through the text, and then has its own limit. */
static void values_captured_aside_have_their_own_limit(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a", 1}, {"/b", 1}};
    ki_projection *projection =
        compile(&(ki_projection_options){.keep = PATHS("/c"), .captures = captures, .capture_count = 2});
    ki_str text = KI_STR("{\"a\":\"12345\",\"b\":\"67890\",\"c\":1}");
    assert_overflow(projection, 13, text, 0);
    for (size_t piece = 1; piece <= 64; piece++) {
        ki_json_sink sink;
        ki_json_sink_init(&sink, 100);
        sink.side.max = 13;
        limited result = scan_into(&sink, projection, text, piece);
        assert_int_equal(result.code, 1);
        assert_int_equal(result.overflowed, 1);
        assert_int_equal(sink.captures[0].place, KI_CAPTURE_SIDE);
        assert_int_equal(sink.captures[1].place, KI_CAPTURE_NONE);
        ki_json_sink_fini(&sink);
    }
    ki_projection_free(projection);
}

static void a_sink_can_be_used_again_after_an_overflow(void **state)
{
    (void)state;
    ki_json_sink sink;
    ki_json_sink_init(&sink, 10);
    assert_int_equal(scan_into(&sink, NULL, KI_STR("[1,2,3,4,5,6,7,8,9]"), 4).overflowed, 1);
    assert_int_equal(scan_into(&sink, NULL, KI_STR("[1, 2]"), 4).overflowed, 0);
    assert_true(ki_str_equal(ki_buf_str(&sink.text), KI_STR("[1,2]")));
    ki_json_sink_fini(&sink);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* Large enough for several reallocations of the text and of the side text. */
static char *large_text(size_t *out_len)
{
    enum { LEN = 40000 };
    char *text = malloc(LEN);
    assert_non_null(text);
    memset(text, 'x', LEN);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + LEN / 2, "\",\"b\":\"", 7);
    memcpy(text + LEN - 2, "\"}", 2);
    *out_len = LEN;
    return text;
}

static void when_out_of_memory_the_scan_fails(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/a", 1}, {"/b", 0}};
    size_t len;
    char *text = large_text(&len);
    ki_projection *projection =
        compile(&(ki_projection_options){.drop = PATHS("/a"), .captures = captures, .capture_count = 2});
    size_t base = failing_allocator_live_count();
    size_t failures = 0;
    for (;; failures++) {
        ki_json_sink sink;
        ki_json_sink_init(&sink, 100000);
        failing_allocator_fail_at(failures + 1);
        limited result = scan_into(&sink, projection, (ki_str){text, len}, 5000);
        int failed = failing_allocator_has_failed();
        assert_int_equal(result.code, failed ? KI_ERR_NO_MEMORY : 1);
        failing_allocator_fail_at(0);
        limited again = scan_into(&sink, projection, (ki_str){text, len}, 5000);
        assert_int_equal(again.code, 1);
        assert_int_equal(sink.captures[0].place, KI_CAPTURE_SIDE);
        assert_int_equal(sink.captures[1].place, KI_CAPTURE_TEXT);
        ki_json_sink_fini(&sink);
        assert_int_equal(failing_allocator_live_count(), base);
        if (!failed)
            break;
    }
    assert_true(failures >= 3);
    ki_projection_free(projection);
    free(text);
}

static void an_unused_sink_has_no_memory(void **state)
{
    (void)state;
    ki_json_sink sink;
    ki_json_sink_init(&sink, 1000);
    ki_json_sink_begin(&sink, NULL);
    assert_int_equal(failing_allocator_live_count(), 0);
    ki_json_sink_fini(&sink);
    ki_json_sink zeroed = {0};
    ki_json_sink_fini(&zeroed);
    assert_int_equal(failing_allocator_live_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_values_are_captured_in_the_text),
        cmocka_unit_test(values_that_are_not_kept_are_captured_aside_by_option),
        cmocka_unit_test(a_capture_leaves_no_empty_container),
        cmocka_unit_test(a_captured_container_has_its_kept_members),
        cmocka_unit_test(a_scalar_where_a_container_was_expected_is_not_kept),
        cmocka_unit_test(the_first_of_several_matches_is_captured),
        cmocka_unit_test(an_empty_array_has_no_element_to_capture),
        cmocka_unit_test(a_name_beside_a_star_has_its_own_capture),
        cmocka_unit_test(names_with_escapes_are_captured),
        cmocka_unit_test(a_value_may_fill_the_sink_exactly),
        cmocka_unit_test(dropped_values_do_not_fill_the_sink),
        cmocka_unit_test(values_captured_aside_have_their_own_limit),
        cmocka_unit_test(a_sink_can_be_used_again_after_an_overflow),
        WITH_MEMORY_CHECK(when_out_of_memory_the_scan_fails),
        WITH_MEMORY_CHECK(an_unused_sink_has_no_memory),
    };
    return RUN_TESTS(tests);
}
