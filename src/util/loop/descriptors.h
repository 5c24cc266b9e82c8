/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors - tracks open descriptors, so that a forked child can close its copies.
 *
 *   From:     http/easy.c (connections)
 *   To:       close()
 *   Locks:    one of its own, a leaf, held throughout a fork(), so that the list is consistent in a child.
 *   Not here: opening, and closing in the process that opened them.
 */
#ifndef KI_UTIL_LOOP_DESCRIPTORS_H
#define KI_UTIL_LOOP_DESCRIPTORS_H

#include <sys/types.h>

#include "util/fork.h"
#include "util/thread.h"

/* A descriptor and the file behind it. libcurl 7.88 closes a socket that is still connecting without a
 * callback, and the number may be reused. */
typedef struct ki_descriptor {
    int fd;
    dev_t device;
    ino_t inode;
} ki_descriptor;

/* A zeroed struct is closed. */
typedef struct ki_descriptors {
    ki_fork_hook hook;
    bool is_begun;
    ki_mutex mu;
    ki_descriptor *open; /* guarded by mu, as all below */
    size_t count;
    size_t capacity;
} ki_descriptors;

/* The struct must not be moved. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_descriptors_init(ki_descriptors *descriptors);
void ki_descriptors_fini(ki_descriptors *descriptors);

/* Reserves space for this many more. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_descriptors_reserve(ki_descriptors *descriptors, size_t more)
    KI_EXCLUDES(descriptors->mu);

/* Hold this while a descriptor is opened, moved or closed and recorded: no child is forked in between. */
void ki_descriptors_lock(ki_descriptors *descriptors) KI_ACQUIRE(descriptors->mu);
void ki_descriptors_unlock(ki_descriptors *descriptors) KI_RELEASE(descriptors->mu);

/* Replaces an entry with the same number. Never fails if space was reserved; otherwise, when out of
 * memory, the descriptor is not recorded and a child leaves it open. */
void ki_descriptors_add_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Call this before the descriptor is closed, because its number may be reused. A descriptor that was never
 * added is allowed. */
void ki_descriptors_remove_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Closes all descriptors that still refer to the same file, and forgets them. For a child, where nothing
 * else uses them. */
void ki_descriptors_close_all(ki_descriptors *descriptors) KI_EXCLUDES(descriptors->mu);

#endif
