/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/decode_expect.h"

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

static void assert_form(ki_body_form form, ki_object_plan *plan, const char *body, const char *expected)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        decode_run run;
        decode_run_form(&run, form, plan, ki_str_of(body), (decode_split){.piece = piece});
        decode_assert_log(&run, expected);
        decode_run_fini(&run);
    }
}

static void assert_pods(ki_body_form form, const char *body, const char *expected)
{
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    assert_form(form, plan, body, expected);
    ki_object_plan_free(plan);
}

void decode_assert_list(ki_object_plan *plan, const char *body, const char *expected)
{
    assert_form(KI_BODY_JSON_LIST, plan, body, expected);
}

void decode_assert_watch(ki_object_plan *plan, const char *body, const char *expected)
{
    assert_form(KI_BODY_JSON_WATCH, plan, body, expected);
}

void decode_assert_pod_list(const char *body, const char *expected)
{
    assert_pods(KI_BODY_JSON_LIST, body, expected);
}

void decode_assert_pod_watch(const char *body, const char *expected)
{
    assert_pods(KI_BODY_JSON_WATCH, body, expected);
}

void decode_assert_mistakes(ki_body_form form, const decode_mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const decode_mistake *m = &mistakes[i];
        char expected[200];
        snprintf(expected, sizeof(expected), "FAILED %s %d %s at byte %d\n", ki_error_name(m->code),
                 m->offset, ki_error_text(m->code), m->offset);
        assert_pods(form, m->body, expected);
    }
}
