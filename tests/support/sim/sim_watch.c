/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "support/sim/sim_stream.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEFAULT_SECONDS 1800
#define LAST_BOOKMARK_NS (2 * SECOND_NS) /* before the end, as on real servers */
/* A watch that is more than this many records behind the dropped history is ended by the server. */
#define WATCH_BUFFER 100

/* ---- how a watch begins ------------------------------------------------------------------------------ */

static void answer_expired(sim_stream *stream, uint64_t version)
{
    sim_server *server = stream->server;
    char message[96];
    (void)snprintf(message, sizeof(message), "too old resource version: %" PRIu64 " (%" PRIu64 ")", version,
                   sim_world_version(server->world));
    sim_status status = {.code = 410, .reason = "Expired", .message = message};
    server->counts.expired++;
    if (SIM_ROLL(server, expired_as_status)) {
        sim_stream_answer_status(stream, &status);
    } else {
        sim_put_error_event(&stream->text, &status);
        sim_stream_end_after_text(stream, KI_REASON_NONE);
    }
}

/* The objects at that version, as ADDED events. */
static void put_initial_events(sim_stream *stream, uint64_t version)
{
    sim_server *server = stream->server;
    for (uint32_t key = 0; key < sim_world_key_count(server->world); key++) {
        const sim_record *record = sim_world_object_at(server->world, key, version);
        if (record == NULL)
            continue;
        sim_put_initial_event(&stream->text, server->world, record, sim_roll_spoilt(server));
        server->counts.events++;
    }
}

static void refuse_watch_list(sim_stream *stream)
{
    sim_stream_answer_status(
        stream, &(sim_status){.code = 422,
                              .reason = "Invalid",
                              .message = "ListOptions.meta.k8s.io is invalid: sendInitialEvents: Forbidden"});
}

static bool lacks_end(sim_server *server)
{
    const sim_breakage *breakage = &server->breakage;
    bool is_broken = (breakage->kinds & SIM_STREAMS) != 0 && breakage->manner == SIM_LACKS_END;
    server->counts.broken += is_broken;
    return is_broken;
}

/* Returns 0 with the version that the events follow, or -1 after answering with an error. */
static int begin_with_list(sim_stream *stream, const ki_list_options *options, uint64_t *out_version)
{
    sim_server *server = stream->server;
    if (options->send_initial_events) {
        server->counts.watch_lists++;
        int matches = ki_str_equal(options->resource_version_match, KI_STR("NotOlderThan"));
        if (!matches || SIM_ROLL(server, watch_list_refused)) {
            refuse_watch_list(stream);
            return -1;
        }
    }
    if (sim_choose_version(stream, options, out_version) < 0)
        return -1;
    put_initial_events(stream, *out_version);
    if (options->send_initial_events && !lacks_end(server) && !SIM_ROLL(server, watch_list_endless))
        sim_put_bookmark(&stream->text, *out_version, 1);
    if (SIM_ROLL(server, cut_body))
        sim_stream_cut_text(stream, 0);
    return 0;
}

/* Returns the same. Watching from a future version is not an error: no events come until then. */
static int begin_after_version(sim_stream *stream, const ki_list_options *options, uint64_t *out_version)
{
    sim_server *server = stream->server;
    uint64_t version = 0;
    if (sim_read_version(stream, options->resource_version, &version) < 0)
        return -1;
    if (version < sim_world_forgotten_version(server->world)) {
        answer_expired(stream, version);
        return -1;
    }
    server->counts.silent += version > sim_world_version(server->world);
    *out_version = version;
    return 0;
}

static void set_next_bookmark(sim_stream *stream)
{
    uint64_t now = ki_clock_now_ns(stream->server->clock);
    uint64_t next = now + stream->server->bookmark_ns;
    stream->bookmark_at_ns = UINT64_MAX;
    if (!stream->bookmarks || now + LAST_BOOKMARK_NS >= stream->deadline_ns)
        return;
    uint64_t last = stream->deadline_ns - LAST_BOOKMARK_NS;
    stream->bookmark_at_ns = next < last ? next : last;
}

static void begin_watch(sim_stream *stream, const ki_list_options *options)
{
    uint64_t seconds = options->timeout_seconds > 0 ? options->timeout_seconds : DEFAULT_SECONDS;
    stream->watch = true;
    stream->bookmarks = options->allow_bookmarks;
    stream->deadline_ns = ki_clock_now_ns(stream->server->clock) + seconds * SECOND_NS;
    set_next_bookmark(stream);
}

void sim_watch_begin_senseless(sim_stream *stream, const ki_list_options *options)
{
    begin_watch(stream, options);
    stream->senseless = true;
}

