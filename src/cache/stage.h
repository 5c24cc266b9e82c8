/* SPDX-License-Identifier: Apache-2.0 */
/* stage - how far what follows a server has come in starting, stopping and going.
 *
 *   From:     cache/informer.h, cache/feed.h
 *   Locks:    that of what has the stage.
 *   Not here: who goes from one to the next: dispatch, but for the two that io answers with.
 */
#ifndef KI_CACHE_STAGE_H
#define KI_CACHE_STAGE_H

/* From top to bottom and back to the top; a free goes on from STOPPED. */
typedef enum ki_stage {
    KI_STAGE_STOPPED = 0,
    KI_STAGE_RUNNING,
    KI_STAGE_HALTING,  /* io is asked to end its requests */
    KI_STAGE_HALTED,   /* it has; callbacks may still run */
    KI_STAGE_LEAVING,  /* io is asked to let go of the source */
    KI_STAGE_RELEASED, /* it has; nothing is left but memory */
} ki_stage;

#endif
