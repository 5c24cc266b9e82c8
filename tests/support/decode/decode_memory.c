/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/decode_memory.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

/* A body that needs fewer allocations would test nothing. */
enum { ALLOCATIONS_MIN = 8 };

/* Returns the code of the run, or of the plan. */
static int run_subject(const decode_subject *s, decode_run *run)
{
    ki_error err = {0};
    *run = (decode_run){0};
    ki_object_plan *plan = ki_object_plan_new(s->resource, &s->options, &err);
    if (plan == NULL)
        return err.code;
    decode_run_form(run, s->form, plan, s->body, s->split);
    ki_object_plan_free(plan);
    return run->code;
}

static void assert_beginning(const decode_run *run, const decode_run *whole)
{
    if (run->log == NULL)
        return;
    const char *failure = strstr(run->log, "FAILED KI_ERR_NO_MEMORY");
    assert_non_null(failure);
    assert_memory_equal(run->log, whole->log, (size_t)(failure - run->log));
}

void decode_fail_each_allocation(const decode_subject *s)
{
    decode_run whole, run;
    failing_allocator_fail_at(0);
    int expected = run_subject(s, &whole);
    size_t live = failing_allocator_live_count();
    size_t n = 1;
    for (;; n++) {
        failing_allocator_fail_at(n);
        int code = run_subject(s, &run);
        if (!failing_allocator_has_failed()) {
            assert_int_equal(code, expected);
            assert_string_equal(run.log, whole.log);
            break;
        }
        if (code != KI_ERR_NO_MEMORY)
            fail_msg("allocation %zu failed, but the result is %s: %s", n, ki_error_name(code), run.log);
        assert_beginning(&run, &whole);
        decode_run_fini(&run);
        assert_int_equal(failing_allocator_live_count(), live);
    }
    assert_true(n - 1 > ALLOCATIONS_MIN);
    decode_run_fini(&run);
    decode_run_fini(&whole);
    assert_int_equal(failing_allocator_live_count(), 0);
}
