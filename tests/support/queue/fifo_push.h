/* SPDX-License-Identifier: Apache-2.0 */
/* Pushes an object that was made for the call. */
#ifndef KI_TESTS_SUPPORT_QUEUE_FIFO_PUSH_H
#define KI_TESTS_SUPPORT_QUEUE_FIFO_PUSH_H

#include "queue/delta_fifo.h"

/* Like ki_delta_fifo_push(), but drops the caller's reference, also on failure. */
static inline int fifo_push_new(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
{
    int rc = ki_delta_fifo_push(fifo, delta, version);
    (void)ki_object_unref((ki_object *)delta.object);
    return rc;
}

#endif
