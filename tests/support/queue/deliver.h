/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers entries as a handler's thread does, a given number at a time. */
#ifndef KI_TESTS_SUPPORT_QUEUE_DELIVER_H
#define KI_TESTS_SUPPORT_QUEUE_DELIVER_H

#include "handler/listener.h"

/* Delivers up to `max` entries, fewer if there are no more. Returns their number. */
static inline size_t deliver_some(ki_listener *listener, size_t max)
{
    size_t n = 0;
    while (n < max && ki_listener_deliver(listener))
        n++;
    return n;
}

#endif
