/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_parts - one request as transfer.c, transfer_send.c and transfer_receive.c share it.
 *
 *   From:     http/ only
 *   Locks:    none; io's.
 */
#ifndef KI_HTTP_TRANSFER_PARTS_H
#define KI_HTTP_TRANSFER_PARTS_H

#include "http/http_parts.h"
#include "http/inflate.h"

typedef enum ki_transfer_state {
    KI_TRANSFER_WAITING = 0, /* for who we are */
    KI_TRANSFER_RUNNING,     /* libcurl has it */
    KI_TRANSFER_OVER         /* no callback any more; to be taken away */
} ki_transfer_state;

struct ki_transfer {
    ki_list_node node;
    ki_list_node heard_node; /* on_pause is owed */
    ki_http *http;
    uint64_t serial; /* from 1 on; no other ever has the same */
    ki_job job;      /* begins it, resumes it, notices that no head or no end of an error has come */
    ki_transfer_state state;
    const ki_transfer_events *events;
    void *user;
    char *target;
    char *method;
    struct curl_slist *headers;
    ki_trace trace;
    ki_buf body;
    uint64_t head_timeout_ms; /* 0: not said */
    bool is_watch;
    bool may_be_cut;
    bool is_long;
    bool is_resumed; /* to go on in the next run of the job */
    bool is_told;    /* on_head was called */
    bool is_paused;
    ki_socket *held; /* its socket, while it is paused; NULL: none is held */
    ki_buf waiting;  /* bytes as they came, behind a pause */
    ki_pool *pool;   /* where libcurl has it; NULL: it has not */
    CURL *easy;
    uint64_t sent_ns;
    uint64_t received_bytes; /* of the body, as it came */
    uint64_t generation;     /* of the identity it is sent with */
    uint64_t due_ns;         /* the head; then the end of an error; UINT64_MAX: nothing */
    uint64_t heard_ns;       /* the last byte; before that, when it was sent */
    ki_response_head head;
    ki_inflate *inflate;
    int open_error;                /* errno of the last socket that was to be opened; 0: it was */
    bool is_done;                  /* by libcurl, while it is paused */
    CURLcode done_code;            /* what libcurl said then */
    ki_reason reason;              /* why we have ended it ourselves; NONE: we have not */
    const char *why;               /* in words; constant */
    char message[CURL_ERROR_SIZE]; /* libcurl's own */
};

/* ---- transfer.c -------------------------------------------------------------------------------------- */

/* No callback from here on. Inside libcurl it has to stay until libcurl has returned. */
void ki_transfer_set_over(ki_transfer *transfer);

/* ---- transfer_send.c --------------------------------------------------------------------------------- */

/* Hands it to libcurl. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_transfer_send(ki_transfer *transfer, const ki_identity *identity);

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_transfer_add_header(ki_transfer *transfer, const char *line);

/* ---- transfer_receive.c ------------------------------------------------------------------------------ */

/* CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION; `user` is the transfer. */
size_t ki_transfer_on_header(char *bytes, size_t size, size_t count, void *user);
size_t ki_transfer_on_bytes(char *bytes, size_t size, size_t count, void *user);

/* After a pause: what was received and not yet given away. Returns 0; 1: paused again; negative: `reason`
 * says why it has to end, unless it is over. */
KI_NODISCARD int ki_transfer_give_rest(ki_transfer *transfer);

#endif
