/* SPDX-License-Identifier: Apache-2.0 */
/* rcu - read sections, and grace periods that can be asked for without waiting.
 *
 *   From:     readers of a store; store/reclaim.c, store/store.c
 *   To:       membarrier(2), where the system has it
 *   Locks:    none, neither for readers nor for writers, except that of util/fork.h in ki_rcu_begin().
 *   Not here: what is freed after a grace period; threads; who is told that one is over: nobody, so one asks.
 *
 * What this relies on: a thing is put out of reach, and then a grace period begins. That has passed when
 * every section has ended that had begun before; then nobody has the thing any more.
 *
 * Each thread has a word of its own, which says since which epoch it is inside a section, or 0. A grace
 * period begins with a new epoch, and has passed when no word says an older one. A section that sees the new
 * epoch also sees that the thing is out of reach (acquire, release). Of a section that began shortly before,
 * the word has to be seen by who asks, or it must not have found the thing: a store, a fence and a load on
 * either side. The fence of readers is left out where membarrier() can have it carried out by all threads at
 * once, so a section costs two plain stores.
 *
 * The words lie in blocks that are never freed and are found without a lock, so that a fork at any moment
 * leaves nothing behind that is half done. A thread for which there is no word, because memory is out,
 * is counted.
 */
#ifndef KI_UTIL_LOOP_RCU_H
#define KI_UTIL_LOOP_RCU_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How deep sections nest, in the lower bits of a word; above it is the epoch. */
#define KI_RCU_DEPTH_MASK ((uint64_t)0xffff)
#define KI_RCU_EPOCH ((uint64_t)0x10000)

/* A cache line for each, so that no reader slows down another. */
typedef struct ki_rcu_reader {
    _Alignas(64) _Atomic uint64_t section; /* written by its thread alone */
    _Atomic bool is_taken;
} ki_rcu_reader;

extern _Atomic uint64_t ki_rcu_epoch;
extern _Atomic bool ki_rcu_needs_fence;          /* of readers */
extern _Thread_local ki_rcu_reader *ki_rcu_self; /* NULL: it has none */

/* What a section does the first time in a thread, or without a word. */
void ki_rcu_read_lock_slowly(void);
void ki_rcu_read_unlock_slowly(void);
bool ki_rcu_is_counted(void);

/* Begins a section without a word. */
void ki_rcu_count_this_thread(void);

/* A full fence. */
void ki_rcu_fence(void);

/* The word changes by one store, so a signal handler may read in the middle of it. */
static inline void ki_rcu_read_lock(void)
{
    ki_rcu_reader *self = ki_rcu_self;
    if (self == NULL) {
        ki_rcu_read_lock_slowly();
        return;
    }
    /* Relaxed: its own. */
    uint64_t section = atomic_load_explicit(&self->section, memory_order_relaxed);
    if (section != 0) {
        atomic_store_explicit(&self->section, section + 1, memory_order_relaxed);
        return;
    }
    /* Acquire: who sees a new epoch sees what was put out of reach before it. Release: who sees the new word
     * knows that the section before it has ended. */
    section = atomic_load_explicit(&ki_rcu_epoch, memory_order_acquire) + 1;
    atomic_store_explicit(&self->section, section, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ki_rcu_needs_fence,
                             memory_order_relaxed)) /* set before this thread had a word */
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
    /* Release: what was read in the section comes before its end. */
    atomic_store_explicit(&self->section, is_last ? 0 : section - 1, memory_order_release);
}

/* Whether this thread is inside a read section; there it may not wait for a writer or a grace period. */
static inline bool ki_rcu_is_reading(void)
{
    ki_rcu_reader *self = ki_rcu_self;
    if (self == NULL)
        return ki_rcu_is_counted();
    return atomic_load_explicit(&self->section, memory_order_relaxed) != 0;
}

/* To be called before the first grace period, and without a lock: from then on a child of fork() knows that
 * the other threads, and their sections, are gone. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_rcu_begin(void);

/* Begins a grace period, for what the caller has put out of reach before.
 * Returns its number, which is not 0. */
uint64_t ki_rcu_begin_grace(void);

/* Whether it has passed: then what was put out of reach before it may be freed. Never waits. */
bool ki_rcu_has_passed(uint64_t grace);

/* Returns when it has. Never inside a section. */
void ki_rcu_wait(uint64_t grace);

/* For a loop that asks again and again: lets others run, and rests for a moment after some rounds. */
void ki_rcu_rest(unsigned round);

#endif
