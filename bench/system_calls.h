/* SPDX-License-Identifier: Apache-2.0 */
/* system_calls - counts the system calls with which this process receives and waits.
 *
 *   From:     http_sync.c
 *   To:       the kernel
 *
 * It replaces these functions of the C library, for libcurl too, in each benchmark that uses it.
 */
#ifndef BENCH_SYSTEM_CALLS_H
#define BENCH_SYSTEM_CALLS_H

#include <stdint.h>

/* Calls of recv(), poll(), epoll_wait() and epoll_ctl() so far. */
uint64_t system_calls_count(void);

#endif
