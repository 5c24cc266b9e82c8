/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode_expect.h"

#include <kinformer/resources.h>
#include <string.h>

#include "support/unit.h"

ki_object_plan *decode_plan(const ki_resource *resource, const ki_object_options *options)
{
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(resource, options, &err);
    if (plan == NULL)
        fail_msg("%s", err.message);
    return plan;
}

void decode_assert_log(const decode_run *run, const char *expected)
{
    if (strcmp(run->log, expected) != 0)
        fail_msg("\n%sinstead of\n%s", run->log, expected);
}

void decode_assert_list(ki_object_plan *plan, const char *body, const char *expected)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        decode_run run;
        ki_list_decoder decoder;
        ki_list_decoder_init(&decoder, plan);
        decode_run_list(&run, &decoder, ki_str_of(body), (decode_split){.piece = piece});
        decode_assert_log(&run, expected);
        decode_run_fini(&run);
        ki_list_decoder_fini(&decoder);
    }
}

void decode_assert_pod_list(const char *body, const char *expected)
{
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    decode_assert_list(plan, body, expected);
    ki_object_plan_free(plan);
}

void decode_assert_watch(const ki_object_plan *plan, const char *body, const char *expected)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        decode_run run;
        ki_watch_decoder decoder;
        ki_watch_decoder_init(&decoder, plan);
        decode_run_watch(&run, &decoder, ki_str_of(body), (decode_split){.piece = piece});
        decode_assert_log(&run, expected);
        decode_run_fini(&run);
        ki_watch_decoder_fini(&decoder);
    }
}

void decode_assert_pod_watch(const char *body, const char *expected)
{
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    decode_assert_watch(plan, body, expected);
    ki_object_plan_free(plan);
}
