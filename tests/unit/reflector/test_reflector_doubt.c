/* SPDX-License-Identifier: Apache-2.0 */
/* Which lists are in doubt until their end, and when a list in doubt is abandoned. */
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

#define ITEM(name, version) EVENT("ADDED", POD(name, version))

static void lose_history(reflector_run *run)
{
    reflector_run_start_watching(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_errors(run, "Expired 410\n");
}

static void stream_again(reflector_run *run)
{
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    lose_history(run);
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "STREAM rv=10 match=NotOlderThan bookmarks\n");
    run->doubtful_items = 0;
}

static void a_list_with_its_metadata_first_is_not_in_doubt(void **state)
{
    reflector_run *run = *state;
    lose_history(run);
    scripted_whole(&run->source, LIST("12", "t", POD("b", "6")));
    scripted_whole(&run->source, LIST("12", "", POD("c", "7")));
    expect_changes(run, "REPLACED 2 d/b@6\nREPLACED 2 d/c@7\nEND 2 12\n");
    assert_int_equal(run->doubtful_items, 0);
}

static void a_list_with_its_metadata_last_is_in_doubt(void **state)
{
    reflector_run *run = *state;
    lose_history(run);
    scripted_whole(&run->source, LIST_METADATA_LAST("12", POD("b", "6")));
    expect_changes(run, "REPLACED 2 d/b@6\nEND 2 12\n");
    assert_int_equal(run->doubtful_items, 1);
}

static void a_streamed_list_is_in_doubt(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_body(&run->source, ITEM("b", "6") END_OF_LIST("12") ITEM("c", "13"));
    expect_changes(run, "REPLACED 2 d/b@6\nEND 2 12\nADDED d/c@13 13\n");
    assert_int_equal(run->doubtful_items, 1);
}

static void a_stream_in_doubt_is_replaced_by_a_list_of_the_newest_version(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_body(&run->source, ITEM("b", "6"));
    ki_reflector_doubt_list(&run->reflector, 1); /* list 1 is over */
    expect_requests(run, "");
    ki_reflector_doubt_list(&run->reflector, 2);
    expect_errors(run, "Stale\n");
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    assert_int_equal(run->doubtful_items, 1);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    run->informer.watch_list = KI_WATCH_LIST_NEVER;
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
    scripted_body(&run->source, "{\"items\":[" POD("b", "6"));
    assert_int_equal(run->doubtful_items, 2); /* this list did not request the newest version */
    ki_reflector_doubt_list(&run->reflector, 4);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    scripted_body(&run->source, "{\"items\":[" POD("b", "6"));
    ki_reflector_doubt_list(&run->reflector, 5);
    scripted_body(&run->source, "],\"metadata\":{\"resourceVersion\":\"12\"}}");
    scripted_end(&run->source);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    assert_int_equal(run->doubtful_items, 2); /* that list is trusted, wherever its metadata is */
    expect_changes(run, "REPLACED 2 d/b@6\nREPLACED 4 d/b@6\nREPLACED 5 d/b@6\nEND 5 12\n");
    ki_reflector_doubt_list(&run->reflector, 5); /* too late */
    expect_requests(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST_METADATA_LAST("14", POD("b", "6")));
    assert_int_equal(run->doubtful_items, 3); /* the next list is in doubt again */
}

static void if_lists_are_always_streamed_the_trusted_one_is_too(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    scripted_body(&run->source, ITEM("b", "6"));
    ki_reflector_doubt_list(&run->reflector, 2);
    expect_requests(run, "cancel\nSTREAM rv= match=NotOlderThan bookmarks\n");
    scripted_body(&run->source, ITEM("b", "6") END_OF_LIST("12"));
    assert_int_equal(run->doubtful_items, 1);
    expect_errors(run, "Stale\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_list_with_its_metadata_first_is_not_in_doubt),
        reflector_test(a_list_with_its_metadata_last_is_in_doubt),
        reflector_test(a_streamed_list_is_in_doubt),
        reflector_test(a_stream_in_doubt_is_replaced_by_a_list_of_the_newest_version),
        reflector_test(if_lists_are_always_streamed_the_trusted_one_is_too),
    };
    return RUN_TESTS(tests);
}
