/* SPDX-License-Identifier: Apache-2.0 */
/* micro_time - times as Kubernetes writes them in JSON: Time, with whole seconds, and MicroTime.
 *
 *   From:     controller/lease.c, controller/event_text.c
 *   To:       <kinformer/json.h>, <kinformer/timestamp.h>
 *   Locks:    none.
 */
#ifndef KI_CONTROLLER_MICRO_TIME_H
#define KI_CONTROLLER_MICRO_TIME_H

#include <kinformer/json.h>

/* Writes a member `name` with a value like "2026-11-15T20:45:57Z". A time before 1970 or after the year 9999
 * is written as 1970. */
void ki_write_time(ki_json_writer *writer, ki_str name, int64_t wall_ns);

/* The same with microseconds: "2026-11-15T20:45:57.000000Z". */
void ki_write_micro_time(ki_json_writer *writer, ki_str name, int64_t wall_ns);

#endif
