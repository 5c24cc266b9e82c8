/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/parallelize.h>
#include <stdatomic.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/thread.h"

typedef struct shared {
    size_t pieces;
    size_t chunk;
    ki_piece_cb run;
    int (*is_cancelled)(void *user);
    void *user;
    _Atomic size_t next; /* the first piece that was not taken yet; may exceed the number of pieces */
    _Atomic int outcome; /* 0, or the value that ended the run */
} shared;

/* Only the first value that ends the run is kept. */
static void end(shared *s, int outcome)
{
    assert(outcome != 0);
    int none = 0;
    (void)atomic_compare_exchange_strong(&s->outcome, &none, outcome);
}

/* Returns whether to continue. */
static int do_piece(shared *s, size_t piece)
{
    assert(piece < s->pieces);
    if (atomic_load(&s->outcome) != 0)
        return 0;
    if (s->is_cancelled != NULL && s->is_cancelled(s->user)) {
        end(s, KI_ERR_STOPPED);
        return 0;
    }
    int rc = s->run(piece, s->user);
    if (rc != 0)
        end(s, rc);
    return rc == 0;
}

/* Each chunk is taken by one atomic addition, so no two workers get the same one. */
static void work(void *user)
{
    shared *s = user;
    size_t first = atomic_fetch_add(&s->next, s->chunk);
    while (first < s->pieces) {
        size_t behind = s->pieces - first < s->chunk ? s->pieces : first + s->chunk;
        assert(behind > first && behind <= s->pieces);
        for (size_t piece = first; piece < behind; piece++)
            if (!do_piece(s, piece))
                return;
        first = atomic_fetch_add(&s->next, s->chunk);
    }
}

static size_t worker_count(const shared *s, size_t wanted)
{
    assert(s->chunk > 0 && s->chunk <= s->pieces);
    size_t chunks = s->pieces / s->chunk + (s->pieces % s->chunk != 0);
    if (wanted == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        wanted = processors > 0 ? (size_t)processors : 1;
    }
    return wanted < chunks ? wanted : chunks;
}

/* If a thread cannot be started, the others do its work. */
static void work_together(shared *s, size_t workers)
{
    assert(workers > 0);
    ki_thread *threads = workers > 1 ? ki_calloc(workers - 1, sizeof(ki_thread)) : NULL;
    size_t started = 0;
    const ki_thread_options options = {.name = "worker", .run = work, .user = s};
    while (threads != NULL && started < workers - 1 &&
           ki_thread_start(&threads[started], &options, NULL) == 0)
        started++;
    work(s);
    for (size_t i = 0; i < started; i++)
        ki_thread_join(&threads[i]);
    ki_free(threads);
}

int ki_parallelize_until(size_t pieces, ki_piece_cb run, const ki_parallelize_options *options, void *user)
{
    static const ki_parallelize_options defaults = {0};
    if (run == NULL)
        return KI_ERR_INVALID;
    if (options == NULL)
        options = &defaults;
    shared s = {.pieces = pieces,
                .chunk = options->chunk == 0       ? 1
                         : options->chunk < pieces ? options->chunk
                                                   : pieces,
                .run = run,
                .is_cancelled = options->is_cancelled,
                .user = user};
    if (pieces > 0)
        work_together(&s, worker_count(&s, options->workers));
    return atomic_load(&s.outcome);
}
