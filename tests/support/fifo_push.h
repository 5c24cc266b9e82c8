/* SPDX-License-Identifier: Apache-2.0 */
/* Pushing an object that was made for it. */
#ifndef KI_TESTS_FIFO_PUSH_H
#define KI_TESTS_FIFO_PUSH_H

#include "queue/delta_fifo.h"

/* As ki_delta_fifo_push(); the caller's reference is dropped, also on failure. */
static inline int fifo_push_new(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
{
    int rc = ki_delta_fifo_push(fifo, delta, version);
    (void)ki_object_unref((ki_object *)delta.object);
    return rc;
}

#endif
