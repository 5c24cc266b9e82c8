/* SPDX-License-Identifier: Apache-2.0 */
/* clock - the source of time for the whole library; a simulation can replace it.
 *
 *   From:     all code that has deadlines or measures time
 *   To:       CLOCK_BOOTTIME, CLOCK_REALTIME; or a virtual clock
 *   Locks:    none; any thread may read while another moves a virtual clock.
 *   Not here: waiting (util/thread.h, the loops); dates (<kinformer/timestamp.h>).
 */
#ifndef KI_UTIL_CLOCK_H
#define KI_UTIL_CLOCK_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Get one from ki_clock_real() or ki_clock_init_virtual(). Readers borrow it. */
typedef struct ki_clock {
    bool is_virtual;
    _Atomic uint64_t now_ns;        /* virtual only */
    _Atomic int64_t wall_offset_ns; /* virtual only: wall time - now_ns */
} ki_clock;

/* The system's clock, which is never freed. */
const ki_clock *ki_clock_real(void);

/* A clock that stands still until it is moved. It starts at `now_ns`, and its calendar at `wall_ns`. */
void ki_clock_init_virtual(ki_clock *clock, uint64_t now_ns, int64_t wall_ns);

/* Time since some fixed moment. Never goes back; continues while the machine is suspended. */
uint64_t ki_clock_now_ns(const ki_clock *clock);
uint64_t ki_clock_now_ms(const ki_clock *clock);

/* Calendar time since 1970 in UTC. May jump either way: use it for display, never for a deadline. */
int64_t ki_clock_wall_ns(const ki_clock *clock);

/* Virtual clocks only. Moves the time and the calendar forward. */
void ki_clock_advance_ns(ki_clock *clock, uint64_t delta_ns);
void ki_clock_advance_ms(ki_clock *clock, uint64_t delta_ms);
void ki_clock_set_now_ns(ki_clock *clock, uint64_t now_ns);

/* Virtual clocks only: sets the time of day; the monotonic time is unaffected. */
void ki_clock_set_wall_ns(ki_clock *clock, int64_t wall_ns);

#endif
