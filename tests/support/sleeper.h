/* SPDX-License-Identifier: Apache-2.0 */
/* sleeper - a thread that stays in a read section until it is told to leave.
 *
 *   From:     tests of which calls wait for readers
 */
#ifndef KI_TESTS_SUPPORT_SLEEPER_H
#define KI_TESTS_SUPPORT_SLEEPER_H

#include <kinformer/store.h>
#include <stdbool.h>

#include "util/thread.h"

typedef struct sleeper {
    ki_thread thread;
    ki_mutex mu;
    ki_cond changed;
    const ki_store *walked; /* it stays in a callback of ki_store_walk(); NULL: between lock and unlock */
    bool is_inside;         /* guarded by mu, like the next field */
    bool may_leave;
} sleeper;

/* Returns when the thread is in the section. `walked` may be NULL; otherwise it must not be empty. */
void sleeper_begin(sleeper *s, const ki_store *walked);

/* Lets the thread leave, and waits until it has ended. */
void sleeper_end(sleeper *s);

#endif
