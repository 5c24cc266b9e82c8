/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np; NOLINT(bugprone-reserved-identifier) */
#endif
#include "util/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "support/unit.h"
#include "util/clock.h"

/* What a thread finds out about itself. */
typedef struct facts {
    int runs;
    char name[KI_THREAD_NAME_BYTES];
    sigset_t mask;
    size_t stack_bytes;
} facts;

static void find_facts(void *user)
{
    facts *f = user;
    f->runs++;
    prctl(PR_GET_NAME, f->name);
    pthread_sigmask(SIG_BLOCK, NULL, &f->mask);
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &f->stack_bytes);
        pthread_attr_destroy(&attributes);
    }
}

static void run_to_the_end(ki_thread_options options)
{
    ki_thread thread;
    ki_error err = {0};
    assert_int_equal(ki_thread_start(&thread, &options, &err), 0);
    ki_thread_join(&thread);
}

static void join_returns_after_the_function_has_run_once(void **state)
{
    (void)state;
    facts f = {0};
    run_to_the_end((ki_thread_options){.name = "io", .run = find_facts, .user = &f});
    assert_int_equal(f.runs, 1);
}

static void a_thread_has_its_name(void **state)
{
    (void)state;
    facts f = {0};
    run_to_the_end((ki_thread_options){.name = "dispatch", .run = find_facts, .user = &f});
    assert_string_equal(f.name, "dispatch");
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    facts f = {0};
    run_to_the_end((ki_thread_options){.name = "handler-of-the-pods", .run = find_facts, .user = &f});
    assert_string_equal(f.name, "handler-of-the-");
}

/* The signals that the system blocks when all are requested: an emulator leaves out some real-time
 * signals. */
static sigset_t all_that_can_be_blocked(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_sigmask(SIG_SETMASK, &before, &all);
    return all;
}

static void signals_meant_for_the_program_are_blocked(void **state)
{
    (void)state;
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                  SIGPIPE, SIGALRM, SIGCHLD, SIGTSTP, SIGPROF, SIGWINCH};
    const sigset_t all = all_that_can_be_blocked();
    facts f = {0};
    run_to_the_end((ki_thread_options){.name = "io", .run = find_facts, .user = &f});
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_int_equal(sigismember(&f.mask, signals[i]), 1);
    assert_int_equal(sigismember(&f.mask, SIGRTMIN), 1);
    for (int signal_number = SIGRTMIN; signal_number <= SIGRTMAX; signal_number++)
        assert_int_equal(sigismember(&f.mask, signal_number), sigismember(&all, signal_number));
}

static void signals_of_a_fault_are_not_blocked(void **state)
{
    (void)state;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    facts f = {0};
    run_to_the_end((ki_thread_options){.name = "io", .run = find_facts, .user = &f});
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_int_equal(sigismember(&f.mask, signals[i]), 0);
}

static void the_mask_of_the_caller_is_unchanged(void **state)
{
    (void)state;
    facts f = {0};
    sigset_t mine;
    sigset_t before;
    sigset_t after;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &mine, &before);
    run_to_the_end((ki_thread_options){.name = "io", .run = find_facts, .user = &f});
    pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), 1);
    assert_int_equal(sigismember(&after, SIGINT), 0);
}

static void the_stack_has_the_requested_size(void **state)
{
    (void)state;
    const size_t stack_bytes = 32u << 20; /* more than any default */
    facts f = {0};
    run_to_the_end(
        (ki_thread_options){.name = "io", .run = find_facts, .user = &f, .stack_bytes = stack_bytes});
    assert_true(f.stack_bytes >= stack_bytes);
}

static void a_stack_that_the_system_refuses_is_an_error(void **state)
{
    (void)state;
    facts f = {0};
    ki_thread thread;
    ki_error err = {0};
    ki_thread_options options = {.name = "io", .run = find_facts, .user = &f, .stack_bytes = 1};
    assert_int_equal(ki_thread_start(&thread, &options, &err), KI_ERR_SYSTEM);
    assert_int_equal(err.code, KI_ERR_SYSTEM);
    assert_non_null(strstr(err.message, "thread io"));
    ki_thread_join(&thread);
    assert_int_equal(f.runs, 0);
}

static void joining_again_or_without_a_start_does_nothing(void **state)
{
    (void)state;
    facts f = {0};
    ki_thread thread = {0};
    ki_thread_join(&thread);
    ki_thread_options options = {.name = "io", .run = find_facts, .user = &f};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    ki_thread_join(&thread);
    ki_thread_join(&thread);
    assert_int_equal(f.runs, 1);
}

