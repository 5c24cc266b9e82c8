/* SPDX-License-Identifier: Apache-2.0 */
/* annotations - which locks a function needs, for clang's -Wthread-safety; empty for other compilers.
 *
 *   From:     all code that locks: `void fifo_grow_locked(ki_delta_fifo *fifo) KI_REQUIRES(fifo->mu);`
 *   Not here: annotations of fields; a comment says `guarded by mu`.
 */
#ifndef KI_UTIL_ANNOTATIONS_H
#define KI_UTIL_ANNOTATIONS_H

#if defined(__clang__)
#define KI_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define KI_THREAD_ATTRIBUTE(attribute)
#endif

/* For a function that only assertions call, and that is unused if they are disabled. */
#define KI_DEBUG_ONLY __attribute__((unused))

/* The caller holds the mutex, and still holds it afterwards. */
#define KI_REQUIRES(mutex) KI_THREAD_ATTRIBUTE(requires_capability(mutex))

/* The caller does not hold the mutex: the function takes it, or waits for a thread that does. */
#define KI_EXCLUDES(mutex) KI_THREAD_ATTRIBUTE(locks_excluded(mutex))

/* For util/thread.h: the mutex type, and the functions that lock and unlock it. */
#define KI_CAPABILITY(name) KI_THREAD_ATTRIBUTE(capability(name))
#define KI_ACQUIRE(mutex) KI_THREAD_ATTRIBUTE(acquire_capability(mutex))
#define KI_RELEASE(mutex) KI_THREAD_ATTRIBUTE(release_capability(mutex))
#define KI_NO_THREAD_SAFETY_ANALYSIS KI_THREAD_ATTRIBUTE(no_thread_safety_analysis)

#endif
