/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp - whether a text is a time of RFC 3339, and where it is none.
 *
 *   From:     validation
 *   To:       its messages
 *   Locks:    none
 *   Not here: what time it is
 */
#ifndef KI_APISERVER_VALUE_TIMESTAMP_H
#define KI_APISERVER_VALUE_TIMESTAMP_H

#include <kinformer/common.h>
#include <stdbool.h>

/* What stands there instead of what is wanted, in the words of Go's layouts; NULL: the time is good. */
struct ki_as_time_fault {
    ki_str rest;
    const char *wanted;
};

/* With `is_micro` exactly six digits of a second, else any number of them or none. */
struct ki_as_time_fault ki_as_time_check(ki_str text, bool is_micro);

#endif
