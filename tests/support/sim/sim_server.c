/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_server.h"

#include <assert.h>
#include <stdlib.h>

#include "support/chance.h"
#include "support/sim/sim_stream.h"

#define MINUTE_NS UINT64_C(60000000000)
#define STALL_BYTES_MAX 3000 /* bytes of a watch before it stalls */

sim_server *sim_server_new(const sim_server_options *options)
{
    assert(options->world != NULL && options->clock != NULL && options->calls != NULL);
    sim_server *server = sim_array(1, sizeof(*server));
    server->world = options->world;
    server->clock = options->clock;
    server->calls = *options->calls;
    server->faults = options->faults;
    server->latency_ns_max = options->latency_ns_max;
    server->bookmark_ns = options->bookmark_ns > 0 ? options->bookmark_ns : MINUTE_NS;
    server->piece_bytes_max = options->piece_bytes_max;
    server->tells_sent = options->tells_sent;
    ki_random_init(&server->random, options->seed);
    ki_list_init(&server->streams);
    return server;
}

static sim_stream *stream_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, sim_stream, node);
}

void sim_server_free(sim_server *server)
{
    if (server == NULL)
        return;
    while (!ki_list_is_empty(&server->streams))
        sim_stream_drop(stream_of(ki_list_first(&server->streams)));
    free(server);
}

void sim_server_set_faults(sim_server *server, const sim_faults *faults)
{
    server->faults = *faults;
}

void sim_server_calm(sim_server *server)
{
    server->latency_ns_max = 0;
    server->piece_bytes_max = 0;
}

const sim_counts *sim_server_counts(const sim_server *server)
{
    return &server->counts;
}

bool sim_roll(sim_server *server, double chance, uint64_t *count)
{
    if (chance <= 0 || random_fraction(&server->random) >= chance)
        return false;
    (*count)++;
    return true;
}

