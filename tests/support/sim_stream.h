/* SPDX-License-Identifier: Apache-2.0 */
/* sim_stream - a response that a simulated API server is sending: what is still to send, and when.
 *
 *   From:     support/sim_server.c (requests)
 *   To:       sim_list.c, sim_watch.c (what is sent), sim_stream.c (sending)
 *   Not here: what is public: sim_server.h.
 */
#ifndef KI_TESTS_SUPPORT_SIM_STREAM_H
#define KI_TESTS_SUPPORT_SIM_STREAM_H

#include <stdbool.h>

#include "support/sim_answer.h"
#include "support/sim_server.h"
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

/* The body is `text`, of which `sent` bytes have gone; then its end, or, of a watch, more text. */
typedef struct sim_stream {
    ki_list_node node;
    sim_server *server;
    ki_answer *answer;
    sim_kind kind;
    int http_status;
    uint32_t retry_after_seconds;
    sim_text text;
    size_t sent;
    uint64_t sent_before; /* bytes of texts before this one */
    uint64_t stall_at;    /* bytes after which nothing comes; UINT64_MAX: no such */
    uint64_t due_ns;      /* not before that */
    uint32_t epoch;       /* of the world when it began */
    bool request_sent;
    bool head_sent;
    bool paused;
    bool ends; /* after the text */
    ki_reason end_reason;
    bool busy; /* a call into the client is under way: who cancels then leaves the memory alone */
    bool dead; /* cancelled or ended */
    /* of a watch */
    bool watch;
    bool bookmarks;
    bool senseless;       /* nothing that it says means anything */
    bool has_events_left; /* it ends after events_left of them */
    uint32_t events_left;
    uint64_t from_version; /* nothing up to that is told */
    size_t first;          /* position in the history of what it began with */
    size_t next;           /* and of what comes next */
    uint64_t deadline_ns;
    uint64_t bookmark_at_ns;
} sim_stream;

/* Whether something that is so likely happens now; it is counted. */
bool sim_roll(sim_server *server, double chance, uint64_t *count);
#define SIM_ROLL(server, name) sim_roll((server), (server)->faults.name, &(server)->counts.name)

/* How the next object is spoilt. */
sim_spoilt sim_roll_spoilt(sim_server *server);

sim_stream *sim_stream_new(sim_server *server, ki_answer *answer);

/* Leaves the list of streams; the memory goes when the client is not in a call. */
void sim_stream_drop(sim_stream *stream);

/* UINT64_MAX: never. */
uint64_t sim_stream_due_ns(const sim_stream *stream);

/* One call into the client, or one more text. Returns false when the stream is gone. */
bool sim_stream_advance(sim_stream *stream);

/* Ends the answer now. */
void sim_stream_finish(sim_stream *stream, ki_reason reason);

/* What is sent after the text. */
void sim_stream_end_after_text(sim_stream *stream, ki_reason reason);

/* The whole answer is this Status. */
void sim_stream_answer_status(sim_stream *stream, const sim_status *status);

/* Cuts the text at any byte, and the answer with it. */
void sim_stream_cut_text(sim_stream *stream, size_t from);

/* sim_list.c: a version as a request has it; and which state such a request may see. Each returns 0, or -1
 * with an error as the answer. */
int sim_read_version(sim_stream *stream, ki_str text, uint64_t *out_version);
int sim_choose_version(sim_stream *stream, const ki_list_options *options, uint64_t *out_version);
void sim_list_answer(sim_stream *stream, const ki_list_options *options);

/* sim_watch.c */
void sim_watch_begin(sim_stream *stream, const ki_list_options *options);
void sim_watch_begin_senseless(sim_stream *stream, const ki_list_options *options);
bool sim_watch_has_events(const sim_stream *stream);
void sim_watch_write_more(sim_stream *stream);

#endif
