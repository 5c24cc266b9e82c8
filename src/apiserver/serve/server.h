/* SPDX-License-Identifier: Apache-2.0 */
/* server - the state of one running server: objects, faults, limits and connections.
 *
 *   From:     apiserver/serve/apiserver.c: ki_apiserver_start(); also apiserver/serve/direct.c,
 *             apiserver/serve/restart.c
 *   To:       every request
 *   Locks:    mu, for the lists of connections and exchanges; taken before an exchange's mu
 *   Not here: the HTTP daemon (apiserver/serve/http.h)
 */
#ifndef KI_APISERVER_SERVE_SERVER_H
#define KI_APISERVER_SERVE_SERVER_H

#include <kinformer/apiserver.h>
#include <stdatomic.h>

#include "apiserver/request/fault.h"
#include "apiserver/storage/storage.h"
#include "util/list.h"
#include "util/loop/loop.h"
#include "util/thread.h"

struct ki_as_http;
struct ki_as_request_log;
struct ki_as_simulation;

struct ki_apiserver {
    /* Constant while the server runs. */
    unsigned generation; /* of the process that started it; see ki_fork_generation() */
    struct ki_as_storage *storage;
    struct ki_as_faults *faults;
    struct ki_as_request_log *requests;
    struct ki_as_simulation *simulation; /* NULL if nothing is simulated */
    struct ki_as_http *http;
    char **tokens; /* ends with NULL; NULL admits everyone */
    char **hosts;  /* Host names allowed without a token; ends with NULL; may be NULL */
    char *url;
    char *certificate; /* PEM; NULL for no TLS */
    char *key;
    char address[64]; /* "127.0.0.1:40123" */
    uint64_t bookmark_ms;
    size_t watches_max;
    size_t body_bytes_max;
    size_t in_flight_bytes_max;
    bool allows_debug;
    ki_apiserver_warning_cb on_warning; /* NULL for no warnings */
    void *warning_user;

    ki_loop loop; /* for timers of exchanges, hang-ups, and wake-ups by watches */
    _Atomic size_t watch_count;
    _Atomic size_t in_flight_bytes; /* of bodies received and of responses not yet sent */
    _Atomic bool is_ending;         /* no exchange may be parked any more */

    ki_job restart_job;              /* see restart.h */
    _Atomic uint64_t wished_down_ms; /* how long to go down, as a request has asked; 0 for no such request */
    ki_mutex restart_mu;             /* serialises going down and up; taken before mu */
    uint64_t up_ns;                  /* when the server starts by itself; 0: never; guarded by restart_mu */
    ki_mutex mu;
    ki_list connections; /* guarded by mu, like everything below */
    ki_list exchanges;
    ki_list lingers; /* see linger.h */
    size_t linger_count;
};

/* Returns 0, or KI_ERR_FORKED in a forked child, which lacks the server's threads; some of them may hold
 * locks. Fails also if `server` is NULL. */
KI_NODISCARD int ki_as_check_process(const struct ki_apiserver *server, ki_error *err);

enum { KI_AS_LINGERS_MAX = 64 };

#endif
