/* SPDX-License-Identifier: Apache-2.0 */
/* fork - hooks around fork(), and the number of forks before this process.
 *
 *   From:     all code that must be consistent in a child: client/client.c, store/store.c, util/loop/,
 *             queue/, workqueue/
 *   To:       pthread_atfork()
 *   Locks:    one mutex, held while a hook is added or removed and throughout a fork(). The hooks take their
 *             locks under it, so no thread may add or remove a hook while it holds a lock that a hook takes.
 *   Not here: what a child may do with the state it inherits.
 *
 * A child has only the calling thread. A lock that another thread held at the time of the fork stays
 * locked forever there, and the state that it guards may be inconsistent. So a hook takes such a lock
 * before the fork and releases it afterwards in both processes.
 */
#ifndef KI_UTIL_FORK_H
#define KI_UTIL_FORK_H

#include <kinformer/common.h>
#include <kinformer/error.h>

#include "util/list.h"
#include "util/thread.h"

/* Hooks of a lower order are prepared first and undone last; within one order the sequence is unspecified.
 * If a thread takes lock B while it holds lock A, the hook of B needs a higher order than that of A. */
typedef enum ki_fork_order {
    KI_FORK_STORES, /* a store's locks */
    KI_FORK_RCU,    /* grace periods, for which writers wait while they hold a store's locks */
    KI_FORK_LEAVES, /* locks under which nothing else is taken */
    KI_FORK_ORDERS
} ki_fork_order;

typedef enum ki_fork_phase {
    KI_FORK_PREPARE, /* before fork() */
    KI_FORK_PARENT,  /* after fork(), in the parent, also if it failed */
    KI_FORK_CHILD    /* after fork(), in the child */
} ki_fork_phase;

/* Embedded in its user. */
typedef struct ki_fork_hook ki_fork_hook;
struct ki_fork_hook {
    ki_fork_order order;
    ki_mutex *mutex; /* locked throughout the fork; NULL if there is `run` instead */
    void (*run)(ki_fork_hook *hook, ki_fork_phase phase); /* called on the thread that calls fork() */
    ki_list_node node;
};

/* Adds the hook, which runs at every fork() from now on. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_fork_add(ki_fork_hook *hook);

/* A hook that was never added is allowed. Works in a child as well. */
void ki_fork_remove(ki_fork_hook *hook);

/* Call these around a callback of the program if the caller holds a lock that a hook takes. In the callback,
 * nothing that has a hook may be created: that would wait for a fork() on another thread,
 * which waits for the lock. */
void ki_fork_bar(void);
void ki_fork_unbar(void);

/* Call this at the beginning of functions that create something with a hook. Returns 0, or
 * KI_ERR_WOULD_DEADLOCK between ki_fork_bar() and ki_fork_unbar(). */
KI_NODISCARD int ki_fork_check(ki_error *err);

/* A number that no ancestor of this process has: how many forks there are between this process and the one
 * that first called this. Process ids are not enough: a child in its own PID namespace may have the id of
 * its parent. */
unsigned ki_fork_generation(void);

#endif
