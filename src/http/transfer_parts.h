/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_parts - one request, shared by transfer.c, transfer_send.c and transfer_receive.c.
 *
 *   From:     http/ only
 *   Locks:    none; io only.
 */
#ifndef KI_HTTP_TRANSFER_PARTS_H
#define KI_HTTP_TRANSFER_PARTS_H

#include "http/http_parts.h"
#include "http/inflate.h"

typedef enum ki_transfer_state {
    KI_TRANSFER_WAITING = 0, /* for credentials */
    KI_TRANSFER_RUNNING,     /* libcurl has it */
    KI_TRANSFER_OVER         /* no more callbacks; to be removed */
} ki_transfer_state;

struct ki_transfer {
    ki_list_node node;
    ki_http *http;
    ki_job job; /* starts, resumes, and handles the timeouts of the head and of an error's end */
    ki_transfer_state state;
    const ki_transfer_events *events;
    void *user;
    char *target;
    char *method;
    struct curl_slist *headers;
    ki_trace trace;
    ki_buf body;
    uint64_t head_timeout_ms; /* 0 if not set */
    bool is_watch;
    bool may_be_cut;
    bool is_long;
    bool is_resumed;        /* will continue in the next run of the job */
    bool is_connected;      /* including the tunnel of a proxy */
    unsigned connect_steps; /* progress calls until it is connected; counted only with a proxy */
    bool is_told;           /* on_head was called */
    bool is_paused;
    size_t socket_count; /* how many sockets libcurl watches for it */
    ki_socket *held;     /* its socket, while it is paused; NULL if none is held */
    ki_buf waiting;      /* bytes as received, kept during a pause */
    ki_pool *pool;       /* the pool that runs it; NULL if none */
    CURL *easy;
    uint64_t sent_ns;
    uint64_t received_bytes; /* of the body, as received */
    uint64_t generation;     /* of the identity that it is sent with */
    uint64_t due_ns;         /* deadline of the head, then of the end of an error; UINT64_MAX for none */
    uint64_t heard_ns;       /* time of the last received byte; at first, of the sending */
    ki_response_head head;
    ki_inflate *inflate;
    int open_error;                /* errno of the last attempt to open a socket; 0 for success */
    bool is_done;                  /* libcurl has finished it during a pause */
    bool is_proxys;                /* the proxy has failed, not the server */
    CURLcode done_code;            /* libcurl's code in that case */
    ki_reason reason;              /* why we have ended it; NONE if we have not */
    const char *why;               /* the message for it; constant */
    char message[CURL_ERROR_SIZE]; /* libcurl's own */
};

/* ---- transfer.c -------------------------------------------------------------------------------------- */

/* No callback is called any more. If this is called inside libcurl, the transfer must be kept until libcurl
 * has returned. */
void ki_transfer_set_over(ki_transfer *transfer);

/* ---- transfer_send.c --------------------------------------------------------------------------------- */

/* Passes the transfer to libcurl. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_transfer_send(ki_transfer *transfer, const ki_identity *identity);

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_transfer_add_header(ki_transfer *transfer, const char *line);

/* ---- transfer_receive.c ------------------------------------------------------------------------------ */

/* CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION; `user` is the transfer. */
size_t ki_transfer_on_header(char *bytes, size_t size, size_t count, void *user);
size_t ki_transfer_on_bytes(char *bytes, size_t size, size_t count, void *user);

/* CURLOPT_XFERINFOFUNCTION, with a proxy: limits its response to CONNECT. */
int ki_transfer_on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                            curl_off_t up);

/* Call this after a pause: passes on the data that was received and is waiting. Returns 0; 1 if paused again;
 * negative if the transfer must end for `reason`, unless it is already over. */
KI_NODISCARD int ki_transfer_give_rest(ki_transfer *transfer);

#endif