/* A counter that two threads increment in turn. */
typedef struct rally {
    ki_mutex mu;
    ki_cond changed;
    int count; /* guarded by mu */
} rally;

enum { RALLY_END = 2000 };

static void rally_init(rally *r)
{
    ki_mutex_init(&r->mu);
    ki_cond_init(&r->changed);
    r->count = 0;
}

static void rally_fini(rally *r)
{
    ki_cond_fini(&r->changed);
    ki_mutex_fini(&r->mu);
}

static void play(rally *r, int parity)
{
    ki_mutex_lock(&r->mu);
    while (r->count < RALLY_END) {
        if (r->count % 2 == parity) {
            r->count++;
            ki_cond_signal(&r->changed);
        } else {
            ki_cond_wait(&r->changed, &r->mu);
        }
    }
    ki_mutex_unlock(&r->mu);
}

static void play_odd(void *user)
{
    play(user, 1);
}

static void two_threads_take_turns_under_a_mutex_and_a_condition(void **state)
{
    (void)state;
    rally r;
    rally_init(&r);
    ki_thread thread;
    ki_thread_options options = {.name = "odd", .run = play_odd, .user = &r};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    play(&r, 0);
    ki_thread_join(&thread);
    assert_int_equal(r.count, RALLY_END);
    rally_fini(&r);
}

static void a_timed_wait_ends_at_its_timeout(void **state)
{
    (void)state;
    rally r;
    rally_init(&r);
    uint64_t began_ns = ki_clock_now_ns(ki_clock_real());
    ki_mutex_lock(&r.mu);
    while (ki_cond_wait_ms(&r.changed, &r.mu, 20))
        continue; /* a spurious wakeup */
    ki_mutex_unlock(&r.mu);
    assert_true(ki_clock_now_ns(ki_clock_real()) - began_ns >= 20 * 1000 * 1000);
    rally_fini(&r);
}

static void a_wait_with_a_timeout_of_zero_returns_at_once(void **state)
{
    (void)state;
    rally r;
    rally_init(&r);
    ki_mutex_lock(&r.mu);
    assert_false(ki_cond_wait_ms(&r.changed, &r.mu, 0));
    ki_mutex_unlock(&r.mu);
    rally_fini(&r);
}

static void count_and_broadcast(void *user)
{
    rally *r = user;
    ki_mutex_lock(&r->mu);
    r->count++;
    ki_cond_broadcast(&r->changed);
    ki_mutex_unlock(&r->mu);
}

static bool wait_for_broadcast(uint64_t timeout_ms)
{
    rally r;
    rally_init(&r);
    ki_thread thread;
    ki_thread_options options = {.name = "waker", .run = count_and_broadcast, .user = &r};
    ki_mutex_lock(&r.mu);
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    bool in_time = true;
    while (in_time && r.count == 0)
        in_time = ki_cond_wait_ms(&r.changed, &r.mu, timeout_ms);
    ki_mutex_unlock(&r.mu);
    ki_thread_join(&thread);
    rally_fini(&r);
    return in_time;
}

static void a_very_long_wait_is_woken_by_a_broadcast(void **state)
{
    (void)state;
    assert_true(wait_for_broadcast(UINT64_MAX));
}

/* 999 ms almost always end in the next second. */
static void a_wait_that_carries_into_the_next_second_is_woken_by_a_broadcast(void **state)
{
    (void)state;
    assert_true(wait_for_broadcast(3600 * 1000 + 999));
}

static void count_up_often(void *user)
{
    rally *r = user;
    for (int i = 0; i < RALLY_END; i++) {
        ki_mutex_lock_short(&r->mu);
        r->count++;
        ki_mutex_unlock(&r->mu);
    }
}

static void a_short_mutex_excludes_the_others(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    rally r;
    rally_init(&r);
    ki_thread threads[THREADS];
    ki_thread_options options = {.name = "count", .run = count_up_often, .user = &r};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        ki_thread_join(&threads[i]);
    assert_int_equal(r.count, THREADS * RALLY_END);
    rally_fini(&r);
}

typedef struct long_wait {
    ki_mutex mu;
    atomic_bool is_begun;
    bool is_held;
    uint64_t own_ns;
} long_wait;

