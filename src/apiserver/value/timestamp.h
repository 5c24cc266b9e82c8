/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp - checks RFC 3339 times, and finds where an invalid one deviates.
 *
 *   From:     apiserver/validate/
 *   To:       the messages of validation
 *   Locks:    none
 *   Not here: the value of the time
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

#endif
