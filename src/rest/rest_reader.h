/* SPDX-License-Identifier: Apache-2.0 */
/* rest_reader - turns a server's response into a ki_rest_answer, piece by piece.
 *
 *   From:     rest/rest_call.c (io: head, body, end of each attempt); also rest/rest.c
 *   To:       the program, as described in <kinformer/rest.h>
 *   Locks:    none; belongs to io, then to the receiver of the answer.
 *   Not here: retrying.
 */
#ifndef KI_REST_REST_READER_H
#define KI_REST_REST_READER_H

#include <kinformer/rest.h>
#include <stdbool.h>

#include "api/decode/list_decoder.h"
#include "api/object/object_plan.h"
#include "http/response_head.h"

/* Maximum for the body of an error, which normally is a Status. */
#define KI_REST_ERROR_BYTES_MAX ((size_t)64 * 1024)

/* ki_rest_reader_fini() allows a zeroed struct. */
typedef struct ki_rest_reader {
    ki_object_plan *plan;
    size_t bytes_max;
    bool is_list;
    bool is_plain;        /* the body is not interpreted */
    bool may_be_dropped;  /* the HTTP status shows success; so a body above the size limit is dropped, which
                           * is not an error */
    bool may_lack_name;   /* the body need not be an object */
    ki_mask mask;         /* hides secrets that a server may echo; zeroed if there are none */
    const char *withheld; /* as in ki_refusal; a constant text */
    ki_rest_answer answer;
    size_t bytes; /* of this attempt, like all members below */
    size_t objects_cap;
    uint32_t retry_after_seconds; /* from the header; 0 if there is none */
    ki_list_decoder decoder;
    bool has_decoder;
    bool is_dropped; /* the body was too long, or the body of an error did not fit into memory */
} ki_rest_reader;

/* Copies what it needs from `request`. Returns 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY;
 * after a failure there is nothing to free. */
KI_NODISCARD int ki_rest_reader_init(ki_rest_reader *reader, const ki_rest_request *request, ki_error *err);
void ki_rest_reader_fini(ki_rest_reader *reader);

/* Starts another attempt and forgets the previous one. */
void ki_rest_reader_begin(ki_rest_reader *reader);

void ki_rest_reader_head(ki_rest_reader *reader, const ki_response_head *head);

/* Returns 0, or a negative value if the rest of the body is not needed, with the reason in the answer. */
KI_NODISCARD int ki_rest_reader_body(ki_rest_reader *reader, const char *bytes, size_t n);

/* Ends an attempt. KI_REASON_NONE means that the response is complete. */
void ki_rest_reader_end(ki_rest_reader *reader, ki_reason reason, const char *message);

/* Sets a failure that the server has not reported, such as a timeout. */
void ki_rest_reader_fail(ki_rest_reader *reader, int code, ki_reason reason, const char *message);

/* Moves the answer to the caller. */
void ki_rest_reader_take(ki_rest_reader *reader, ki_rest_answer *out_answer);

#endif
