/* SPDX-License-Identifier: Apache-2.0 */
/* answer - one request of a reflector and its response: turns a body into steps, and errors into reasons.
 *
 *   From:     a ki_list_watch, by the calls of <kinformer/list_watch.h>   (io)
 *   To:       reflector/reflector.c, by its ki_answer_cb
 *   Locks:    none; io's.
 *   Not here: what a step means, which request is next.
 *
 * An answer is reused for one request after the other. While it is closed, late calls of the source do
 * nothing.
 */
#ifndef KI_REFLECTOR_ANSWER_H
#define KI_REFLECTOR_ANSWER_H

#include <kinformer/list_watch.h>

#include "reflector/body_decoder.h"
#include "util/mask.h"

/* The limit for the body of an error. A longer one is not a Status and is not read further. */
#define KI_ANSWER_ERROR_BYTES_MAX ((size_t)64 * 1024)

typedef enum ki_answer_kind { KI_ANSWER_LIST = 1, KI_ANSWER_WATCH } ki_answer_kind;

/* A failure. */
typedef struct ki_failure {
    ki_reason reason; /* NONE: nothing */
    int http_status;  /* 0: none */
    uint32_t retry_after_seconds;
    ki_party party;
    ki_error error;
} ki_failure;

/* Where the source is after it has made a call. */
typedef enum ki_answer_place {
    KI_ANSWER_OUTSIDE = 0, /* outside any answer, or at its end */
    KI_ANSWER_INSIDE       /* no request should be begun, and more may follow at once: postpone what can be
                            * done once for all */
} ki_answer_place;

/* What an answer reports to its owner. The others are reported between ENTERED and LEFT, which may be
 * nested. */
typedef enum ki_answer_event {
    KI_ANSWER_ENTERED = 1,
    KI_ANSWER_SENT,    /* the request has been sent */
    KI_ANSWER_HEARD,   /* the server has sent `bytes`, and no error; 0: a head */
    KI_ANSWER_REFUSED, /* the head is that of an error; details come with OVER */
    KI_ANSWER_STEP, /* `step`: a ki_list_step, or what ki_watch_decoder_feed() returns: what it brought is in
                     * the decoder. The owner may cancel the answer */
    KI_ANSWER_OVER, /* it has ended or was abandoned, see `failure`; it is closed, its decoder can be read */
    KI_ANSWER_LEFT  /* see `place` */
} ki_answer_event;

typedef struct ki_answer_report {
    ki_answer_event event;
    size_t bytes;
    int step;
    const ki_failure *failure;
    ki_answer_place place;
} ki_answer_report;

typedef void (*ki_answer_cb)(ki_answer *answer, const ki_answer_report *report, void *user);

struct ki_answer {
    ki_answer_cb on_report;
    void *user;
    const int *is_full; /* the owner's: not 0 while the source must wait; NULL: it never must */
    const ki_list_watch *source;
    ki_object_plan *plan;
    ki_mask mask;         /* for what the server says; the source's, as the next */
    const char *withheld; /* as in ki_refusal; constant */
    void *data;
    ki_answer_kind kind;
    int is_open;
    int is_sent;    /* the request; kept when it has ended */
    int is_begun;   /* a head or a byte has arrived */
    int is_proxys;  /* the proxy has failed, not the server */
    int is_feeding; /* inside ki_answer_body(): the decoder is in use */
    int is_waiting; /* the source was told to wait */
    int http_status;
    uint32_t retry_after_seconds;
    ki_wire asked_wire;    /* KI_WIRE_PROTOBUF: it is accepted, beside JSON */
    ki_wire wire;          /* of the body, as the source says; AUTO: it does not */
    uint64_t seen_unknown; /* unknown fields of this response that its owner has handled */
    ki_body_decoder decoder;
    ki_buf error_body;
};

/* All pointers are borrowed. */
void ki_answer_init(ki_answer *answer, const ki_list_watch *source, ki_object_plan *plan);
void ki_answer_set_owner(ki_answer *answer, ki_answer_cb on_report, void *user, const int *is_full);

/* A zeroed struct, or a closed one, is allowed. */
void ki_answer_fini(ki_answer *answer);

/* Opens it and begins a request. If the source refuses it, OVER is reported. */
void ki_answer_begin(ki_answer *answer, ki_answer_kind kind, const ki_list_options *options);

/* The failure that ends it is the proxy's, not the server's. */
void ki_answer_blame_proxy(ki_answer *answer);

/* Closes it and tells the source. A closed one is allowed. */
void ki_answer_cancel(ki_answer *answer);

/* Whether it has begun as an error. */
int ki_answer_is_refused(const ki_answer *answer);

/* Ends an error response with what has arrived of it: OVER is reported. The source is told. */
void ki_answer_cut_refused(ki_answer *answer);

/* There is room again: a waiting source is told. */
void ki_answer_resume(ki_answer *answer);

#endif
