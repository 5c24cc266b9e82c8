/* SPDX-License-Identifier: Apache-2.0 */
/* parallelize - runs independent pieces of work on several threads: client-go's ParallelizeUntil. */
#ifndef KI_PARALLELIZE_H
#define KI_PARALLELIZE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * Does one piece. Called from several threads at once, never twice for the same piece.
 *
 * Returns: 0 to continue; any other value ends the run: no further piece is begun.
 */
typedef int (*ki_piece_cb)(size_t piece, void *user);

/** Zero means default. */
typedef struct ki_parallelize_options {
    size_t workers;                  /* most threads to use, including the caller's; 0: one per processor */
    size_t chunk;                    /* pieces that a worker takes at once; 0: 1. Use more for short pieces */
    int (*is_cancelled)(void *user); /* called before each piece; any value but 0 ends the run. NULL: never */
    uint64_t reserved[4];
} ki_parallelize_options;

/**
 * Runs the pieces 0 … `pieces` - 1, each exactly once. Returns when all are done, or when the run was ended
 * and no piece is running any more. The calling thread works as well; when the system cannot start more
 * threads, fewer are used. Pieces begin in order. All signals are blocked in the other threads. `options` may
 * be NULL.
 *
 * Returns: 0: all are done; the first non-zero value that a piece returned; KI_ERR_STOPPED: `is_cancelled`
 *          ended the run before the last piece was begun; KI_ERR_INVALID without a function.
 * Threads: any. Waits for its pieces.
 */
KI_API int ki_parallelize_until(size_t pieces, ki_piece_cb run, const ki_parallelize_options *options,
                                void *user);

KI_EXTERN_C_END

#endif