static void wait_long(void *user)
{
    long_wait *wait = user;
    struct timespec own;
    atomic_store(&wait->is_begun, true);
    ki_mutex_lock_short(&wait->mu);
    wait->is_held = ki_mutex_is_held(&wait->mu);
    ki_mutex_unlock(&wait->mu);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    wait->own_ns = (uint64_t)own.tv_sec * 1000 * 1000 * 1000 + (uint64_t)own.tv_nsec;
}

/* The thread spins only for a moment, not until it has the mutex. */
static void a_thread_sleeps_during_a_long_wait_for_a_short_mutex(void **state)
{
    (void)state;
    enum { HELD_NS = 50 * 1000 * 1000 };
    long_wait wait = {.is_begun = false};
    ki_thread thread;
    ki_thread_options options = {.name = "waiter", .run = wait_long, .user = &wait};
    ki_mutex_init(&wait.mu);
    ki_mutex_lock_short(&wait.mu);
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    while (!atomic_load(&wait.is_begun))
        ki_thread_spin_ns(1000);
    struct timespec pause = {.tv_nsec = HELD_NS};
    nanosleep(&pause, NULL);
    ki_mutex_unlock(&wait.mu);
    ki_thread_join(&thread);
    assert_true(wait.is_held);
    assert_true(wait.own_ns < HELD_NS / 2);
    ki_mutex_fini(&wait.mu);
}

static void a_spin_takes_as_long_as_it_should(void **state)
{
    (void)state;
    uint64_t began_ns = ki_clock_now_ns(ki_clock_real());
    ki_thread_spin_ns(100 * 1000);
    assert_true(ki_clock_now_ns(ki_clock_real()) - began_ns >= 99 * 1000);
}

typedef struct holder {
    ki_mutex mu;
    bool is_held_elsewhere;
} holder;

static void look_at_mutex(void *user)
{
    holder *h = user;
    h->is_held_elsewhere = ki_mutex_is_held(&h->mu);
}

/* Without assertions the owner is unknown, and ki_mutex_is_held() is always true. */
#ifdef NDEBUG
enum { HELD_WHEN_NOT = true };
#else
enum { HELD_WHEN_NOT = false };
#endif

static void a_mutex_is_held_by_the_thread_that_has_locked_it(void **state)
{
    (void)state;
    holder h = {.is_held_elsewhere = false};
    ki_mutex other;
    ki_thread thread;
    ki_mutex_init(&h.mu);
    ki_mutex_init(&other);
    assert_int_equal(ki_mutex_is_held(&h.mu), HELD_WHEN_NOT);
    ki_mutex_lock(&h.mu);
    ki_mutex_lock(&other);
    assert_true(ki_mutex_is_held(&h.mu));
    ki_thread_options options = {.name = "other", .run = look_at_mutex, .user = &h};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    ki_thread_join(&thread);
    assert_int_equal(h.is_held_elsewhere, HELD_WHEN_NOT);
    ki_mutex_unlock(&h.mu); /* not in the order of locking */
    assert_int_equal(ki_mutex_is_held(&h.mu), HELD_WHEN_NOT);
    assert_true(ki_mutex_is_held(&other));
    ki_mutex_unlock(&other);
    ki_mutex_fini(&other);
    ki_mutex_fini(&h.mu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_returns_after_the_function_has_run_once),
        cmocka_unit_test(a_thread_has_its_name),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(signals_meant_for_the_program_are_blocked),
        cmocka_unit_test(signals_of_a_fault_are_not_blocked),
        cmocka_unit_test(the_mask_of_the_caller_is_unchanged),
        cmocka_unit_test(the_stack_has_the_requested_size),
        cmocka_unit_test(a_stack_that_the_system_refuses_is_an_error),
        cmocka_unit_test(joining_again_or_without_a_start_does_nothing),
        cmocka_unit_test(two_threads_take_turns_under_a_mutex_and_a_condition),
        cmocka_unit_test(a_timed_wait_ends_at_its_timeout),
        cmocka_unit_test(a_wait_with_a_timeout_of_zero_returns_at_once),
        cmocka_unit_test(a_very_long_wait_is_woken_by_a_broadcast),
        cmocka_unit_test(a_wait_that_carries_into_the_next_second_is_woken_by_a_broadcast),
        cmocka_unit_test(a_short_mutex_excludes_the_others),
        cmocka_unit_test(a_thread_sleeps_during_a_long_wait_for_a_short_mutex),
        cmocka_unit_test(a_spin_takes_as_long_as_it_should),
        cmocka_unit_test(a_mutex_is_held_by_the_thread_that_has_locked_it),
    };
    return RUN_TESTS(tests);
}
