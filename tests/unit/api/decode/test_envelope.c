/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

/* Values named "skip…" are skipped, "list…" are taken by element, and all others as values. */
static int take_for(ki_str raw)
{
    return raw.len > 5 && memcmp(raw.ptr + 1, "skip", 4) == 0   ? KI_TAKE_SKIP
           : raw.len > 5 && memcmp(raw.ptr + 1, "list", 4) == 0 ? KI_TAKE_ELEMENTS
                                                                : KI_TAKE_VALUE;
}

static void print_sink(FILE *out, const char *step, const ki_envelope *envelope)
{
    ki_str text = ki_buf_str(&envelope->sink.text);
    fprintf(out, "%s %.*s%s\n", step, KI_STR_ARGS(text), envelope->sink.overflowed ? " overflowed" : "");
}

static void take_step(ki_envelope *envelope, int step, const ki_projection *projection, size_t bytes_max,
                      FILE *out)
{
    if (step == KI_ENVELOPE_NAME) {
        print_sink(out, "NAME", envelope);
        ki_envelope_take(envelope, take_for(ki_buf_str(&envelope->sink.text)), projection, bytes_max);
    } else if (step == KI_ENVELOPE_VALUE) {
        print_sink(out, "VALUE", envelope);
    } else if (step == KI_ENVELOPE_ELEMENT) {
        print_sink(out, "ELEMENT", envelope);
    } else if (step == KI_ENVELOPE_ARRAY_END) {
        fputs("ARRAY_END\n", out);
    } else if (step == KI_ENVELOPE_END) {
        fputs("END\n", out);
        ki_envelope_begin(envelope);
    }
}

/* All steps over a text that may contain several objects; the caller frees the result. */
static char *steps_of(const char *text, size_t piece, size_t bytes_max, const ki_projection *projection)
{
    char *log = NULL;
    size_t log_len = 0, n = strlen(text);
    FILE *out = open_memstream(&log, &log_len);
    ki_envelope envelope;
    ki_envelope_init(&envelope, 0);
    int rc = 0;
    for (size_t at = 0; rc >= 0 && at < n;) {
        size_t used = 0;
        rc = ki_envelope_feed(&envelope, text + at, piece < n - at ? piece : n - at, &used);
        take_step(&envelope, rc, projection, bytes_max, out);
        at += used;
    }
    if (rc >= 0)
        rc = ki_envelope_end(&envelope);
    if (rc < 0)
        fprintf(out, "%s %d\n", ki_error_name(rc), (int)envelope.scanner.error_offset);
    ki_envelope_fini(&envelope);
    assert_int_equal(fclose(out), 0);
    return log;
}

static void assert_steps_of(const char *text, size_t bytes_max, const ki_projection *projection,
                            const char *expected)
{
    static const size_t pieces[] = {SIZE_MAX, 1, 2, 3, 7, 64};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        char *log = steps_of(text, pieces[i], bytes_max, projection);
        if (strcmp(log, expected) != 0)
            fail_msg("in pieces of %zu:\n%sinstead of\n%s", pieces[i], log, expected);
        free(log);
    }
}

static void assert_steps(const char *text, const char *expected)
{
    assert_steps_of(text, 1000, NULL, expected);
}

static void members_are_named_and_taken(void **state)
{
    (void)state;
    assert_steps("{\"a\":1,\"b\":\"x\",\"c\":{\"d\": [1, 2]},\"e\":true}",
                 "NAME \"a\"\nVALUE 1\nNAME \"b\"\nVALUE \"x\"\nNAME \"c\"\nVALUE {\"d\":[1,2]}\nNAME "
                 "\"e\"\nVALUE true\nEND\n");
    assert_steps(" { } ", "END\n");
    assert_steps("{\"\":null\n}", "NAME \"\"\nVALUE null\nEND\n");
}

static void skipped_values_are_not_kept(void **state)
{
    (void)state;
    assert_steps("{\"skip\":{\"a\":[1]},\"skip2\":-1.5e3,\"b\":2}",
                 "NAME \"skip\"\nVALUE \nNAME \"skip2\"\nVALUE \nNAME \"b\"\nVALUE 2\nEND\n");
}