void sim_watch_begin(sim_stream *stream, const ki_list_options *options)
{
    sim_server *server = stream->server;
    bool any = options->resource_version.len == 0 || ki_str_equal(options->resource_version, KI_STR("0"));
    uint64_t version = 0;
    server->counts.watches++;
    begin_watch(stream, options);
    int code = any || options->send_initial_events ? begin_with_list(stream, options, &version)
                                                   : begin_after_version(stream, options, &version);
    if (code < 0)
        return;
    stream->from_version = version;
    stream->first = stream->next = sim_world_history_position(server->world, version);
    if (SIM_ROLL(server, short_watch)) {
        stream->has_events_left = true;
        stream->events_left = (uint32_t)ki_random_below(&server->random, 4);
    }
}

/* ---- how it continues -------------------------------------------------------------------------------- */

/* The next record that this watch must report, or NULL. */
static const sim_record *next_record(const sim_stream *stream, size_t *out_position)
{
    const sim_world *world = stream->server->world;
    size_t beginning = sim_world_history_position(world, stream->from_version);
    size_t position = stream->next > beginning ? stream->next : beginning;
    if (position >= sim_world_history_count(world))
        return NULL;
    *out_position = position;
    return sim_world_history_record(world, position);
}

bool sim_watch_has_events(const sim_stream *stream)
{
    size_t position = 0;
    if (stream->senseless)
        return false;
    if (stream->has_events_left && stream->events_left == 0)
        return true; /* it must end */
    return next_record(stream, &position) != NULL;
}

/* Repeats an event that was sent before. */
static void put_duplicate(sim_stream *stream)
{
    sim_server *server = stream->server;
    size_t position = stream->first + (size_t)ki_random_below(&server->random, stream->next - stream->first);
    const sim_record *record = sim_world_history_record(server->world, position);
    if (record->version > stream->from_version)
        sim_put_event(&stream->text, server->world, record, SIM_SOUND);
}

/* Writes faults before the event. Returns true if no event follows. */
static bool put_disturbance(sim_stream *stream)
{
    sim_server *server = stream->server;
    if (SIM_ROLL(server, cut_between)) {
        sim_stream_end_after_text(stream, KI_REASON_CONNECTION_LOST);
        return true;
    }
    if (SIM_ROLL(server, error_event)) {
        sim_put_error_event(
            &stream->text,
            &(sim_status){.code = 500, .reason = "InternalError", .message = "simulated in the stream"});
        sim_stream_end_after_text(stream, KI_REASON_NONE);
        return true;
    }
    if (stream->next > stream->first && SIM_ROLL(server, duplicate_event))
        put_duplicate(stream);
    if (SIM_ROLL(server, garbage))
        sim_put_garbage(&stream->text, &server->random);
    if (SIM_ROLL(server, malformed_event)) {
        sim_put_no_event(&stream->text, &server->random);
        return ki_random_below(&server->random, 2) == 0;
    }
    return false;
}

static void write_event(sim_stream *stream, const sim_record *record)
{
    sim_server *server = stream->server;
    if (put_disturbance(stream))
        return;
    size_t begin = stream->text.len;
    sim_put_event(&stream->text, server->world, record, sim_roll_spoilt(server));
    server->counts.events++;
    if (stream->has_events_left)
        stream->events_left--;
    if (SIM_ROLL(server, cut_in_event)) {
        stream->text.len--; /* without the last byte, so that the cut is inside the event */
        sim_stream_cut_text(stream, begin);
    }
}

/* Everything before the next record has been sent. */
static void write_bookmark(sim_stream *stream, const sim_record *next)
{
    sim_server *server = stream->server;
    uint64_t version = next != NULL ? next->version - 1 : sim_world_version(server->world);
    set_next_bookmark(stream);
    if (version < stream->from_version)
        return;
    sim_put_bookmark(&stream->text, version, 0);
    server->counts.bookmarks++;
}

static void write_senseless(sim_stream *stream, uint64_t now)
{
    sim_server *server = stream->server;
    if (now >= stream->deadline_ns)
        sim_stream_end_after_text(stream, KI_REASON_NONE);
    else if (now >= stream->bookmark_at_ns) {
        set_next_bookmark(stream);
        if (server->breakage.manner == SIM_BOOKMARKS_NOTHING)
            sim_put_vain_bookmark(&stream->text);
        else
            sim_put_no_event(&stream->text, &server->random);
    }
}

void sim_watch_write_more(sim_stream *stream)
{
    sim_server *server = stream->server;
    uint64_t now = ki_clock_now_ns(server->clock);
    if (stream->senseless) {
        write_senseless(stream, now);
        return;
    }
    size_t position = 0;
    const sim_record *record = next_record(stream, &position);
    bool is_given_up = position + WATCH_BUFFER < sim_world_forgotten_count(server->world);
    bool is_used_up = stream->has_events_left && stream->events_left == 0;
    if (is_used_up || now >= stream->deadline_ns || (record != NULL && is_given_up)) {
        sim_stream_end_after_text(stream, KI_REASON_NONE);
    } else if (now >= stream->bookmark_at_ns) {
        write_bookmark(stream, record);
    } else if (record != NULL) {
        write_event(stream, record);
        stream->next = position + 1;
    }
}
