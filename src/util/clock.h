/* SPDX-License-Identifier: Apache-2.0 */
/* clock - where all code of the library takes the time from, so that a simulation can give it another one.
 *
 *   From:     everywhere that has a deadline or measures
 *   To:       CLOCK_BOOTTIME, CLOCK_REALTIME; or what a simulation says
 *   Locks:    none; any thread may read while another moves a virtual clock.
 *   Not here: waiting (util/thread.h, the loops); dates (<kinformer/timestamp.h>).
 */
#ifndef KI_UTIL_CLOCK_H
#define KI_UTIL_CLOCK_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Borrowed by who reads it; see the two makers below. */
typedef struct ki_clock {
    bool is_virtual;
    _Atomic uint64_t now_ns;        /* virtual only */
    _Atomic int64_t wall_offset_ns; /* virtual only: wall time - now_ns */
} ki_clock;

/* The clock of the machine. It lives for ever. */
const ki_clock *ki_clock_real(void);

/* A clock that stands still until it is moved: `now_ns` as it begins, `wall_ns` what the calendar says
 * then. */
void ki_clock_init_virtual(ki_clock *clock, uint64_t now_ns, int64_t wall_ns);

/* Time since some fixed moment. Never goes back, and goes on while the machine is suspended. */
uint64_t ki_clock_now_ns(const ki_clock *clock);
uint64_t ki_clock_now_ms(const ki_clock *clock);

/* Calendar time since 1970 in UTC. May jump either way: for what people read, never for a deadline. */
int64_t ki_clock_wall_ns(const ki_clock *clock);

/* Virtual clocks only. Moving the time moves the calendar with it; it never goes back. */
void ki_clock_advance_ns(ki_clock *clock, uint64_t delta_ns);
void ki_clock_advance_ms(ki_clock *clock, uint64_t delta_ms);
void ki_clock_set_now_ns(ki_clock *clock, uint64_t now_ns);

/* Virtual clocks only: the calendar jumps, the time does not notice. */
void ki_clock_set_wall_ns(ki_clock *clock, int64_t wall_ns);

#endif
