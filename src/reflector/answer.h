/* SPDX-License-Identifier: Apache-2.0 */
/* answer - one request of a reflector and its response: turns a body into results, and errors into reasons.
 *
 *   From:     reflector/reflector*.c (requests), reflector/http_source.c or another ki_list_watch, by the
 *             calls of <kinformer/list_watch.h> (io)
 *   To:       reflector/reflector.c, by its ki_answer_cb
 *   Locks:    none; io's.
 *   Not here: what a result means, which request is next.
 *
 * An answer is reused for one request after another. While it is closed,
 * late calls of the source have no effect.
 */
#ifndef KI_REFLECTOR_ANSWER_H
#define KI_REFLECTOR_ANSWER_H

#include <kinformer/list_watch.h>

#include "reflector/body_decoder.h"
#include "util/text/mask.h"

/* The limit for the body of an error. A longer body is not a Status, and the rest of it is not read. */
#define KI_ANSWER_ERROR_BYTES_MAX ((size_t)64 * 1024)

typedef enum ki_answer_kind { KI_ANSWER_LIST = 1, KI_ANSWER_WATCH } ki_answer_kind;

/* Why a request has failed. */
typedef struct ki_failure {
    ki_reason reason; /* KI_REASON_NONE: nothing has failed */
    int http_status;  /* 0: not an HTTP error */
    uint32_t retry_after_seconds;
    ki_party party;
    ki_error error;
} ki_failure;

/* Where in a response the source is when one of its calls ends. */
typedef enum ki_answer_place {
    KI_ANSWER_OUTSIDE = 0, /* the response has ended, or there is none: the next request may begin */
    KI_ANSWER_INSIDE       /* in the middle of a response: begin no request. More may follow at once, so
                            * postpone work that can be done once for several calls */
} ki_answer_place;

/* What an answer reports to its owner. Calls of the source are enclosed in ENTERED and LEFT, which may be
 * nested. OVER is also reported inside the owner's calls of ki_answer_begin() and ki_answer_cut_error(). */
typedef enum ki_answer_event {
    KI_ANSWER_ENTERED = 1,
    KI_ANSWER_SENT,       /* the request has been sent */
    KI_ANSWER_HEARD,      /* `bytes` of a successful response have arrived; 0: its head */
    KI_ANSWER_ERROR_HEAD, /* the head of an error response has arrived; OVER will have the details */
    KI_ANSWER_RESULT,     /* ki_body_decoder_feed() has returned `result` and decoded `decoded`. The owner may
                           * cancel the answer */
    KI_ANSWER_OVER,       /* it has ended or was abandoned, see `failure`. It is closed; its decoder can still
                           * be read */
    KI_ANSWER_LEFT        /* see `place` */
} ki_answer_event;

typedef struct ki_answer_report {
    ki_answer_event event;
    size_t bytes;
    int result;
    ki_decoded *decoded;
    const ki_failure *failure;
    ki_answer_place place;
} ki_answer_report;

typedef void (*ki_answer_cb)(ki_answer *answer, const ki_answer_report *report, void *user);

struct ki_answer {
    ki_answer_cb on_report;
    void *user;
    const int *is_full; /* set by the owner: not 0 while the source must wait; NULL: it never must */
    const ki_list_watch *source;
    ki_object_plan *plan;
    ki_mask mask;         /* applied to the server's messages; set by the source, like `withheld` */
    const char *withheld; /* as in ki_refusal; a constant text */
    void *data;
    ki_answer_kind kind;
    int is_open;
    int is_sent;    /* the request has been sent; kept after the answer has ended */
    int is_begun;   /* a head or a byte has arrived */
    int is_proxys;  /* the proxy has failed, not the server */
    int is_feeding; /* ki_answer_body() is running: the decoder is in use */
    int is_waiting; /* the source was told to wait */
    int http_status;
    uint32_t retry_after_seconds;
    ki_wire asked_wire;    /* KI_WIRE_PROTOBUF: the request accepts protobuf and JSON */
    ki_wire wire;          /* the format of the body according to the source; AUTO: it has not said */
    uint64_t seen_unknown; /* number of unknown fields in this response that the owner has handled */
    ki_body_decoder decoder;
    ki_buf error_body;
};

/* All pointers are borrowed. */
void ki_answer_init(ki_answer *answer, const ki_list_watch *source, ki_object_plan *plan);
void ki_answer_set_owner(ki_answer *answer, ki_answer_cb on_report, void *user, const int *is_full);

/* The answer must be closed. A zeroed struct is allowed. */
void ki_answer_fini(ki_answer *answer);

/* Opens the answer and begins a request. If the source refuses the request, the answer reports OVER. */
void ki_answer_begin(ki_answer *answer, ki_answer_kind kind, const ki_list_options *options);

/* The proxy, not the server, has caused the failure that is about to end the answer. */
void ki_answer_fail_in_proxy(ki_answer *answer);

/* Closes the answer and cancels the request. A closed answer is allowed. */
void ki_answer_cancel(ki_answer *answer);

/* Whether the head of an error response has arrived. */
int ki_answer_is_error(const ki_answer *answer);

/* Ends an error response without waiting for the rest of its body: cancels the request and reports OVER. */
void ki_answer_cut_error(ki_answer *answer);

/* Changes are accepted again: resumes the source if it is waiting. */
void ki_answer_resume(ki_answer *answer);

#endif
