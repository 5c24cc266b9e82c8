/* SPDX-License-Identifier: Apache-2.0 */
/* prefetch - loads a cache line that will be written soon.
 *
 *   From:     workqueue/arrivals.h, workqueue/entry.h, workqueue/keys.h, workqueue/queue.c
 *
 * For a line that another processor has written, __builtin_prefetch() is not enough on x86-64: unless the
 * compiler may use the instruction for writes, it prefetches for reading, and the write then waits until the
 * other processor has given up its copy. Processors since 2006 execute this instruction, or ignore it.
 */
#ifndef KI_UTIL_PREFETCH_H
#define KI_UTIL_PREFETCH_H

static inline void ki_prefetch_write(const void *address)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" ::"m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
