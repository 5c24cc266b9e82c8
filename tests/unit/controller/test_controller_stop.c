/* SPDX-License-Identifier: Apache-2.0 */
/* Which stop ends which run: a stop is remembered until a start, or until a run has returned because of it.
 * In virtual time, a run that is not stopped returns when there is nothing to do,
 * and the controller is running. */
#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void start(controller_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
}

static void stop_it(controller_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_stop(rig->controller, &err), 0);
    assert_int_equal(controller_rig_status(rig).is_running, 0);
}

static void add(controller_rig *rig, const char *key)
{
    assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
}

/* Fails the test unless the run reconciles exactly these keys. */
static void run(controller_rig *rig, const char *keys)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_run(rig->controller, &err), 0);
    RIG_EXPECT(rig, keys);
}

static ki_result stop_inside(controller_rig *rig, ki_request *request)
{
    (void)request;
    stop_it(rig);
    return ki_done();
}

static void a_stop_before_a_run_ends_it_at_once(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    add(&rig, "a");
    stop_it(&rig);
    run(&rig, "");
    assert_int_equal(controller_rig_status(&rig).is_running, 0);
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "");
    run(&rig, "a "); /* the stop has ended one run */
    assert_int_equal(controller_rig_status(&rig).is_running, 1);
    controller_rig_fini(&rig);
}

static void several_stops_before_a_run_end_only_one(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    add(&rig, "a");
    for (int i = 0; i < 3; i++)
        stop_it(&rig);
    run(&rig, "");
    run(&rig, "a ");
    controller_rig_fini(&rig);
}

static void a_start_forgets_a_stop_before_it(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    add(&rig, "a");
    stop_it(&rig);
    start(&rig);
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "a ");
    add(&rig, "b");
    run(&rig, "b ");
    stop_it(&rig);
    controller_rig_fini(&rig);
}

static void a_start_that_fails_forgets_a_stop_as_well(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    assert_int_equal(ki_controller_watch(rig.controller, NULL, NULL), KI_ERR_INVALID);
    stop_it(&rig);
    assert_int_equal(ki_controller_start(rig.controller, &err), KI_ERR_INVALID);
    assert_int_equal(ki_controller_run(rig.controller, &err), KI_ERR_INVALID);
    controller_rig_fini(&rig);
}

static void a_stop_during_a_run_does_not_end_the_next_one(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = stop_inside;
    for (int i = 0; i < 3; i++) {
        add(&rig, "b");
        run(&rig, "b ");
        assert_int_equal(controller_rig_status(&rig).is_running, 0);
    }
    stop_it(&rig); /* the run that it could end has returned */
    add(&rig, "c");
    run(&rig, "");
    run(&rig, "c ");
    controller_rig_fini(&rig);
}

static void a_stop_after_a_start_ends_the_next_run(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    start(&rig);
    stop_it(&rig);
    add(&rig, "a");
    run(&rig, "");
    run(&rig, "a ");
    controller_rig_fini(&rig);
}

static ki_result stop_twice(controller_rig *rig, ki_request *request)
{
    stop_it(rig);
    return stop_inside(rig, request);
}

static void a_second_stop_during_a_run_does_not_end_the_next_one(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = stop_twice;
    add(&rig, "a");
    run(&rig, "a ");
    add(&rig, "b");
    run(&rig, "b ");
    controller_rig_fini(&rig);
}

static void a_run_that_is_refused_leaves_the_stop_for_the_next(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    add(&rig, "a");
    stop_it(&rig);
    ki_read_lock();
    assert_int_equal(ki_controller_run(rig.controller, &err), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    run(&rig, "");
    run(&rig, "a ");
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_stop_before_a_run_ends_it_at_once),
        WITH_MEMORY_CHECK(several_stops_before_a_run_end_only_one),
        WITH_MEMORY_CHECK(a_start_forgets_a_stop_before_it),
        WITH_MEMORY_CHECK(a_start_that_fails_forgets_a_stop_as_well),
        WITH_MEMORY_CHECK(a_stop_during_a_run_does_not_end_the_next_one),
        WITH_MEMORY_CHECK(a_stop_after_a_start_ends_the_next_run),
        WITH_MEMORY_CHECK(a_second_stop_during_a_run_does_not_end_the_next_one),
        WITH_MEMORY_CHECK(a_run_that_is_refused_leaves_the_stop_for_the_next),
    };
    return RUN_TESTS(tests);
}
