/* SPDX-License-Identifier: Apache-2.0 */
/* callback - records that a thread is inside a function of the user, where it must not wait.
 *
 *   From:     client/, reflector/reflector.c, feed/ (around callbacks); queue/, rest/, informer/ (calls that
 *             wait); controller/controller_work.c (workers); rest/rest_call.c (reconciles); also
 *             controller/controller_run.c, controller/leader.c, controller/recorder_add.c, reflector/life.c,
 *             reflector/source.c
 *   To:       util/loop/loop.h, util/loop/rcu.h
 *   Locks:    none; each thread has its own count.
 *   Not here: waiting (client/client.h).
 */
#ifndef KI_CLIENT_CALLBACK_H
#define KI_CLIENT_CALLBACK_H

#include <kinformer/common.h>
#include <stdbool.h>

/* Enclose each call of a user's function outside a loop's job. Waiting is not allowed between the two. */
void ki_callback_enter(void);
void ki_callback_leave(void);

/* Enclose a user's function on a worker's own thread. It may wait for anything except the end of a client,
 * which waits for the worker. */
void ki_callback_enter_worker(void);
void ki_callback_leave_worker(void);
bool ki_callback_is_in_worker(void);

/* Set around a reconcile function, on any thread, and around the callbacks of the calls that it has started.
 * Returns the previous state, which the caller restores. */
bool ki_callback_set_reconcile(bool is_in_reconcile);
bool ki_callback_is_in_reconcile(void);

/* Returns 0 where waiting is allowed; KI_ERR_WOULD_DEADLOCK inside a callback, a job or a read section. */
KI_NODISCARD int ki_client_may_wait(void);

#endif