static void elements_are_delivered_one_by_one(void **state)
{
    (void)state;
    assert_steps("{\"list\":[1,{\"a\":1},[],\"x\"],\"b\":2}",
                 "NAME \"list\"\nELEMENT 1\nELEMENT {\"a\":1}\nELEMENT []\nELEMENT \"x\"\nARRAY_END\nNAME "
                 "\"b\"\nVALUE 2\nEND\n");
    assert_steps("{\"list\":[ ] }", "NAME \"list\"\nARRAY_END\nEND\n");
    assert_steps("{\"list\":[ 1 ]}", "NAME \"list\"\nELEMENT 1\nARRAY_END\nEND\n");
}

static void a_value_that_is_not_an_array_is_taken_as_a_value(void **state)
{
    (void)state;
    assert_steps("{\"list\":null}", "NAME \"list\"\nVALUE null\nEND\n");
    assert_steps("{\"list\":{\"a\":[1]}}", "NAME \"list\"\nVALUE {\"a\":[1]}\nEND\n");
}

static void an_array_not_requested_by_element_is_a_value(void **state)
{
    (void)state;
    assert_steps("{\"a\":[1,[2]]}", "NAME \"a\"\nVALUE [1,[2]]\nEND\n");
}

static void objects_follow_each_other(void **state)
{
    (void)state;
    assert_steps("{\"a\":1}{\"b\":2}\n\n {}", "NAME \"a\"\nVALUE 1\nEND\nNAME \"b\"\nVALUE 2\nEND\nEND\n");
    assert_steps("", "");
    assert_steps(" \t\r\n", "");
}

static void a_projection_applies_to_values_and_elements(void **state)
{
    (void)state;
    const char *const keep[] = {"/x", NULL};
    ki_projection *projection = ki_projection_new(&(ki_projection_options){.keep = keep}, NULL);
    assert_non_null(projection);
    assert_steps_of("{\"a\":{\"x\":1,\"y\":2},\"list\":[{\"y\":1,\"x\":[]},{}],\"list2\":{\"y\":1}}", 1000,
                    projection,
                    "NAME \"a\"\nVALUE {\"x\":1}\nNAME \"list\"\nELEMENT {\"x\":[]}\nELEMENT {}\nARRAY_END\n"
                    "NAME \"list2\"\nVALUE {\"y\":1}\nEND\n");
    ki_projection_free(projection);
}

static void a_value_that_is_too_large_overflows_and_the_next_does_not(void **state)
{
    (void)state;
    assert_steps_of(
        "{\"a\":\"0123456789\",\"b\":[\"01234567\"],\"list\":[\"012345678\",1],\"c\":0}", 10, NULL,
        "NAME \"a\"\nVALUE \"0123456789 overflowed\nNAME \"b\"\nVALUE [\"01234567\" overflowed\n"
        "NAME \"list\"\nELEMENT \"012345678\" overflowed\nELEMENT 1\nARRAY_END\nNAME \"c\"\nVALUE 0\nEND\n");
}

static void a_value_that_does_not_end_is_an_error(void **state)
{
    (void)state;
    ki_envelope envelope;
    size_t used = 0;
    char text[400];
    int n = snprintf(text, sizeof(text), "{\"skip\":\"%0158d\"", 0);
    ki_envelope_init(&envelope, 0);
    assert_int_equal(envelope.scanner.value_bytes_max, KI_ENVELOPE_VALUE_BYTES_MAX);
    envelope.scanner.value_bytes_max = 150;
    assert_int_equal(ki_envelope_feed(&envelope, text, (size_t)n, &used), KI_ENVELOPE_NAME);
    ki_envelope_take(&envelope, KI_TAKE_SKIP, NULL, 0);
    assert_int_equal(ki_envelope_feed(&envelope, text + used, (size_t)n - used, &used),
                     KI_ERR_JSON_TOO_LARGE);
    assert_int_equal(envelope.scanner.error_offset, 158);
    ki_envelope_fini(&envelope);
}

static void names_and_values_have_their_own_limits(void **state)
{
    (void)state;
    assert_steps_of("{\"a_long_name\":1,\"b\":\"2345\"}", 5, NULL,
                    "NAME \"a_long_name\"\nVALUE 1\nNAME \"b\"\nVALUE \"2345\" overflowed\nEND\n");
}

/* Checks the last line of the log in every split. */
static void assert_last_step(const char *text, const char *last)
{
    for (size_t piece = 1; piece <= 64; piece *= 8) {
        char *log = steps_of(text, piece, 1000, NULL);
        size_t n = strlen(log);
        if (n < strlen(last) || strcmp(log + n - strlen(last), last) != 0)
            fail_msg("%s in pieces of %zu: %s", text, piece, log);
        free(log);
    }
}

