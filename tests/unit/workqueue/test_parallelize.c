/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of work on several workers: each runs once, and none runs after the end. */
#include <kinformer/parallelize.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { PIECES = 1000 };

typedef struct work {
    atomic_int times[PIECES];
    atomic_size_t done;
    atomic_int running;
    atomic_int running_most;
    size_t fail_at;      /* SIZE_MAX: none */
    size_t cancel_after; /* a number of pieces */
} work;

static int do_piece(size_t piece, void *user)
{
    work *w = user;
    int running = atomic_fetch_add(&w->running, 1) + 1;
    int most = atomic_load(&w->running_most);
    while (running > most && !atomic_compare_exchange_weak(&w->running_most, &most, running))
        continue;
    atomic_fetch_add(&w->times[piece], 1);
    atomic_fetch_add(&w->done, 1);
    atomic_fetch_sub(&w->running, 1);
    return piece == w->fail_at ? -77 : 0;
}

static int is_cancelled(void *user)
{
    const work *w = user;
    return atomic_load(&w->done) >= w->cancel_after;
}

static work *work_new(void)
{
    work *w = calloc(1, sizeof(*w));
    w->fail_at = SIZE_MAX;
    w->cancel_after = SIZE_MAX;
    return w;
}

static void assert_each_once(work *w, size_t pieces)
{
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(atomic_load(&w->times[i]), i < pieces ? 1 : 0);
}

static void each_piece_is_done_exactly_once(void **state)
{
    (void)state;
    static const size_t workers[] = {0, 1, 2, 7, 64};
    static const size_t chunks[] = {0, 1, 3, 100, 999, 1000, SIZE_MAX};
    static const size_t pieces[] = {1, 2, 99, 1000};
    for (size_t i = 0; i < 5 * 7 * 4; i++) {
        work *w = work_new();
        ki_parallelize_options options = {.workers = workers[i % 5], .chunk = chunks[i / 5 % 7]};
        assert_int_equal(ki_parallelize_until(pieces[i / 35], do_piece, &options, w), 0);
        assert_each_once(w, pieces[i / 35]);
        assert_true(options.workers == 0 || (size_t)atomic_load(&w->running_most) <= options.workers);
        free(w);
    }
}

static int count_one(size_t piece, void *user)
{
    _Atomic unsigned char *times = user;
    atomic_fetch_add(&times[piece], 1);
    return 0;
}

/* The workers do nothing but take pieces. */
static void no_piece_is_taken_twice_under_contention(void **state)
{
    (void)state;
    enum { MANY = 1000 * 1000, ROUNDS = 5 };
    _Atomic unsigned char *times = calloc(MANY, sizeof(*times));
    const ki_parallelize_options options = {.workers = 4};
    for (int round = 1; round <= ROUNDS; round++) {
        assert_int_equal(ki_parallelize_until(MANY, count_one, &options, times), 0);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(times[i], round);
    }
    free(times);
}

static void without_pieces_there_is_no_work(void **state)
{
    (void)state;
    work *w = work_new();
    assert_int_equal(ki_parallelize_until(0, do_piece, NULL, w), 0);
    assert_each_once(w, 0);
    assert_int_equal(ki_parallelize_until(1, NULL, NULL, w), KI_ERR_INVALID);
    free(w);
}

static void the_code_of_a_failed_piece_is_returned(void **state)
{
    (void)state;
    work *w = work_new();
    w->fail_at = 10;
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &(ki_parallelize_options){.workers = 1}, w), -77);
    assert_each_once(w, 11);
    free(w);
}

/* The other pieces yield the processor to the first one. */
static int fail_first(size_t piece, void *user)
{
    work *w = user;
    atomic_fetch_add(&w->done, 1);
    for (int i = 0; i < 1000 && piece > 0; i++)
        sched_yield();
    return piece == 0 ? -77 : 0;
}

static void a_failed_piece_stops_the_other_workers(void **state)
{
    (void)state;
    work *w = work_new();
    const ki_parallelize_options options = {.workers = 2, .chunk = PIECES / 2};
    assert_int_equal(ki_parallelize_until(PIECES, fail_first, &options, w), -77);
    assert_true(atomic_load(&w->done) < PIECES / 2);
    free(w);
}

/* Returns when both pieces are running. */
static int meet(size_t piece, void *user)
{
    work *w = user;
    (void)piece;
    atomic_fetch_add(&w->running, 1);
    uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + AT_ONCE_MS;
    while (atomic_load(&w->running) < 2 && ki_clock_now_ms(ki_clock_real()) < until_ms)
        sched_yield();
    return atomic_load(&w->running) < 2 ? -77 : 0;
}

/* There would not be enough memory for as many threads as requested. */
static void two_pieces_run_on_two_threads_however_many_are_allowed(void **state)
{
    (void)state;
    work *w = work_new();
    const ki_parallelize_options options = {.workers = SIZE_MAX};
    assert_int_equal(ki_parallelize_until(2, meet, &options, w), 0);
    free(w);
}

static void no_piece_begins_after_a_cancel(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = 5;
    const ki_parallelize_options options = {.workers = 1, .chunk = 100, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), KI_ERR_STOPPED);
    assert_each_once(w, 5);
    free(w);
}

static void after_a_cancel_each_worker_finishes_at_most_one_piece(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = 50;
    const ki_parallelize_options options = {.workers = 4, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), KI_ERR_STOPPED);
    assert_in_range(atomic_load(&w->done), 50, 53);
    free(w);
}

static void a_cancel_after_the_last_piece_has_no_effect(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = PIECES;
    const ki_parallelize_options options = {.workers = 2, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), 0);
    assert_each_once(w, PIECES);
    free(w);
}

static void without_memory_for_threads_the_caller_does_all_the_work(void **state)
{
    (void)state;
    work *w = work_new();
    failing_allocator_fail_at(1);
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &(ki_parallelize_options){.workers = 4}, w), 0);
    assert_true(failing_allocator_has_failed());
    failing_allocator_fail_at(0);
    assert_each_once(w, PIECES);
    assert_int_equal(atomic_load(&w->running_most), 1);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(each_piece_is_done_exactly_once),
        WITH_MEMORY_CHECK(no_piece_is_taken_twice_under_contention),
        WITH_MEMORY_CHECK(without_pieces_there_is_no_work),
        WITH_MEMORY_CHECK(the_code_of_a_failed_piece_is_returned),
        WITH_MEMORY_CHECK(a_failed_piece_stops_the_other_workers),
        WITH_MEMORY_CHECK(two_pieces_run_on_two_threads_however_many_are_allowed),
        WITH_MEMORY_CHECK(no_piece_begins_after_a_cancel),
        WITH_MEMORY_CHECK(after_a_cancel_each_worker_finishes_at_most_one_piece),
        WITH_MEMORY_CHECK(a_cancel_after_the_last_piece_has_no_effect),
        WITH_MEMORY_CHECK(without_memory_for_threads_the_caller_does_all_the_work),
    };
    return RUN_TESTS(tests);
}
