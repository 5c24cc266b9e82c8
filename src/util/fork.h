/* SPDX-License-Identifier: Apache-2.0 */
/* fork - what is done around fork(), and in which process something was made.
 *
 *   From:     client/client.c, store/store.c: whatever must be whole in a child
 *   To:       pthread_atfork()
 *   Locks:    one of its own, taken by whoever adds or removes a hook, and held throughout a fork(). The
 *             hooks take theirs under it, so nobody adds or removes a hook while holding one of those.
 *   Not here: what a child may do with what it has inherited.
 *
 * A child has the calling thread alone. A lock that another thread held at that moment stays held for ever
 * there, and what it guards may be half changed. So a hook takes such a lock before, and gives it back
 * afterwards in both processes.
 */
#ifndef KI_UTIL_FORK_H
#define KI_UTIL_FORK_H

#include <kinformer/common.h>

#include "util/list.h"

/* Hooks of a lower order are prepared first and undone last; within one order in no particular sequence. A
 * lock that is taken while another one is held belongs to a higher order than that. */
typedef enum ki_fork_order {
    KI_FORK_OUTER,  /* locks under which those of stores are taken */
    KI_FORK_STORES, /* a store's locks */
    KI_FORK_RCU,    /* grace periods, which writers wait for while they hold a store's locks */
    KI_FORK_LEAVES, /* locks under which nothing else is taken */
    KI_FORK_ORDERS
} ki_fork_order;

typedef enum ki_fork_phase {
    KI_FORK_PREPARE, /* before fork() */
    KI_FORK_PARENT,  /* after it, in the parent, also when it has failed */
    KI_FORK_CHILD    /* after it, in the child */
} ki_fork_phase;

/* Embedded in what it is for. */
typedef struct ki_fork_hook ki_fork_hook;
struct ki_fork_hook {
    ki_fork_order order;
    void (*run)(ki_fork_hook *hook, ki_fork_phase phase); /* on the thread that calls fork() */
    ki_list_node node;
};

/* From now on. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_fork_add(ki_fork_hook *hook);

/* Takes one that was never added. In a child as well. */
void ki_fork_remove(ki_fork_hook *hook);

/* A number that no ancestor of this process has: how many forks lie between it and the one that called this
 * first. Process ids would not do, for a child in a namespace of its own may have its parent's. */
unsigned ki_fork_generation(void);

#endif
