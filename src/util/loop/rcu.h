/* SPDX-License-Identifier: Apache-2.0 */
/* rcu - read sections, and grace periods that can be polled without waiting.
 *
 *   From:     all code that reads a store, or must not wait inside a read section; store/reclaim.c and
 *             store/store.c, the writers
 *   To:       membarrier(2), where the system has it
 *   Locks:    none for readers and writers, except the lock of util/fork.h in ki_rcu_begin().
 *   Not here: freeing after a grace period; threads; notification that a period has passed: callers poll.
 *
 * The contract: a writer unlinks an element, then begins a grace period. The period has passed when every
 * section that had begun before it has ended. Then no reader can still use the element.
 *
 * Each thread has a word that holds the epoch in which its section began, or 0. A grace period begins with
 * a new epoch, and has passed when no word holds an older one. A section that sees the new epoch also sees
 * that the element is unlinked (acquire, release). If a section began shortly before: the writer unlinks,
 * fences and reads the words; the reader writes its word, fences and looks for the element. So at least one
 * sees the other's store. If membarrier() is available, the writer executes a fence on all threads at
 * once and readers need none; a section then costs two plain stores.
 *
 * The words are in blocks that are never freed and are found without a lock, so a fork at any moment leaves
 * them consistent. If a thread gets no word, because memory is exhausted, its sections are only counted.
 */
#ifndef KI_UTIL_LOOP_RCU_H
#define KI_UTIL_LOOP_RCU_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The nesting depth of sections, in the lower bits of a word; the epoch is above it. */
#define KI_RCU_DEPTH_MASK ((uint64_t)0xffff)
#define KI_RCU_EPOCH ((uint64_t)0x10000)

/* Each reader has its own cache line, so that readers do not slow each other down. */
typedef struct ki_rcu_reader {
    _Alignas(64) _Atomic uint64_t section; /* written only by its thread */
    _Atomic bool is_taken;
} ki_rcu_reader;

extern _Atomic uint64_t ki_rcu_epoch;
extern _Atomic bool ki_rcu_needs_fence;          /* readers must execute a fence */
extern _Thread_local ki_rcu_reader *ki_rcu_self; /* NULL if this thread has none */

/* For the first section of a thread, or if the thread has no word. */
void ki_rcu_read_lock_slowly(void);
void ki_rcu_read_unlock_slowly(void);
bool ki_rcu_is_counted(void);

/* Begins a section without a word. */
void ki_rcu_count_this_thread(void);

/* A full fence. */
void ki_rcu_fence(void);

/* The word changes with one store, so a signal handler may interrupt this and have a section too. */
static inline void ki_rcu_read_lock(void)
{
    ki_rcu_reader *self = ki_rcu_self;
    if (self == NULL) {
        ki_rcu_read_lock_slowly();
        return;
    }
    /* Relaxed: only this thread writes it. */
    uint64_t section = atomic_load_explicit(&self->section, memory_order_relaxed);
    if (section != 0) {
        atomic_store_explicit(&self->section, section + 1, memory_order_relaxed);
        return;
    }
    /* Acquire: a reader that sees a new epoch sees everything that was unlinked before it. Release: a
     * writer that sees the new word knows that the previous section has ended. */
    section = atomic_load_explicit(&ki_rcu_epoch, memory_order_acquire) + 1;
    atomic_store_explicit(&self->section, section, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ki_rcu_needs_fence,
                             memory_order_relaxed)) /* relaxed: it was set before this thread got its word */
        ki_rcu_fence();
}

static inline void ki_rcu_read_unlock(void)
{
    ki_rcu_reader *self = ki_rcu_self;
    if (self == NULL) {
        ki_rcu_read_unlock_slowly();
        return;
    }
    uint64_t section = atomic_load_explicit(&self->section, memory_order_relaxed);
    bool is_last = (section & KI_RCU_DEPTH_MASK) <= 1;
    /* Release: reads in the section come before its end. */
    atomic_store_explicit(&self->section, is_last ? 0 : section - 1, memory_order_release);
}

/* Whether this thread is in a read section, where it must not wait for a writer or a grace period. */
static inline bool ki_rcu_is_reading(void)
{
    ki_rcu_reader *self = ki_rcu_self;
    if (self == NULL)
        return ki_rcu_is_counted();
    return atomic_load_explicit(&self->section, memory_order_relaxed) != 0;
}

/* Call this before the first grace period, without holding a lock. From then on a forked child knows that
 * the other threads and their sections are gone. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_rcu_begin(void);

/* Begins a grace period for everything that the caller has unlinked before. Returns its number, which is
 * never 0. */
uint64_t ki_rcu_begin_grace(void);

/* Whether the grace period has passed; then everything unlinked before it may be freed. Never waits. */
bool ki_rcu_has_passed(uint64_t grace);

/* Waits until the grace period has passed. Must not be called in a section. */
void ki_rcu_wait(uint64_t grace);

/* For a polling loop: yields, and after some rounds sleeps for a moment. */
void ki_rcu_rest(unsigned round);

#endif
