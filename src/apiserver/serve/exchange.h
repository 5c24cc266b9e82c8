/* SPDX-License-Identifier: Apache-2.0 */
/* exchange - one request, from its first header to the last byte of its response.
 *
 *   From:     apiserver/serve/http.c, which creates one per request; also apiserver/serve/connection.c,
 *             apiserver/serve/handle_watch.c, apiserver/serve/respond.c
 *   To:       apiserver/serve/handle.h, which builds the response; apiserver/serve/stream.h for watches;
 *             apiserver/serve/respond.c, which sends it
 *   Locks:    mu, for is_parked; libmicrohttpd's own locks come after it. The server's mu, taken before mu,
 *             guards the list of exchanges
 *   Not here: the content of the response
 *
 * An exchange with nothing to send is parked: its connection is suspended and costs nothing until the
 * exchange is woken. The watch and the timer wake it through the server's loop, because a watch calls back
 * with the storage's lock held. Functions that clear faults, cut connections or stop the server wake it
 * directly, and so does ki_as_exchange_hang_up().
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
    bool is_host_missing; /* required by HTTP/1.1, unknown in HTTP/1.0 */
};

struct ki_as_answer {
    int code;                 /* 0 if not set yet */
    const char *content_type; /* NULL for the type of JSON or protobuf */
    ki_buf text;
    bool is_json;  /* may be indented */
    bool is_proto; /* objects and the stream are in protobuf */
    bool is_gzip;
    int retry_after_seconds;
    json_t *warnings; /* an array of texts, one header each; NULL for none */
};

enum ki_as_phase { KI_AS_PHASE_NEW, KI_AS_PHASE_BODY, KI_AS_PHASE_HANDLE, KI_AS_PHASE_QUEUED };

struct ki_as_stream;

struct ki_as_exchange {
    struct ki_apiserver *server;
    struct MHD_Connection *mhd;          /* libmicrohttpd's */
    struct ki_as_connection *connection; /* NULL if there is none */
    ki_list_node node;                   /* guarded by the server's mu */

    ki_mutex mu;
    bool is_parked; /* guarded by mu, like `is_woken` */
    bool is_woken;  /* since it was last parked */

    _Atomic bool is_cut;           /* must end at once */
    _Atomic bool is_fault_cleared; /* stalled exchanges continue */
    _Atomic bool is_lost;          /* its watch has ended, because the client is too slow */
    _Atomic bool is_half_closed;   /* the client has shut down its sending side */
    _Atomic bool is_endless;       /* a watch, or stalled by a fault: no response is due */
    _Atomic bool is_stalled;       /* by a fault, after the part of the body that precedes it */

    /* Used by the thread that serves it. */
    enum ki_as_phase phase;
    const char *method;    /* owned by libmicrohttpd; NULL before the headers */
    int64_t begin_wall_ns; /* when the headers arrived by the wall clock; begin_ns: by the monotonic clock */
    uint64_t begin_ns;
    struct ki_as_object *written; /* the object after a write; NULL if none was written */
    uint64_t down_ms;             /* how long the server goes down when the exchange is freed; 0 if not */
    bool is_admitted;
    bool is_logged;
    ki_job waker;    /* woken by the timer and the watch */
    uint64_t cut_ns; /* used by the waker: when a lost client is cut; 0 if not set */
    struct ki_as_request request;
    struct ki_as_headers headers;
    ki_buf body;
    bool is_body_too_large;
    bool is_overloaded;   /* no memory was left for the body */
    size_t charged_bytes; /* of the server's in_flight_bytes */
    struct ki_as_failure failure;
    struct ki_as_answer answer;
    struct ki_as_stream *stream; /* of a watch */
    ki_fault fault;
    bool has_fault;
    bool is_prepared;        /* checked, and its fault is drawn */
    uint64_t delay_until_ns; /* delay by a fault; 0 for none */
    uint64_t give_up_ns;     /* when to stop waiting for a version; 0 if not waiting */
    uint64_t sent_bytes;     /* of the body */
    bool is_garbage_sent;
    char address[]; /* as sent by the client */
};

/* Adds the new exchange to the server's list. The caller must not hold the server's mu, which this function
 * locks. NULL if out of memory. */
struct ki_as_exchange *ki_as_exchange_new(struct ki_apiserver *server, const char *address);
/* Closes its watch and removes the exchange from the server's list. NULL is allowed. */
void ki_as_exchange_free(struct ki_as_exchange *exchange);

/* Called by the thread that serves the exchange. Suspends the connection until the exchange is woken, or
 * until `until_ns` (UINT64_MAX for no timeout). Returns false, and suspends nothing, if the exchange was
 * woken or cut meanwhile or the server is stopping: the caller must check again. */
KI_NODISCARD bool ki_as_exchange_park(struct ki_as_exchange *exchange, uint64_t until_ns);

/* Any thread. */
void ki_as_exchange_wake(struct ki_as_exchange *exchange);

/* Called when the client has shut down its sending side or, with `is_gone`, both sides.
 * The server's mu must be held. */
void ki_as_exchange_hang_up(struct ki_as_exchange *exchange, bool is_gone);

/* Creates the waker unless it exists. Must be called before the exchange is woken through the loop.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_exchange_open_waker(struct ki_as_exchange *exchange);

/* Parses the address and authenticates the client. Returns 0, or -1 if the request is rejected;
 * then its body is ignored. */
KI_NODISCARD int ki_as_exchange_begin(struct ki_as_exchange *exchange);

/* Adds the bytes to those in flight, until the exchange is freed or discharged. Returns false if the sum
 * exceeds the server's limit; but if this exchange is the only one with bytes in flight,
 * it may have any size. */
bool ki_as_exchange_charge(struct ki_as_exchange *exchange, size_t bytes);
void ki_as_exchange_discharge(struct ki_as_exchange *exchange);

/* Builds the response and passes it on, or parks the exchange until this can be tried again. The request must
 * be complete, or rejected by its headers. */
enum MHD_Result ki_as_exchange_run(struct ki_as_exchange *exchange);

#endif
