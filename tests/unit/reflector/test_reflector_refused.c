/* SPDX-License-Identifier: Apache-2.0 */
/* Malformed objects among valid ones: no request is repeated because of them. */
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

#define POISON(name, version)                                                                                \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\",\"resourceVersion\":\"" version                \
    "\",\"labels\":{\"a\":\"\\ud800\"}}}"

static void a_malformed_item_of_a_list_counts_as_seen(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5") "," POISON("b", "6") "," POD("c", "7")));
    expect_changes(run, "REPLACED 1 d/a@5\nSEEN 1 d/b\nREPLACED 1 d/c@7\nEND 1 10\n");
    expect_errors(run, "Malformed d/b\n");
    assert_int_equal(reflector_run_status(run).refused, 1);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_NONE);
}

static void a_malformed_event_is_ignored(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("MODIFIED", POISON("a", "11")) EVENT("ADDED", POD("b", "12")));
    expect_errors(run, "Malformed d/a\n");
    expect_changes(run, "ADDED d/b@12 12\n");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
    assert_int_equal(reflector_run_status(run).refused, 1);
}

static void a_malformed_delete_leads_to_a_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    text_log_clear(&run->source.requests);
    scripted_body(&run->source, EVENT("DELETED", POISON("a", "11")));
    expect_errors(run, "Malformed d/a\n");
    expect_changes(run, "");
    (void)reflector_run_wait_while(run, KI_PHASE_WATCHING);
    expect_requests(run, "cancel\nLIST rv=10 match=NotOlderThan limit=500\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_malformed_item_of_a_list_counts_as_seen),
        reflector_test(a_malformed_event_is_ignored),
        reflector_test(a_malformed_delete_leads_to_a_list),
    };
    return RUN_TESTS(tests);
}
