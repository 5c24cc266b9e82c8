/* SPDX-License-Identifier: Apache-2.0 */
/* bodies - the bodies of all recorded responses.
 *
 *   From:     tests that need every one of them
 *   To:       support/decode/fixtures.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_BODIES_H
#define KI_TESTS_SUPPORT_DECODE_BODIES_H

#include "support/decode/fixtures.h"

typedef struct recorded_body {
    char name[64];
    fixture file;
    ki_str text;
    int is_json; /* by its Content-Type, and not compressed; a watch is a sequence of values */
} recorded_body;

typedef struct recorded_bodies {
    recorded_body *list;
    size_t count;
} recorded_bodies;

/* Ends the program if a file cannot be read. */
recorded_bodies recorded_bodies_load(void);
void recorded_bodies_free(recorded_bodies *bodies);

#endif
