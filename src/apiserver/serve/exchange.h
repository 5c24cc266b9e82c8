/* SPDX-License-Identifier: Apache-2.0 */
/* exchange - one request, from its first header to the last byte of its answer.
 *
 *   From:     apiserver/serve/http.c, which makes one for each request
 *   To:       apiserver/serve/handle.h, which says what is answered; apiserver/serve/stream.h for watches
 *   Locks:    mu, for whether it is parked; libmicrohttpd's own locks come after it
 *   Not here: what is answered
 *
 * An exchange that has nothing to send is parked: its connection is suspended, and costs nothing until it is
 * woken. It is woken by its watch and by its timer, both by way of the server's loop, because a watch is
 * woken under the storage's lock; and by whoever heals, cuts or stops.
 */
#ifndef KI_APISERVER_SERVE_EXCHANGE_H
#define KI_APISERVER_SERVE_EXCHANGE_H

#include <microhttpd.h>

#include "apiserver/request/accept.h"
#include "apiserver/request/request.h"
#include "apiserver/serve/server.h"
#include "util/buf.h"
#include "util/loop/loop.h"

struct ki_as_connection;

/* Borrowed from the connection. */
struct ki_as_headers {
    ki_str accept;
    ki_str accept_encoding;
    ki_str content_type;
    ki_str user_agent;
    ki_str authorization;
    ki_str host;
    ki_str origin;
    ki_str upgrade;
    bool is_host_missing; /* which HTTP/1.1 demands, and HTTP/1.0 does not know */
};

struct ki_as_answer {
    int code; /* 0: none yet */
    const char *content_type;
    ki_buf text;
    bool is_json; /* may be indented */
    bool is_gzip;
    int retry_after_seconds;
    json_t *warnings; /* an array of texts, each a header; NULL: none */
};

enum ki_as_phase { KI_AS_PHASE_NEW, KI_AS_PHASE_BODY, KI_AS_PHASE_HANDLE, KI_AS_PHASE_QUEUED };

struct ki_as_stream;

struct ki_as_exchange {
    struct ki_apiserver *server;
    struct MHD_Connection *connection;
    struct ki_as_connection *socket;
    ki_list_node node; /* guarded by the server's mu */

    ki_mutex mu;
    bool is_parked; /* guarded by mu, as the next */
    bool is_woken;  /* since it was parked last */

    _Atomic bool is_cut;         /* to end at once */
    _Atomic bool is_healed;      /* what stalls goes on */
    _Atomic bool is_lost;        /* its watch is over, because the client is too slow */
    _Atomic bool is_half_closed; /* the client sends no more; together with the next it has gone */
    _Atomic bool is_endless; /* a watch, or held by a fault: no answer is in sight for which it might wait */

    /* Of the thread that serves it. */
    enum ki_as_phase phase;
    const char *method;    /* libmicrohttpd's; NULL: its headers have not come */
    int64_t begin_wall_ns; /* when they had, by the calendar and by the clock */
    uint64_t begin_ns;
    struct ki_as_object *written; /* the object after a write; NULL: none was */
    uint64_t down_ms;             /* the server goes down when this is freed, for so long; 0: it does not */
    bool is_admitted;
    bool is_logged;
    ki_job waker;    /* woken by timer and watch */
    uint64_t cut_ns; /* of the waker: when a lost client is cut; 0: not yet */
    struct ki_as_request request;
    struct ki_as_headers headers;
    ki_buf body;
    bool is_body_too_large;
    bool is_overloaded;   /* there was no memory to spare for the body */
    size_t charged_bytes; /* of the server's in_flight_bytes */
    struct ki_as_failure failure;
    struct ki_as_answer answer;
    struct ki_as_stream *stream; /* of a watch */
    ki_fault fault;
    bool has_fault;
    bool is_prepared;        /* checked, and its fault is drawn */
    uint64_t delay_until_ns; /* of a fault; 0: none */
    uint64_t give_up_ns;     /* when it no longer waits for a version; 0: it does not wait */
    uint64_t sent_bytes;     /* of the body */
    bool is_garbage_sent;
    char address[]; /* as the client wrote it */
};

/* Locks: none of the server's. NULL without memory. */
struct ki_as_exchange *ki_as_exchange_new(struct ki_apiserver *server, const char *address);
/* Ends its watch and takes it off the server's list. */
void ki_as_exchange_free(struct ki_as_exchange *exchange);

/* On the thread that serves it: suspends the connection until it is woken, or until `until_ns` (UINT64_MAX:
 * no time). False: it was woken meanwhile, or the server ends, so look again. */
KI_NODISCARD bool ki_as_exchange_park(struct ki_as_exchange *exchange, uint64_t until_ns);

/* Any thread. */
void ki_as_exchange_wake(struct ki_as_exchange *exchange);

/* The client sends no more; `is_gone`: nor does it read. With the server's mu. */
void ki_as_exchange_hang_up(struct ki_as_exchange *exchange, bool is_gone);

/* Makes the waker, once; for whoever wakes through the loop. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_exchange_open_waker(struct ki_as_exchange *exchange);

/* "127.0.0.1:40123", where the client is. */
ki_str ki_as_exchange_remote(const struct ki_as_exchange *exchange);

/* Reads its address, and whether it is let in. 0, or -1: it is refused, and its body is of no interest. */
KI_NODISCARD int ki_as_exchange_begin(struct ki_as_exchange *exchange);

/* Counts bytes that are kept for it until it is freed, or discharged. False: with the others' that is too
 * much. One alone may be as large as it is. */
bool ki_as_exchange_charge(struct ki_as_exchange *exchange, size_t bytes);
void ki_as_exchange_discharge(struct ki_as_exchange *exchange);

/* The answer to a request that is complete, or the next step towards it. */
enum MHD_Result ki_as_exchange_run(struct ki_as_exchange *exchange);

/* Puts it into the log of requests, unless it is there; `status` 0: it is not answered. */
void ki_as_exchange_log(struct ki_as_exchange *exchange, int status);

/* Whether its fault ends a body, or holds it, at some place: the only ones for which after_bytes and
 * after_events count. */
bool ki_as_exchange_has_end(const struct ki_as_exchange *exchange);

/* Hands the answer (or the stream) to libmicrohttpd; see respond.c. */
enum MHD_Result ki_as_exchange_respond(struct ki_as_exchange *exchange);

#endif
