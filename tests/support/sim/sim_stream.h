/* SPDX-License-Identifier: Apache-2.0 */
/* sim_stream - a response that a simulated API server is sending: what is still to be sent, and when.
 *
 *   From:     support/sim/sim_server.c (requests)
 *   To:       sim_list.c, sim_watch.c (the content), sim_stream.c (sending)
 *   Not here: the public interface: sim_server.h.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_STREAM_H
#define KI_TESTS_SUPPORT_SIM_SIM_STREAM_H

#include <stdbool.h>

#include "support/sim/sim_answer.h"
#include "support/sim/sim_server.h"
#include "util/list.h"
#include "util/random.h"

struct sim_server {
    sim_world *world;
    const ki_clock *clock;
    sim_calls calls;
    ki_random random;
    sim_faults faults;
    sim_breakage breakage;
    sim_counts counts;
    uint64_t latency_ns_max;
    uint64_t bookmark_ns;
    size_t piece_bytes_max;
    int tells_sent;
    ki_list streams; /* of sim_stream */
};

/* The body is `text`, of which `sent` bytes have been sent; then comes its end or, for a watch, more text. */
typedef struct sim_stream {
    ki_list_node node;
    sim_server *server;
    ki_answer *answer;
    unsigned kind; /* of sim_kind */
    int http_status;
    uint32_t retry_after_seconds;
    sim_text text;
    size_t sent;
    uint64_t sent_before; /* bytes of texts before this one */
    uint64_t stall_at;    /* bytes after which nothing more is sent; UINT64_MAX: no stall */
    uint64_t due_ns;      /* nothing is sent earlier */
    uint32_t epoch;       /* of the world when it began */
    bool request_sent;
    bool head_sent;
    bool paused;
    bool ends; /* it ends after the text */
    ki_reason end_reason;
    bool busy; /* the client is being called: a cancel meanwhile does not free the memory */
    bool dead; /* cancelled or ended */
    /* of a watch */
    bool watch;
    bool bookmarks;
    bool senseless;       /* its content is meaningless */
    bool has_events_left; /* it ends after events_left events */
    uint32_t events_left;
    uint64_t from_version; /* only newer versions are sent */
    size_t first;          /* position in the history where it began */
    size_t next;           /* position of the next record */
    uint64_t deadline_ns;
    uint64_t bookmark_at_ns;
} sim_stream;

/* Whether a fault of this probability happens now; counts it. */
bool sim_roll(sim_server *server, double chance, uint64_t *count);
#define SIM_ROLL(server, name) sim_roll((server), (server)->faults.name, &(server)->counts.name)

/* How the next object is damaged. */
sim_spoilt sim_roll_spoilt(sim_server *server);

sim_stream *sim_stream_new(sim_server *server, ki_answer *answer);

/* Removes it from the list of streams; frees it when the client is not being called. */
void sim_stream_drop(sim_stream *stream);

/* UINT64_MAX: never. */
uint64_t sim_stream_due_ns(const sim_stream *stream);

/* Makes one call into the client, or adds text. Returns false if the stream is gone. */
bool sim_stream_advance(sim_stream *stream);

/* Ends the answer now. */
void sim_stream_finish(sim_stream *stream, ki_reason reason);

/* How the answer ends after the text. */
void sim_stream_end_after_text(sim_stream *stream, ki_reason reason);

/* The whole answer is this Status. */
void sim_stream_answer_status(sim_stream *stream, const sim_status *status);

/* Cuts the text at a random byte, and ends the answer there. */
void sim_stream_cut_text(sim_stream *stream, size_t from);

/* sim_list.c: parses the version of a request; chooses the state that such a request may see. Each returns 0,
 * or -1 after answering with an error. */
int sim_read_version(sim_stream *stream, ki_str text, uint64_t *out_version);
int sim_choose_version(sim_stream *stream, const ki_list_options *options, uint64_t *out_version);
void sim_list_answer(sim_stream *stream, const ki_list_options *options);

/* sim_watch.c */
void sim_watch_begin(sim_stream *stream, const ki_list_options *options);
void sim_watch_begin_senseless(sim_stream *stream, const ki_list_options *options);
bool sim_watch_has_events(const sim_stream *stream);
void sim_watch_write_more(sim_stream *stream);

#endif
