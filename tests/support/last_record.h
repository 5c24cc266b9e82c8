/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the last log record of the process, and counts them. */
#ifndef TESTS_SUPPORT_LAST_RECORD_H
#define TESTS_SUPPORT_LAST_RECORD_H

typedef struct last_record {
    char message[512];
    int count;
} last_record;

/* Records warnings and errors until last_record_end(). */
void last_record_begin(last_record *record);
void last_record_end(void);

#endif
