/* SPDX-License-Identifier: Apache-2.0 */
/* decode_run - feeds a body to a decoder in any split, and records the results.
 *
 *   From:     tests and fuzz targets of the decoders
 *   To:       reflector/body_decoder.h; its own memory is malloc's and not the library's
 *
 * The log is text, one line for each result of a decoder, so that two runs over the same body can be compared
 * at once:
 *
 *   METADATA 349 continue "abc" remaining 5          OBJECT default/web {"kind":"Pod",…}
 *   REFUSED default/web KI_ERR_METADATA metadata.uid is not a string          END
 *   ADDED default/web {"kind":"Pod",…}               BOOKMARK 349                BOOKMARK 349 INITIAL
 *   ERROR 410 Expired too old                        REFUSED ADDED default/web KI_ERR_METADATA …
 *   FAILED KI_ERR_JSON_SYNTAX 12 message             (the error and its offset, of feeding or of the end)
 */
#ifndef KI_TESTS_SUPPORT_DECODE_DECODE_RUN_H
#define KI_TESTS_SUPPORT_DECODE_DECODE_RUN_H

#include <stdio.h>

#include "reflector/body_decoder.h"
#include "util/random.h"

/* How the bytes arrive. Zeroed: all at once. */
typedef struct decode_split {
    size_t piece;      /* bytes in each piece; 0: all that are left */
    ki_random *random; /* if set, chooses all lengths instead, up to 200 bytes */
} decode_split;

/* A zeroed struct is empty. */
typedef struct decode_run {
    ki_object **objects; /* in the order in which they arrived */
    size_t object_count;
    size_t refused_count;
    int code; /* 0, or the error in the last line of the log */
    ki_error error;
    char *log; /* NUL-terminated; NULL before a run */
    size_t log_len;
    /* internal to decode_run.c */
    size_t object_cap;
    FILE *out;
} decode_run;

void decode_run_fini(decode_run *run);

/* Feeds a body to a new decoder until it is used up or the decoder fails; then the end. Ends the program if
 * the decoder breaks its contract: uses too many bytes, or none forever. */
void decode_run_decoder(decode_run *run, ki_body_decoder *decoder, ki_str body, decode_split split);

/* The same, with its own decoder. */
void decode_run_form(decode_run *run, ki_body_form form, ki_object_plan *plan, ki_str body,
                     decode_split split);

#endif
