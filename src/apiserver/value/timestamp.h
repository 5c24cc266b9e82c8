/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp - writes RFC 3339 times, and finds where an invalid one deviates.
 *
 *   From:     apiserver/validate/, apiserver/kind/proto.c, apiserver/patch/patch_apply.c, apiserver/verbs/,
 *             apiserver/serve/
 *   To:       the messages of validation
 *   Locks:    none
 *   Not here: the value of a time: <kinformer/timestamp.h>
 */
#ifndef KI_APISERVER_VALUE_TIMESTAMP_H
#define KI_APISERVER_VALUE_TIMESTAMP_H

#include <kinformer/common.h>
#include <stdbool.h>

/* Where an invalid time deviates: the rest of the text from there on, and what was expected there, in the
 * notation of Go's layouts. `wanted` is NULL if the time is valid. */
struct ki_as_time_fault {
    ki_str rest;
    const char *wanted;
};

/* With `is_micro`, exactly six fractional digits are required; otherwise any number of them is accepted. */
struct ki_as_time_fault ki_as_time_check(ki_str text, bool is_micro);

enum { KI_AS_TIME_BYTES = 32 };

/* Writes "2026-11-15T20:45:57Z"; unless micros is negative, with six digits as its fraction. False outside
 * the years 0 to 9999. */
bool ki_as_time_write(int64_t seconds, int micros, char out[KI_AS_TIME_BYTES]);
/* Writes the current time, in whole seconds. */
void ki_as_time_now(char out[KI_AS_TIME_BYTES]);

#endif
