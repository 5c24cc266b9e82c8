/* SPDX-License-Identifier: Apache-2.0 */
/* Delivering as a handler's thread does, this many entries at a time. */
#ifndef KI_TESTS_DELIVER_H
#define KI_TESTS_DELIVER_H

#include "handler/listener.h"

/* Delivers up to `max` entries; fewer when there are no more. Returns how many. */
static inline size_t deliver_some(ki_listener *listener, size_t max)
{
    size_t n = 0;
    while (n < max && ki_listener_deliver(listener))
        n++;
    return n;
}

#endif
