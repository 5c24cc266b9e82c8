/* SPDX-License-Identifier: Apache-2.0 */
/* rcu - read sections and grace periods, of liburcu's flavour that asks no thread to register.
 *
 *   From:     readers of a store; cache/reclaim.c
 *   To:       liburcu-bp
 *   Locks:    none for readers. ki_rcu_synchronize() waits for the readers that are inside a section.
 *   Not here: what is freed after a grace period; call_rcu(), which would start a thread that never ends.
 *
 * Sections and grace periods are calls into liburcu, whose inner workings a thread sanitizer does not see.
 * So it is told the one thing that they mean: what a reader did in a section comes before the end of a
 * grace period that waited for it. Nothing else is; memory that is freed too early, or changed while it is
 * read, is still a race.
 */
#ifndef KI_CACHE_RCU_H
#define KI_CACHE_RCU_H

#include <stdbool.h>
#include <urcu/urcu-bp.h>

#if defined(__SANITIZE_THREAD__)
#define KI_RCU_TELL_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KI_RCU_TELL_SANITIZER 1
#endif
#endif

#ifdef KI_RCU_TELL_SANITIZER
#include <sanitizer/tsan_interface.h>

/* Its address stands for the order; of reclaim.c. */
extern char ki_rcu_sections;
#endif

static inline void ki_rcu_read_lock(void)
{
    urcu_bp_read_lock();
}

static inline void ki_rcu_read_unlock(void)
{
#ifdef KI_RCU_TELL_SANITIZER
    __tsan_release(&ki_rcu_sections);
#endif
    urcu_bp_read_unlock();
}

/* Whether this thread is inside a read section; there it may not wait for a writer or a grace period. */
static inline bool ki_rcu_is_reading(void)
{
    return urcu_bp_read_ongoing() != 0;
}

/* Returns when every section that had begun has ended. Never from inside of one. */
static inline void ki_rcu_synchronize(void)
{
    urcu_bp_synchronize_rcu();
#ifdef KI_RCU_TELL_SANITIZER
    __tsan_acquire(&ki_rcu_sections);
#endif
}

#endif
