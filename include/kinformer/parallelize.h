/* SPDX-License-Identifier: Apache-2.0 */
/* parallelize - pieces of work that do not depend on each other, done by several threads. */
#ifndef KI_PARALLELIZE_H
#define KI_PARALLELIZE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * Does one piece. Called from several threads at once, never twice for the same piece.
 *
 * Returns: 0 to go on; anything else ends the whole: no further piece is begun.
 */
typedef int (*ki_piece_cb)(size_t piece, void *user);

/** Zero means default. */
typedef struct ki_parallelize_options {
    size_t workers; /* threads at the most, the caller's included; 0: as many as there are processors */
    size_t chunk;   /* pieces that a worker takes at once; 0: 1. More of them for short pieces */
    int (*is_cancelled)(void *user); /* asked before each piece; anything but 0 ends the whole. NULL: never */
    uint64_t reserved[4];
} ki_parallelize_options;

/**
 * Does the pieces 0 … `pieces` - 1, each exactly once, and returns when all are done, or the whole has ended
 * and no piece is being done any more. The calling thread works as well; when the system has no thread to
 * give, fewer do. Pieces begin in order. All signals are blocked in the other threads. `options` may be NULL.
 *
 * Returns: 0: all are done; what a piece has returned first; KI_ERR_STOPPED: `is_cancelled` has ended it
 *          before the last piece was begun; KI_ERR_INVALID without a function.
 */
KI_API int ki_parallelize_until(size_t pieces, ki_piece_cb run, const ki_parallelize_options *options,
                                void *user);

KI_EXTERN_C_END

#endif
