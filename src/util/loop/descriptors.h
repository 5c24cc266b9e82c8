/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors - the numbers of what is open, so that a child of the process can close its copies.
 *
 *   From:     http/easy.c (connections)
 *   To:       close()
 *   Locks:    one of its own, a leaf, held throughout a fork(): a child finds the list whole.
 *   Not here: opening, and closing in the process that opened them.
 */
#ifndef KI_UTIL_LOOP_DESCRIPTORS_H
#define KI_UTIL_LOOP_DESCRIPTORS_H

#include <sys/types.h>

#include "util/fork.h"
#include "util/thread.h"

/* A number, and what it led to: libcurl 7.88 closes a socket that was still being connected without a word,
 * and the number may be another's then. */
typedef struct ki_descriptor {
    int fd;
    dev_t device;
    ino_t inode;
} ki_descriptor;

/* A zeroed one has ended. */
typedef struct ki_descriptors {
    ki_fork_hook hook;
    bool is_begun;
    ki_mutex mu;
    ki_descriptor *open; /* guarded by mu, as all below */
    size_t count;
    size_t capacity;
} ki_descriptors;

/* Stays where it is. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_descriptors_init(ki_descriptors *descriptors);
void ki_descriptors_fini(ki_descriptors *descriptors);

/* Makes room for so many more. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_descriptors_reserve(ki_descriptors *descriptors, size_t more)
    KI_EXCLUDES(descriptors->mu);

/* Around the opening, moving and closing of a descriptor: no child is made between that and the note of
 * it. */
void ki_descriptors_lock(ki_descriptors *descriptors) KI_ACQUIRE(descriptors->mu);
void ki_descriptors_unlock(ki_descriptors *descriptors) KI_RELEASE(descriptors->mu);

/* In the place of what was there under the same number. Never fails where there is room; without room and
 * memory it is not known, and a child leaves it open. */
void ki_descriptors_add(ki_descriptors *descriptors, int fd) KI_EXCLUDES(descriptors->mu);
void ki_descriptors_add_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Before it is closed, lest its number be another's. Takes one that was never added. */
void ki_descriptors_remove(ki_descriptors *descriptors, int fd) KI_EXCLUDES(descriptors->mu);
void ki_descriptors_remove_locked(ki_descriptors *descriptors, int fd) KI_REQUIRES(descriptors->mu);

/* Closes all of them that are still what they were, and forgets them.
 * In a child, where nobody else has them. */
void ki_descriptors_close_all(ki_descriptors *descriptors) KI_EXCLUDES(descriptors->mu);

#endif
