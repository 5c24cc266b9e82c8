/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors - tracks open descriptors, so that a forked child can close its copies.
 *
 *   From:     http/request_options.c (connections); also http/http.c, http/sockets.c, http/transfer_send.c
 *   To:       close()
 *   Locks:    one mutex, a leaf, held throughout a fork(), so that the list is consistent in a child.
 *   Not here: opening descriptors, and closing them in the process that opened them.
 */
#ifndef KI_UTIL_LOOP_DESCRIPTORS_H
#define KI_UTIL_LOOP_DESCRIPTORS_H

#include <sys/types.h>

#include "util/fork.h"
#include "util/thread.h"

/* A descriptor and the file it refers to. The number alone is not enough: libcurl 7.88 closes a socket that
 * is still connecting without a callback, and the number may be reused. */
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

/* Reserves space for `more` descriptors. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_descriptors_reserve(ki_descriptors *descriptors, size_t more)
    KI_EXCLUDES(descriptors->mu);

/* Hold this lock while you open, move or close a descriptor and record that, so that no child is forked in
 * between. */
void ki_descriptors_lock(ki_descriptors *descriptors) KI_ACQUIRE(descriptors->mu);
void ki_descriptors_unlock(ki_descriptors *descriptors) KI_RELEASE(descriptors->mu);

/* Records a descriptor; replaces an entry with the same number. Cannot fail if space was reserved.
 * Otherwise, when out of memory, the descriptor is not recorded, and a child leaves it open. */
void ki_descriptors_add_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Call this before you close the descriptor, because its number may be reused. A descriptor that was never
 * added is allowed. */
void ki_descriptors_remove_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Closes all descriptors that still refer to the recorded file, and forgets all entries. For a forked
 * child, where nothing else uses them. */
void ki_descriptors_close_all(ki_descriptors *descriptors) KI_EXCLUDES(descriptors->mu);

#endif
