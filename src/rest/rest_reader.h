/* SPDX-License-Identifier: Apache-2.0 */
/* rest_reader - makes a ki_rest_answer of what a server sends, piece by piece.
 *
 *   From:     rest/rest_call.c   (io: head, body, end of each attempt)
 *   To:       the program, as <kinformer/rest.h> says
 *   Locks:    none; io's, then of who takes the answer.
 *   Not here: trying again.
 */
#ifndef KI_REST_REST_READER_H
#define KI_REST_REST_READER_H

#include <kinformer/rest.h>
#include <stdbool.h>

#include "api/decode/list_decoder.h"
#include "api/object/object_plan.h"
#include "http/response_head.h"

/* Of the body of an error, in which a Status is looked for. */
#define KI_REST_ERROR_BYTES_MAX ((size_t)64 * 1024)

/* A zeroed one can be ended. */
typedef struct ki_rest_reader {
    ki_object_plan *plan;
    size_t bytes_max;
    bool is_list;
    bool is_plain;        /* whatever comes, it is not looked into */
    bool may_be_dropped;  /* a good answer says what was done: too long a text of it is no failure */
    bool may_lack_name;   /* what comes need not be an object */
    ki_mask mask;         /* of secrets that a server may send back; zeroed: none */
    const char *withheld; /* as ki_refusal has it; constant */
    ki_rest_answer answer;
    size_t bytes; /* of this attempt, as all below */
    size_t objects_cap;
    uint32_t retry_after_seconds; /* as its head says; 0: it does not */
    ki_list_decoder decoder;
    bool has_decoder;
    bool is_dropped; /* the body was too long, or memory too short for that of an error */
} ki_rest_reader;

/* Copies what it needs. Returns 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY; then nothing is to be ended. */
KI_NODISCARD int ki_rest_reader_init(ki_rest_reader *reader, const ki_rest_request *request, ki_error *err);
void ki_rest_reader_fini(ki_rest_reader *reader);

/* Another attempt: forgets the one before. */
void ki_rest_reader_begin(ki_rest_reader *reader);

void ki_rest_reader_head(ki_rest_reader *reader, const ki_response_head *head);

/* Returns 0; or negative: the rest is not wanted, and the answer says why. */
KI_NODISCARD int ki_rest_reader_body(ki_rest_reader *reader, const char *bytes, size_t n);

/* KI_REASON_NONE: the answer is complete. */
void ki_rest_reader_end(ki_rest_reader *reader, ki_reason reason, const char *message);

/* It ends for another reason than the server's. */
void ki_rest_reader_fail(ki_rest_reader *reader, int code, ki_reason reason, const char *message);

/* The answer becomes the caller's. */
void ki_rest_reader_take(ki_rest_reader *reader, ki_rest_answer *out_answer);

#endif
