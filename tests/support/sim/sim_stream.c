/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_stream.h"

#include <assert.h>
#include <stdlib.h>

static void wait_for_latency(sim_stream *stream)
{
    sim_server *server = stream->server;
    uint64_t latency = 0;
    if (server->latency_ns_max > 0)
        latency = 1 + ki_random_below(&server->random, server->latency_ns_max);
    stream->due_ns = ki_clock_now_ns(server->clock) + latency;
}

sim_stream *sim_stream_new(sim_server *server, ki_answer *answer)
{
    sim_stream *stream = sim_array(1, sizeof(*stream));
    stream->server = server;
    stream->answer = answer;
    stream->request_sent = !server->tells_sent;
    stream->http_status = 200;
    stream->stall_at = UINT64_MAX;
    stream->epoch = sim_world_epoch(server->world);
    wait_for_latency(stream);
    ki_list_push_back(&server->streams, &stream->node);
    return stream;
}

static void free_if_dead(sim_stream *stream)
{
    if (!stream->dead || stream->busy)
        return;
    sim_text_fini(&stream->text);
    free(stream);
}

void sim_stream_drop(sim_stream *stream)
{
    ki_list_remove(&stream->node);
    stream->dead = true;
    free_if_dead(stream);
}

static bool is_stalled(const sim_stream *stream)
{
    return stream->request_sent && stream->sent_before + stream->sent >= stream->stall_at;
}

uint64_t sim_stream_due_ns(const sim_stream *stream)
{
    if (stream->paused || is_stalled(stream))
        return UINT64_MAX;
    if (stream->epoch != sim_world_epoch(stream->server->world))
        return stream->due_ns;
    if (!stream->request_sent || !stream->head_sent || stream->sent < stream->text.len || stream->ends ||
        sim_watch_has_events(stream))
        return stream->due_ns;
    uint64_t next_ns =
        stream->bookmark_at_ns < stream->deadline_ns ? stream->bookmark_at_ns : stream->deadline_ns;
    return next_ns > stream->due_ns ? next_ns : stream->due_ns;
}

void sim_stream_finish(sim_stream *stream, ki_reason reason)
{
    sim_server *server = stream->server;
    ki_answer *answer = stream->answer;
    /* Removed before the call: the client may begin a new request inside it, with the same answer. */
    ki_list_remove(&stream->node);
    stream->dead = true;
    server->calls.end(answer, reason, reason == KI_REASON_NONE ? NULL : "simulated");
    free_if_dead(stream);
}

static void send_head(sim_stream *stream)
{
    stream->head_sent = true;
    stream->server->calls.head(stream->answer, stream->http_status, stream->retry_after_seconds);
}

static size_t choose_piece(sim_stream *stream)
{
    sim_server *server = stream->server;
    size_t n = stream->text.len - stream->sent;
    if (server->piece_bytes_max > 0 && ki_random_below(&server->random, 8) > 0) {
        size_t piece = 1 + (size_t)ki_random_below(&server->random, server->piece_bytes_max);
        n = piece < n ? piece : n;
    }
    uint64_t until_stall = stream->stall_at - (stream->sent_before + stream->sent);
    return until_stall < n ? (size_t)until_stall : n;
}

static void send_piece(sim_stream *stream)
{
    size_t n = choose_piece(stream);
    const char *piece = stream->text.data + stream->sent;
    stream->sent += n;
    int code = stream->server->calls.body(stream->answer, piece, n);
    if (code == 1)
        stream->paused = true;
    else if (code != 0 && !stream->dead)
        stream->server->counts.misuse++; /* no longer wanted, but not cancelled */
}

bool sim_stream_advance(sim_stream *stream)
{
    if (stream->epoch != sim_world_epoch(stream->server->world)) {
        sim_stream_finish(stream, KI_REASON_CONNECTION_LOST);
        return false;
    }
    assert(!stream->busy);
    stream->busy = true;
    if (!stream->request_sent) {
        stream->request_sent = true;
        stream->server->calls.sent(stream->answer);
    } else if (!stream->head_sent) {
        send_head(stream);
    } else if (stream->sent < stream->text.len) {
        send_piece(stream);
    } else if (stream->ends) {
        sim_stream_finish(stream, stream->end_reason);
    } else {
        stream->sent_before += stream->sent;
        stream->sent = stream->text.len = 0;
        sim_watch_write_more(stream);
    }
    stream->busy = false;
    if (stream->dead) {
        free_if_dead(stream);
        return false;
    }
    wait_for_latency(stream);
    return true;
}

void sim_stream_end_after_text(sim_stream *stream, ki_reason reason)
{
    stream->ends = true;
    stream->end_reason = reason;
}

void sim_stream_answer_status(sim_stream *stream, const sim_status *status)
{
    stream->http_status = status->code;
    stream->text.len = 0;
    sim_put_status(&stream->text, status);
    sim_stream_end_after_text(stream, KI_REASON_NONE);
}

void sim_stream_cut_text(sim_stream *stream, size_t from)
{
    assert(from <= stream->text.len);
    stream->text.len = from + (size_t)ki_random_below(&stream->server->random, stream->text.len - from + 1);
    if (stream->text.len == 0)
        stream->head_sent = true; /* not even the head is sent */
    sim_stream_end_after_text(stream, KI_REASON_CONNECTION_LOST);
}
