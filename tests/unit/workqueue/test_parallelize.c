/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces over workers: each once, none after the end. */
#include <kinformer/parallelize.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

enum { PIECES = 1000 };

typedef struct work {
    atomic_int times[PIECES];
    atomic_size_t done;
    atomic_int running;
    atomic_int running_most;
    size_t fail_at;      /* SIZE_MAX: none */
    size_t cancel_after; /* pieces */
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

static void without_pieces_there_is_no_work(void **state)
{
    (void)state;
    work *w = work_new();
    assert_int_equal(ki_parallelize_until(0, do_piece, NULL, w), 0);
    assert_each_once(w, 0);
    assert_int_equal(ki_parallelize_until(1, NULL, NULL, w), KI_ERR_INVALID);
    free(w);
}

static void a_piece_that_fails_ends_the_whole_with_its_code(void **state)
{
    (void)state;
    work *w = work_new();
    w->fail_at = 10;
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &(ki_parallelize_options){.workers = 1}, w), -77);
    assert_each_once(w, 11);
    free(w);
}

static void what_is_cancelled_begins_no_further_piece(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = 5;
    const ki_parallelize_options options = {.workers = 1, .chunk = 100, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), KI_ERR_STOPPED);
    assert_each_once(w, 5);
    free(w);
}

static void with_several_workers_a_cancel_leaves_at_most_one_piece_for_each(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = 50;
    const ki_parallelize_options options = {.workers = 4, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), KI_ERR_STOPPED);
    assert_in_range(atomic_load(&w->done), 50, 53);
    free(w);
}

static void a_cancel_behind_the_last_piece_cancels_nothing(void **state)
{
    (void)state;
    work *w = work_new();
    w->cancel_after = PIECES;
    const ki_parallelize_options options = {.workers = 2, .is_cancelled = is_cancelled};
    assert_int_equal(ki_parallelize_until(PIECES, do_piece, &options, w), 0);
    assert_each_once(w, PIECES);
    free(w);
}

static void without_memory_for_threads_the_caller_does_it_alone(void **state)
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
        WITH_MEMORY_CHECK(without_pieces_there_is_no_work),
        WITH_MEMORY_CHECK(a_piece_that_fails_ends_the_whole_with_its_code),
        WITH_MEMORY_CHECK(what_is_cancelled_begins_no_further_piece),
        WITH_MEMORY_CHECK(with_several_workers_a_cancel_leaves_at_most_one_piece_for_each),
        WITH_MEMORY_CHECK(a_cancel_behind_the_last_piece_cancels_nothing),
        WITH_MEMORY_CHECK(without_memory_for_threads_the_caller_does_it_alone),
    };
    return RUN_TESTS(tests);
}
