/* SPDX-License-Identifier: Apache-2.0 */
/* aside - a call on its own thread, for tests of whether a call waits. */
#ifndef KI_TESTS_SUPPORT_ASIDE_H
#define KI_TESTS_SUPPORT_ASIDE_H

#include <stdatomic.h>

#include "util/thread.h"

typedef struct aside {
    ki_thread thread;
    ki_thread_cb call;
    void *user;
    atomic_int is_done;
} aside;

/* Ends the program if no thread can be started. */
void aside_start(aside *call, ki_thread_cb function, void *user);

/* Whether it returns within this many milliseconds. */
int aside_ends_within(aside *call, int ms);

void aside_join(aside *call);

/* Sleeps long enough for a forbidden event to happen. */
void aside_pause(int ms);

#endif