sim_spoilt sim_roll_spoilt(sim_server *server)
{
    if (SIM_ROLL(server, malformed_item))
        return SIM_MALFORMED;
    return SIM_ROLL(server, huge_item) ? SIM_HUGE : SIM_SOUND;
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static void answer_500(sim_stream *stream)
{
    sim_stream_answer_status(stream,
                             &(sim_status){.code = 500, .reason = "InternalError", .message = "simulated"});
    if (ki_random_below(&stream->server->random, 2) == 0) {
        stream->text.len = 0;
        sim_text_put(&stream->text, "upstream connect error or disconnect\n");
    }
}

static void answer_429(sim_stream *stream)
{
    stream->retry_after_seconds = 1 + (uint32_t)ki_random_below(&stream->server->random, 5);
    sim_stream_answer_status(stream,
                             &(sim_status){.code = 429, .reason = "TooManyRequests", .message = "simulated"});
}

/* Failures before anything is looked up. Returns true if that is the whole answer. */
static bool answer_fault(sim_stream *stream)
{
    sim_server *server = stream->server;
    if (SIM_ROLL(server, refuse)) {
        stream->request_sent = true; /* there was no connection, */
        stream->head_sent = true;    /* and there will be no head */
        sim_stream_end_after_text(stream, KI_REASON_CONNECTION_REFUSED);
    } else if (SIM_ROLL(server, http_500)) {
        answer_500(stream);
    } else if (SIM_ROLL(server, http_429)) {
        answer_429(stream);
    } else if (SIM_ROLL(server, empty_body)) {
        sim_stream_end_after_text(stream, KI_REASON_NONE);
    } else {
        return false;
    }
    return true;
}

static void answer_refused(sim_stream *stream, int code, const char *reason)
{
    sim_stream_answer_status(stream, &(sim_status){.code = code, .reason = reason, .message = "broken"});
}

/* Sends this many spaces, and then nothing. */
static void answer_silence(sim_stream *stream, uint64_t bytes)
{
    if (bytes > 0)
        sim_text_fill(&stream->text, ' ', bytes);
    sim_stream_end_after_text(stream, KI_REASON_NONE);
    stream->stall_at = bytes;
}

/* Returns true if a request of this kind is broken in a way that is the whole answer. */
static bool answer_broken(sim_stream *stream, const ki_list_options *options)
{
    sim_server *server = stream->server;
    sim_manner manner = server->breakage.manner;
    bool is_later = (manner == SIM_CYCLES && (stream->kind & SIM_LISTS) != 0) ||
                    (manner == SIM_LACKS_END && (stream->kind & SIM_STREAMS) != 0);
    if ((server->breakage.kinds & stream->kind) == 0 || is_later)
        return false;
    server->counts.broken++;
    switch (manner) {
    case SIM_ANSWERS_401:
        answer_refused(stream, 401, "Unauthorized");
        break;
    case SIM_ANSWERS_403:
        answer_refused(stream, 403, "Forbidden");
        break;
    case SIM_ANSWERS_500:
        answer_500(stream);
        break;
    case SIM_ANSWERS_503:
        answer_refused(stream, 503, "ServiceUnavailable");
        break;
    case SIM_IS_SILENT:
    case SIM_IS_SILENT_LATER:
        answer_silence(stream, manner == SIM_IS_SILENT_LATER);
        break;
    case SIM_RESETS:
    case SIM_RESETS_BEHIND_HEAD:
        stream->head_sent = manner == SIM_RESETS; /* no head will be sent */
        sim_stream_end_after_text(stream, KI_REASON_CONNECTION_LOST);
        break;
    case SIM_MAKES_NO_SENSE:
    case SIM_BOOKMARKS_NOTHING:
        if (options->watch)
            sim_watch_begin_senseless(stream, options);
        else
            sim_stream_end_after_text(stream, KI_REASON_NONE);
        break;
    default:
        sim_stream_end_after_text(stream, KI_REASON_NONE);
        break;
    }
    return true;
}

static unsigned kind_of(const ki_list_options *options)
{
    unsigned version = options->resource_version.len > 0 ? SIM_CACHED : SIM_NEWEST;
    if (options->watch && !options->send_initial_events)
        return SIM_WATCHES;
    if (options->continue_token.len > 0) /* the first page was answered */
        version = 0;
    return (options->watch ? SIM_STREAMS : SIM_LISTS) | version;
}

static void choose_stall(sim_stream *stream)
{
    sim_server *server = stream->server;
    if (!SIM_ROLL(server, stall))
        return;
    uint64_t bytes = stream->watch ? STALL_BYTES_MAX : stream->text.len;
    stream->stall_at = ki_random_below(&server->random, bytes + 1);
}

static void bring_some(sim_stream *stream)
{
    sim_server *server = stream->server;
    uint64_t now = ki_clock_now_ns(server->clock);
    uint64_t calls = 1 + ki_random_below(&server->random, 8);
    do
        stream->due_ns = now;
    while (calls-- > 0 && sim_stream_due_ns(stream) <= now && sim_stream_advance(stream));
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    sim_server *server = user;
    if (options->label_selector.len > 0 || options->field_selector.len > 0)
        return KI_ERR_INVALID; /* the simulated server has no selectors */
    if (SIM_ROLL(server, begin_fails))
        return KI_ERR_NO_MEMORY;
    sim_stream *stream = sim_stream_new(server, answer);
    stream->kind = kind_of(options);
    if (!answer_broken(stream, options) && !answer_fault(stream)) {
        if (options->watch)
            sim_watch_begin(stream, options);
        else
            sim_list_answer(stream, options);
        choose_stall(stream);
    }
    if (SIM_ROLL(server, eager))
        bring_some(stream);
    return 0;
}

static sim_stream *find_stream(sim_server *server, const ki_answer *answer)
{
    ki_list_node *node = ki_list_first(&server->streams);
    while (node != NULL && stream_of(node)->answer != answer)
        node = ki_list_next(&server->streams, node);
    if (node == NULL)
        server->counts.misuse++;
    return node == NULL ? NULL : stream_of(node);
}

static void cancel(ki_answer *answer, void *user)
{
    sim_stream *stream = find_stream(user, answer);
    if (stream != NULL)
        sim_stream_drop(stream);
}

static void resume(ki_answer *answer, void *user)
{
    sim_stream *stream = find_stream(user, answer);
    if (stream == NULL)
        return;
    stream->paused = false;
    if (!stream->busy && SIM_ROLL(stream->server, eager))
        bring_some(stream);
}

ki_list_watch sim_server_list_watch(sim_server *server)
{
    return (ki_list_watch){
        .begin = begin, .cancel = cancel, .resume = resume, .user = server, .tells_sent = server->tells_sent};
}

/* ---- time -------------------------------------------------------------------------------------------- */

/* NULL: nothing will ever be due. */
static sim_stream *earliest(const sim_server *server)
{
    sim_stream *found = NULL;
    for (ki_list_node *node = ki_list_first(&server->streams); node != NULL;
         node = ki_list_next(&server->streams, node)) {
        sim_stream *stream = stream_of(node);
        uint64_t due_ns = sim_stream_due_ns(stream);
        if (due_ns != UINT64_MAX && (found == NULL || due_ns < sim_stream_due_ns(found)))
            found = stream;
    }
    return found;
}

uint64_t sim_server_next_ns(const sim_server *server)
{
    const sim_stream *stream = earliest(server);
    return stream == NULL ? UINT64_MAX : sim_stream_due_ns(stream);
}

void sim_server_step(sim_server *server)
{
    uint64_t now = ki_clock_now_ns(server->clock);
    for (;;) {
        sim_stream *stream = earliest(server);
        if (stream == NULL || sim_stream_due_ns(stream) > now)
            return;
        (void)sim_stream_advance(stream);
    }
}

/* A client may send its next request when an answer ends; those new requests are not cut. */
static void cut_kinds(sim_server *server, unsigned kinds)
{
    size_t count = sim_server_open_count(server);
    for (size_t skipped = 0; count-- > 0;) {
        ki_list_node *node = ki_list_first(&server->streams);
        for (size_t i = 0; i < skipped && node != NULL; i++)
            node = ki_list_next(&server->streams, node);
        if (node == NULL)
            return;
        if ((stream_of(node)->kind & kinds) != 0)
            sim_stream_finish(stream_of(node), KI_REASON_CONNECTION_LOST);
        else
            skipped++;
    }
}

void sim_server_cut_all(sim_server *server)
{
    cut_kinds(server, SIM_LISTS | SIM_WATCHES | SIM_STREAMS);
}

void sim_server_break(sim_server *server, sim_breakage breakage)
{
    server->breakage = breakage;
    cut_kinds(server, breakage.kinds);
}

size_t sim_server_open_count(const sim_server *server)
{
    size_t count = 0;
    for (const ki_list_node *node = ki_list_first(&server->streams); node != NULL;
         node = ki_list_next(&server->streams, node))
        count++;
    return count;
}