typedef struct mistake {
    const char *text;
    int offset;
} mistake;

static void assert_mistakes(const mistake *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char last[50];
        snprintf(last, sizeof(last), "KI_ERR_JSON_SYNTAX %d\n", cases[i].offset);
        assert_last_step(cases[i].text, last);
    }
}

static void errors_between_values_are_reported_at_their_byte(void **state)
{
    (void)state;
    static const mistake cases[] = {
        {"[", 0},         {"x", 0},          {"{{", 1},
        {"{,", 1},        {"{1", 1},         {"{]", 1},
        {"{\"a\"}", 4},   {"{\"a\",", 4},    {"{\"a\" 1}", 5},
        {"{\"a\":}", 5},  {"{\"a\":,}", 5},  {"{\"a\":]}", 5},
        {"{\"a\"::", 5},  {"{\"a\":1,}", 7}, {"{\"a\":1]", 6},
        {"{\"a\":1:", 6}, {"{\"a\":1,,", 7}, {"{\"a\":\"\"\"", 7},
        {"{} x", 3},      {"{}]", 2},        {"{}\"\"", 2},
    };
    assert_mistakes(cases, sizeof(cases) / sizeof(cases[0]));
}

static void errors_in_an_array_of_elements_are_reported_at_their_byte(void **state)
{
    (void)state;
    static const mistake cases[] = {
        {"{\"list\":[}", 9},   {"{\"list\":[,", 9},       {"{\"list\":[1,]", 11}, {"{\"list\":[1,,", 11},
        {"{\"list\":[1}", 10}, {"{\"list\":[1 2", 11},    {"{\"list\":[1:", 10},  {"{\"list\":[]]", 10},
        {"{\"list\":[][", 10}, {"{\"list\":[\"a\":", 12},
    };
    assert_mistakes(cases, sizeof(cases) / sizeof(cases[0]));
}

static void an_object_that_ends_early_is_truncated(void **state)
{
    (void)state;
    const char *const text = "{\"a\":12,\"list\":[{\"b\":[]},null],\"skip\":\"\\n\"}";
    for (size_t n = 1; n < strlen(text); n++) {
        char part[100];
        char last[50];
        snprintf(part, sizeof(part), "%.*s", (int)n, text);
        snprintf(last, sizeof(last), "KI_ERR_JSON_TRUNCATED %zu\n", n);
        assert_last_step(part, last);
    }
}

static void an_object_begins_with_its_brace(void **state)
{
    (void)state;
    ki_envelope envelope;
    size_t used = 0;
    ki_envelope_init(&envelope, 0);
    assert_int_equal(ki_envelope_feed(&envelope, " \n", 2, &used), KI_ENVELOPE_MORE);
    assert_false(ki_envelope_has_begun(&envelope));
    assert_int_equal(ki_envelope_feed(&envelope, "{", 1, &used), KI_ENVELOPE_MORE);
    assert_true(ki_envelope_has_begun(&envelope));
    assert_int_equal(ki_envelope_feed(&envelope, "}", 1, &used), KI_ENVELOPE_END);
    ki_envelope_begin(&envelope);
    assert_false(ki_envelope_has_begun(&envelope));
    assert_int_equal(ki_envelope_end(&envelope), 0);
    ki_envelope_fini(&envelope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_named_and_taken),
        cmocka_unit_test(skipped_values_are_not_kept),
        cmocka_unit_test(elements_are_delivered_one_by_one),
        cmocka_unit_test(a_value_that_is_not_an_array_is_taken_as_a_value),
        cmocka_unit_test(an_array_not_requested_by_element_is_a_value),
        cmocka_unit_test(objects_follow_each_other),
        cmocka_unit_test(a_projection_applies_to_values_and_elements),
        cmocka_unit_test(a_value_that_is_too_large_overflows_and_the_next_does_not),
        cmocka_unit_test(a_value_that_does_not_end_is_an_error),
        cmocka_unit_test(names_and_values_have_their_own_limits),
        cmocka_unit_test(errors_between_values_are_reported_at_their_byte),
        cmocka_unit_test(errors_in_an_array_of_elements_are_reported_at_their_byte),
        cmocka_unit_test(an_object_that_ends_early_is_truncated),
        cmocka_unit_test(an_object_begins_with_its_brace),
    };
    return RUN_TESTS(tests);
}
