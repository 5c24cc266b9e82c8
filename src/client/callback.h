/* SPDX-License-Identifier: Apache-2.0 */
/* callback - records that a thread is inside a function of the user, where it must not wait.
 *
 *   From:     client/, reflector/reflector.c, feed/ (around callbacks); queue/, rest/, informer/ (calls that
 *             wait)
 *   To:       util/loop/loop.h, util/loop/rcu.h
 *   Locks:    none; each thread has its own count.
 *   Not here: waiting (client/client.h).
 */
#ifndef KI_CLIENT_CALLBACK_H
#define KI_CLIENT_CALLBACK_H

#include <kinformer/common.h>

/* Around each call of a user's function outside a loop's job: inside, waiting is not allowed. */
void ki_callback_enter(void);
void ki_callback_leave(void);

/* 0, or KI_ERR_WOULD_DEADLOCK inside a callback, a job or a read section, where waiting is not allowed. */
KI_NODISCARD int ki_client_may_wait(void);

#endif
