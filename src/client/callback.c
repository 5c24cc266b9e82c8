/* SPDX-License-Identifier: Apache-2.0 */
#include "client/callback.h"

#include <kinformer/error.h>

#include "util/fork.h"
#include "util/loop/loop.h"
#include "util/loop/rcu.h"

static _Thread_local unsigned callback_depth;
static _Thread_local unsigned callback_generation; /* the process in which the depth was counted: see
                                                    * util/fork.h */

/* A child that was forked inside a callback does not return from it, so its depth begins at 0. */
static unsigned *depth(void)
{
    unsigned generation = ki_fork_generation();
    if (callback_generation != generation)
        callback_depth = 0;
    callback_generation = generation;
    return &callback_depth;
}

void ki_callback_enter(void)
{
    ++*depth();
}

void ki_callback_leave(void)
{
    if (*depth() > 0)
        callback_depth--;
}

/* A child that was forked inside a worker keeps this flag, which only means that it waits less. */
static _Thread_local bool is_in_worker;

void ki_callback_enter_worker(void)
{
    is_in_worker = true;
}

void ki_callback_leave_worker(void)
{
    is_in_worker = false;
}

bool ki_callback_is_in_worker(void)
{
    return is_in_worker;
}

static _Thread_local bool is_in_reconcile;

bool ki_callback_set_reconcile(bool is_in)
{
    bool before = is_in_reconcile;
    is_in_reconcile = is_in;
    return before;
}

bool ki_callback_is_in_reconcile(void)
{
    return is_in_reconcile;
}

int ki_client_may_wait(void)
{
    return *depth() > 0 || ki_loop_is_current(NULL) || ki_rcu_is_reading() ? KI_ERR_WOULD_DEADLOCK : 0;
}
