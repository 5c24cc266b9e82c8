/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders without memory: every single allocation fails once, in every body that is worth it. */
#include <kinformer/resources.h>
#include <string.h>

#include "api/decode/list_decoder.h"
#include "api/decode/watch_decoder.h"
#include "support/decode_run.h"
#include "support/failing_allocator.h"
#include "support/recorded.h"
#include "support/unit.h"

typedef struct subject {
    const char *body;
    ki_str text;
    const ki_resource *resource;
    ki_object_options options;
    int is_watch;
    decode_split split;
} subject;

/* All that a decoder needs, from the plan on. Returns the code of the run, or of the plan. */
static int run_subject(const subject *s, decode_run *run)
{
    ki_error err = {0};
    *run = (decode_run){0};
    ki_object_plan *plan = ki_object_plan_new(s->resource, &s->options, &err);
    if (plan == NULL)
        return err.code;
    if (s->is_watch) {
        ki_watch_decoder decoder;
        ki_watch_decoder_init(&decoder, plan);
        decode_run_watch(run, &decoder, s->text, s->split);
        ki_watch_decoder_fini(&decoder);
    } else {
        ki_list_decoder decoder;
        ki_list_decoder_init(&decoder, plan);
        decode_run_list(run, &decoder, s->text, s->split);
        ki_list_decoder_fini(&decoder);
    }
    ki_object_plan_free(plan);
    return run->code;
}

/* What a run without memory has given out is the beginning of what the whole one has. */
static void assert_beginning(const decode_run *run, const decode_run *whole)
{
    if (run->log == NULL)
        return;
    const char *failure = strstr(run->log, "FAILED KI_ERR_NO_MEMORY");
    assert_non_null(failure);
    assert_memory_equal(run->log, whole->log, (size_t)(failure - run->log));
}

/* Returns how many allocations there were to fail. */
static size_t fail_each_allocation(const subject *s)
{
    decode_run whole, run;
    failing_allocator_fail_at(0);
    int expected = run_subject(s, &whole);
    size_t live = failing_allocator_live_count();
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        int code = run_subject(s, &run);
        if (!failing_allocator_has_failed()) {
            assert_int_equal(code, expected);
            assert_string_equal(run.log, whole.log);
            decode_run_fini(&run);
            decode_run_fini(&whole);
            assert_int_equal(failing_allocator_live_count(), 0);
            return n - 1;
        }
        if (code != KI_ERR_NO_MEMORY)
            fail_msg("allocation %zu failed, and the result is %s: %s", n, ki_error_name(code), run.log);
        assert_beginning(&run, &whole);
        decode_run_fini(&run);
        assert_int_equal(failing_allocator_live_count(), live);
    }
}

#define PATHS(...) ((const char *[]){__VA_ARGS__, NULL})

static void every_allocation_of_a_list_may_fail(void **state)
{
    (void)state;
    static const char small[] = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                                "\"resourceVersion\":\"7\",\"continue\":\"\\u0041\"},"
                                "\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\","
                                "\"namespace\":\"n\",\"uid\":1}},"
                                "{\"spec\":\"\\u003c\\n\",\"metadata\":{\"name\":\"c\"}}]}";
    static const char status[] = "{\"kind\":\"Status\",\"message\":\"m\\n\",\"reason\":\"Expired\",\"code\":"
                                 "410,\"details\":{\"causes\":[{}]}}";
    const subject subjects[] = {
        {.body = small, .resource = &KI_CORE_V1_PODS},
        {.body = small, .resource = &KI_CORE_V1_PODS, .split = {.piece = 1}},
        {.body = small, .resource = NULL},
        {.body = small,
         .resource = &KI_CORE_V1_PODS,
         .options = {.keep = PATHS("/spec"), .drop = PATHS("/x")}},
        {.body = small, .resource = &KI_CORE_V1_PODS, .options = {.bytes_max = 70}},
        {.body = status, .resource = &KI_CORE_V1_PODS},
    };
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        subject s = subjects[i];
        s.text = ki_str_of(s.body);
        assert_true(fail_each_allocation(&s) > 8);
    }
}

static void every_allocation_of_a_recorded_list_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = {"configmaps-list.http", "pods-page-1.http", "pods-list-empty.http",
                                        "error-504-rv-too-large.http"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        recorded answer;
        recorded_load(&answer, files[i]);
        const ki_resource *resource = i == 0 ? &KI_CORE_V1_CONFIGMAPS : &KI_CORE_V1_PODS;
        assert_true(fail_each_allocation(&(subject){.text = answer.body, .resource = resource}) > 8);
        recorded_free(&answer);
    }
}

static void every_allocation_of_a_watch_may_fail(void **state)
{
    (void)state;
    static const char small[] =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"x\":\"\\u003c\"}"
        "}\n"
        "{\"object\":{\"metadata\":{\"name\":\"b\"},\"spec\":{\"y\":"
        "\"0123456789012345678901234567890123456789\"}},\"type\":\"MODIFIED\"}\n"
        "{\"object\":{\"metadata\":{\"name\":\"c\",\"uid\":1}},\"type\":\"DELETED\"}\n"
        "{\"type\":\"X\",\"object\":{\"metadata\":{\"name\":\"d\"}}}\n"
        "{\"object\":{\"metadata\":{\"name\":\"e\"}}}\n"
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n"
        "{\"object\":{\"metadata\":{\"resourceVersion\":\"10\"}},\"type\":\"BOOKMARK\"}\n"
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"\\u003c\"}}\n";
    const subject subjects[] = {
        {.body = small, .resource = &KI_CORE_V1_PODS},
        {.body = small, .resource = &KI_CORE_V1_PODS, .split = {.piece = 1}},
        {.body = small, .resource = NULL},
        {.body = small, .resource = &KI_CORE_V1_PODS, .options = {.keep = PATHS("/x")}},
        {.body = small, .resource = &KI_CORE_V1_PODS, .options = {.bytes_max = 60}},
    };
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        subject s = subjects[i];
        s.text = ki_str_of(s.body);
        s.is_watch = 1;
        assert_true(fail_each_allocation(&s) > 8);
    }
}

static void every_allocation_of_a_recorded_watch_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = {"pods-watch.http", "watch-410-in-stream.http"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        recorded answer;
        recorded_load(&answer, files[i]);
        subject s = {.text = answer.body, .resource = &KI_CORE_V1_PODS, .is_watch = 1};
        assert_true(fail_each_allocation(&s) > 8);
        recorded_free(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(every_allocation_of_a_list_may_fail),
        WITH_MEMORY_CHECK(every_allocation_of_a_recorded_list_may_fail),
        WITH_MEMORY_CHECK(every_allocation_of_a_watch_may_fail),
        WITH_MEMORY_CHECK(every_allocation_of_a_recorded_watch_may_fail),
    };
    return RUN_TESTS(tests);
}
