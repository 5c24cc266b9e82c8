/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders that run out of memory: each allocation fails once, for a selection of bodies. */
#include <kinformer/resources.h>

#include "support/decode/decode_memory.h"
#include "support/decode/recorded.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

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
    const decode_subject subjects[] = {
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS},
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS, .split = {.piece = 1}},
        {.body = ki_str_of(small), .resource = NULL},
        {.body = ki_str_of(small),
         .resource = &KI_CORE_V1_PODS,
         .options = {.keep = PATHS("/spec"), .drop = PATHS("/x")}},
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS, .options = {.bytes_max = 70}},
        {.body = ki_str_of(status), .resource = &KI_CORE_V1_PODS},
    };
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        decode_subject s = subjects[i];
        s.form = KI_BODY_JSON_LIST;
        decode_fail_each_allocation(&s);
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
        decode_fail_each_allocation(&(decode_subject){KI_BODY_JSON_LIST, answer.body, resource, {0}, {0}});
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
    const decode_subject subjects[] = {
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS},
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS, .split = {.piece = 1}},
        {.body = ki_str_of(small), .resource = NULL},
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS, .options = {.keep = PATHS("/x")}},
        {.body = ki_str_of(small), .resource = &KI_CORE_V1_PODS, .options = {.bytes_max = 60}},
    };
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        decode_subject s = subjects[i];
        s.form = KI_BODY_JSON_WATCH;
        decode_fail_each_allocation(&s);
    }
}

static void every_allocation_of_a_recorded_watch_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = {"pods-watch.http", "watch-410-in-stream.http"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        recorded answer;
        recorded_load(&answer, files[i]);
        decode_fail_each_allocation(
            &(decode_subject){KI_BODY_JSON_WATCH, answer.body, &KI_CORE_V1_PODS, {0}, {0}});
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
