/* SPDX-License-Identifier: Apache-2.0 */
/* server - what one running server has: objects, faults, limits, and whoever is connected.
 *
 *   From:     ki_apiserver_start()
 *   To:       every request
 *   Locks:    mu, for the lists of connections and exchanges; before it comes no lock, after it an exchange's
 *             mu
 *   Not here: the daemon of HTTP (apiserver/serve/http.h)
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
    /* Constant while it runs. */
    unsigned generation; /* of the process that started it, as ki_fork_generation() counts */
    struct ki_as_storage *storage;
    struct ki_as_faults *faults;
    struct ki_as_request_log *requests;
    struct ki_as_simulation *simulation; /* NULL: nothing is simulated */
    struct ki_as_http *http;
    char **tokens; /* ended by NULL; NULL: everyone is let in */
    char **hosts;  /* names by which it may be called without a token; ended by NULL, or NULL */
    char *url;
    char *certificate; /* PEM; NULL: no TLS */
    char *key;
    char address[64]; /* "127.0.0.1:40123" */
    uint64_t bookmark_ms;
    size_t watches_max;
    size_t body_bytes_max;
    size_t in_flight_bytes_max;
    bool allows_debug;
    ki_apiserver_warning_cb on_warning; /* NULL: nobody is told */
    void *warning_user;

    ki_loop loop; /* timers of exchanges, their hang-ups, the wakes of watches */
    _Atomic size_t watch_count;
    _Atomic size_t in_flight_bytes; /* of bodies that were read, and of answers that are not yet */
    _Atomic bool is_ending;         /* nobody may be parked any more */

    ki_job power_job;                /* see power.h */
    _Atomic uint64_t wished_down_ms; /* for which a request wants it to go down; 0: there is no such wish */
    ki_mutex power;                  /* one goes down or up at a time; before mu */
    uint64_t up_ns;                  /* when it comes back by itself; 0: it does not; guarded by power */
    ki_mutex mu;
    ki_list connections; /* guarded by mu, as all below */
    ki_list exchanges;
    ki_list lingers; /* see linger.h */
    size_t linger_count;
};

/* 0, or KI_ERR_FORKED with its message: in a child the threads that hold its locks are missing. */
KI_NODISCARD int ki_as_check_process(const struct ki_apiserver *server, ki_error *err);

enum { KI_AS_LINGERS_MAX = 64 };

#endif
