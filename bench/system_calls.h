/* SPDX-License-Identifier: Apache-2.0 */
/* system_calls - counts the calls with which this process receives and waits.
 *
 *   From:     http_sync.c
 *   To:       the kernel
 *
 * The functions of the C library are replaced, for libcurl too, in each benchmark that uses them.
 */
#ifndef BENCH_SYSTEM_CALLS_H
#define BENCH_SYSTEM_CALLS_H

#include <stdint.h>

/* recv(), poll(), epoll_wait() and epoll_ctl(), until now. */
uint64_t system_calls_count(void);

#endif
