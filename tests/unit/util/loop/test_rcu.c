/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/rcu.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/sleeper.h"
#include "support/unit.h"

static void a_grace_period_without_readers_has_passed_at_once(void **state)
{
    (void)state;
    uint64_t grace = ki_rcu_begin_grace();
    assert_true(grace != 0);
    assert_true(ki_rcu_has_passed(grace));
    ki_rcu_wait(grace);
}

static void sections_nest(void **state)
{
    (void)state;
    assert_false(ki_rcu_is_reading());
    ki_rcu_read_lock();
    ki_rcu_read_lock();
    uint64_t grace = ki_rcu_begin_grace();
    ki_rcu_read_unlock();
    assert_true(ki_rcu_is_reading());
    assert_false(ki_rcu_has_passed(grace));
    ki_rcu_read_unlock();
    assert_false(ki_rcu_is_reading());
    assert_true(ki_rcu_has_passed(grace));
}

static void a_grace_period_does_not_wait_for_later_sections(void **state)
{
    (void)state;
    uint64_t grace = ki_rcu_begin_grace();
    ki_rcu_read_lock();
    assert_true(ki_rcu_has_passed(grace));
    uint64_t next = ki_rcu_begin_grace();
    assert_false(ki_rcu_has_passed(next));
    ki_rcu_read_unlock();
    assert_true(ki_rcu_has_passed(next));
}

static void a_grace_period_waits_for_sections_of_other_threads(void **state)
{
    (void)state;
    sleeper s;
    sleeper_begin(&s, NULL);
    uint64_t grace = ki_rcu_begin_grace();
    assert_false(ki_rcu_has_passed(grace));
    sleeper_end(&s);
    assert_true(ki_rcu_has_passed(grace));
}

static void a_grace_period_waits_for_more_threads_than_a_block_has_words(void **state)
{
    (void)state;
    enum { THREADS = 150 };
    static sleeper sleepers[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        sleeper_begin(&sleepers[i], NULL);
    uint64_t grace = ki_rcu_begin_grace();
    for (size_t i = 0; i < THREADS; i++) {
        assert_false(ki_rcu_has_passed(grace));
        sleeper_end(&sleepers[(i + 70) % THREADS]);
    }
    assert_true(ki_rcu_has_passed(grace));
}

static void lock_and_end(void *user)
{
    (void)user;
    ki_rcu_read_lock();
}

static void a_thread_that_ends_in_a_section_has_left_it(void **state)
{
    (void)state;
    aside forgetful;
    aside_start(&forgetful, lock_and_end, NULL);
    aside_join(&forgetful);
    assert_true(ki_rcu_has_passed(ki_rcu_begin_grace()));
}

static void wait_for_all(void *user)
{
    ki_rcu_wait(*(uint64_t *)user);
}

static void waiting_ends_when_the_last_reader_leaves(void **state)
{
    (void)state;
    sleeper s;
    aside waiting;
    sleeper_begin(&s, NULL);
    uint64_t grace = ki_rcu_begin_grace();
    aside_start(&waiting, wait_for_all, &grace);
    assert_false(atomic_load(&waiting.is_done));
    sleeper_end(&s);
    assert_true(aside_ends_within(&waiting, HANG_MS));
    aside_join(&waiting);
}

/* Tests a thread that has no word of its own, as when it is out of memory. */
static void a_thread_without_a_word_is_counted(void **state)
{
    (void)state;
    ki_rcu_read_lock();
    ki_rcu_read_unlock();
    ki_rcu_reader *self = ki_rcu_self;
    ki_rcu_self = NULL;
    ki_rcu_count_this_thread();
    assert_true(ki_rcu_is_reading());
    ki_rcu_read_lock(); /* a nested section does not look for a word */
    assert_null(ki_rcu_self);
    uint64_t grace = ki_rcu_begin_grace();
    ki_rcu_read_unlock();
    assert_false(ki_rcu_has_passed(grace));
    ki_rcu_read_unlock();
    assert_false(ki_rcu_is_reading());
    assert_true(ki_rcu_has_passed(grace));
    ki_rcu_self = self;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grace_period_without_readers_has_passed_at_once),
        cmocka_unit_test(sections_nest),
        cmocka_unit_test(a_grace_period_does_not_wait_for_later_sections),
        cmocka_unit_test(a_grace_period_waits_for_sections_of_other_threads),
        cmocka_unit_test(a_grace_period_waits_for_more_threads_than_a_block_has_words),
        cmocka_unit_test(a_thread_that_ends_in_a_section_has_left_it),
        cmocka_unit_test(waiting_ends_when_the_last_reader_leaves),
        cmocka_unit_test(a_thread_without_a_word_is_counted),
    };
    return RUN_TESTS(tests);
}
