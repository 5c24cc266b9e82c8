/* SPDX-License-Identifier: Apache-2.0 */
/* parallelize - runs independent pieces of work on several threads: client-go's ParallelizeUntil. */
#ifndef KI_PARALLELIZE_H
#define KI_PARALLELIZE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * Does one piece. Called from several threads at once, never twice for the same piece. If the run was started
 * inside a callback or a read section, pieces on other threads do not count as being inside it: one that
 * waits for that callback or section to end is not refused, but deadlocks.
 *
 * Returns: 0 to continue; any other value ends the run: no further piece is started.
 */
typedef int (*ki_piece_cb)(size_t piece, void *user);

/** Zero means default. */
typedef struct ki_parallelize_options {
    size_t workers; /* most threads to use, including the caller's; 0: one per processor */
    size_t chunk;   /* pieces that a worker takes at once; 0: 1. Use more for short pieces */
    /* Called before each piece, on its thread, so also on several at once, with the `user` of the run. Any
     * value but 0 ends the run. NULL: never */
    int (*is_cancelled)(void *user);
    uint64_t reserved[4];
} ki_parallelize_options;

/**
 * Runs the pieces 0 … `pieces` - 1, each exactly once. Returns when all are done, or when the run was ended
 * and no piece is running any more. The calling thread works as well; when memory or the system do not allow
 * more threads, fewer are used. Chunks are taken in order. In the other threads all signals but those for
 * faults are blocked. `options` may be NULL.
 *
 * Returns: 0: all are done; the first non-zero value that a piece returned; KI_ERR_STOPPED: `is_cancelled`
 *          ended the run before every piece was started; KI_ERR_INVALID without a function.
 * Threads: any. Waits for its pieces, even in a callback of the library, which it delays.
 */
KI_API int ki_parallelize_until(size_t pieces, ki_piece_cb run, const ki_parallelize_options *options,
                                void *user);

KI_EXTERN_C_END

#endif
