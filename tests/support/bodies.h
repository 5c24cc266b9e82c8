/* SPDX-License-Identifier: Apache-2.0 */
/* bodies - the bodies of all recorded answers.
 *
 *   From:     tests that want every one of them
 *   To:       support/fixtures.h
 */
#ifndef KI_TESTS_SUPPORT_BODIES_H
#define KI_TESTS_SUPPORT_BODIES_H

#include "support/fixtures.h"

typedef struct recorded_body {
    char name[64];
    fixture file;
    ki_str text;
    int is_json; /* as the answer says; a watch is a sequence of values. Neither compressed nor plain text. */
} recorded_body;

typedef struct recorded_bodies {
    recorded_body *list;
    size_t count;
} recorded_bodies;

/* Ends the program when a file cannot be read. */
recorded_bodies recorded_bodies_load(void);
void recorded_bodies_free(recorded_bodies *bodies);

#endif
