/* SPDX-License-Identifier: Apache-2.0 */
/* json_samples - texts written by hand, one for each rule of RFC 8259.
 *
 *   From:     tests of code that scans JSON
 */
#ifndef KI_TESTS_SUPPORT_JSON_JSON_SAMPLES_H
#define KI_TESTS_SUPPORT_JSON_JSON_SAMPLES_H

#include <kinformer/common.h>

/* One value, with optional white space around it. */
typedef struct json_good {
    ki_str text;
    ki_str kept; /* without white space between tokens */
} json_good;

/* A sequence of values that has a mistake. */
typedef struct json_bad {
    ki_str text;
    int code;
    uint64_t offset;
} json_bad;

extern const json_good json_good_samples[];
extern const size_t json_good_count;
extern const json_bad json_bad_samples[];
extern const size_t json_bad_count;

#endif
