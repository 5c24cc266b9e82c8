/* SPDX-License-Identifier: Apache-2.0 */
/* age - formats the time since a timestamp as kubectl does.
 *
 *   From:     apiserver/show/
 *   Locks:    none
 *   Not here: reading the clock
 */
#ifndef KI_APISERVER_VALUE_AGE_H
#define KI_APISERVER_VALUE_AGE_H

#include <kinformer/common.h>

enum { KI_AS_AGE_BYTES = 48 };

/* "78s", "3m5s", "5h10m", "3d4h", "2y30d". */
void ki_as_duration_write(int64_t seconds, char out[KI_AS_AGE_BYTES]);
/* The time since `since`, or "<unknown>" if `since` is not a valid time. */
void ki_as_age_write(ki_str since, int64_t now, char out[KI_AS_AGE_BYTES]);

#endif
