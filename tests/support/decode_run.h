/* SPDX-License-Identifier: Apache-2.0 */
/* decode_run - a body through a decoder in any split, and all that came of it.
 *
 *   From:     tests and fuzz targets of the decoders
 *   To:       api/decode/list_decoder.h, api/decode/watch_decoder.h, proto/proto_list.h, proto/proto_watch.h;
 *             its own memory is malloc's and not the library's
 *
 * The log is text, one line for each thing that a decoder gave out, so that two runs over the same body can
 * be compared at once:
 *
 *   METADATA 349 continue "abc" remaining 5          OBJECT default/web {"kind":"Pod",…}
 *   REFUSED default/web KI_ERR_METADATA metadata.uid is not a string          END
 *   ADDED default/web {"kind":"Pod",…}               BOOKMARK 349                BOOKMARK 349 INITIAL
 *   ERROR 410 Expired too old                        REFUSED ADDED default/web KI_ERR_METADATA …
 *   FAILED KI_ERR_JSON_SYNTAX 12 message             (the error and its offset, of feeding or of the end)
 */
#ifndef KI_TESTS_SUPPORT_DECODE_RUN_H
#define KI_TESTS_SUPPORT_DECODE_RUN_H

#include <stdio.h>

#include "api/decode/list_decoder.h"
#include "api/decode/watch_decoder.h"
#include "proto/proto_list.h"
#include "proto/proto_watch.h"
#include "util/random.h"

/* How the bytes arrive. Zeroed: all at once. */
typedef struct decode_split {
    size_t piece;      /* bytes in each; 0: all that is left */
    ki_random *random; /* decides all lengths, up to 200 bytes, instead */
} decode_split;

/* A zeroed one is empty. */
typedef struct decode_run {
    ki_object **objects; /* in the order in which they came */
    size_t object_count;
    size_t refused_count;
    int code; /* 0, or the error that the last line of the log tells of */
    ki_error error;
    char *log; /* NUL-terminated; NULL before a run */
    size_t log_len;
    /* of decode_run.c */
    size_t object_cap;
    FILE *out;
} decode_run;

void decode_run_fini(decode_run *run);

/* Feed a body to a new decoder until it is used up or the decoder fails; then the end. They end the program
 * when the decoder breaks its own promises: takes too many bytes, or none for ever. */
void decode_run_list(decode_run *run, ki_list_decoder *decoder, ki_str body, decode_split split);
void decode_run_watch(decode_run *run, ki_watch_decoder *decoder, ki_str body, decode_split split);

/* The same for bodies in protobuf. */
void decode_run_proto_list(decode_run *run, ki_proto_list *decoder, ki_str body, decode_split split);
void decode_run_proto_watch(decode_run *run, ki_proto_watch *decoder, ki_str body, decode_split split);

#endif
