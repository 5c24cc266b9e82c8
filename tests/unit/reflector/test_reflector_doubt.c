/* SPDX-License-Identifier: Apache-2.0 */
/* Which lists are in doubt until their end, and how one that is doubted too much is given up. */
#include "support/reflector_run.h"
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

static void a_list_whose_metadata_come_first_is_not_in_doubt(void **state)
{
    reflector_run *run = *state;
    lose_history(run);
    scripted_whole(&run->source, LIST("12", "t", POD("b", "6")));
    scripted_whole(&run->source, LIST("12", "", POD("c", "7")));
    expect_changes(run, "REPLACED 2 d/b@6\nREPLACED 2 d/c@7\nEND 2 12\n");
    assert_int_equal(run->doubtful_items, 0);
}

static void a_list_whose_metadata_come_last_is_in_doubt(void **state)
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

static void a_doubted_stream_is_given_up_for_a_list_of_the_newest_version(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_body(&run->source, ITEM("b", "6"));
    ki_reflector_doubt_list(&run->reflector, 1); /* which is over */
    expect_requests(run, "");
    ki_reflector_doubt_list(&run->reflector, 2);
    expect_errors(run, "Stale\n");
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    assert_int_equal(run->doubtful_items, 1);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    run->informer.watch_list = KI_WATCH_LIST_NEVER;
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv= limit=500\n");
    scripted_body(&run->source, "{\"items\":[" POD("b", "6"));
    ki_reflector_doubt_list(&run->reflector, 4);
    scripted_body(&run->source, "],\"metadata\":{\"resourceVersion\":\"12\"}}");
    scripted_end(&run->source);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    assert_int_equal(run->doubtful_items, 1); /* that one is believed, wherever its metadata are */
    expect_changes(run, "REPLACED 2 d/b@6\nREPLACED 4 d/b@6\nEND 4 12\n");
    ki_reflector_doubt_list(&run->reflector, 4); /* too late */
    expect_requests(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST_METADATA_LAST("14", POD("b", "6")));
    assert_int_equal(run->doubtful_items, 2); /* and the next is not */
}

static void where_lists_are_always_streamed_so_is_the_one_that_is_trusted(void **state)
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
        reflector_test(a_list_whose_metadata_come_first_is_not_in_doubt),
        reflector_test(a_list_whose_metadata_come_last_is_in_doubt),
        reflector_test(a_streamed_list_is_in_doubt),
        reflector_test(a_doubted_stream_is_given_up_for_a_list_of_the_newest_version),
        reflector_test(where_lists_are_always_streamed_so_is_the_one_that_is_trusted),
    };
    return RUN_TESTS(tests);
}
