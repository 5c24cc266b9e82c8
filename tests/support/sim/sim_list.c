/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_stream.h"

#define STALE_VERSIONS_MAX 30

static const char message_expired_token[] =
    "The provided continue parameter is too old to display a consistent list result.";

/* ---- the version of a list --------------------------------------------------------------------------- */

/* The oldest version that the server may answer with. */
static uint64_t lagging_version(const sim_server *server)
{
    size_t count = sim_world_history_count(server->world);
    size_t lag = server->faults.lag_records_max;
    if (lag == 0)
        return sim_world_version(server->world);
    if (lag >= count)
        return sim_world_first_version(server->world);
    return sim_world_history_record(server->world, count - lag - 1)->version;
}

/* A version from `low` to now; usually one of these two. */
static uint64_t version_from(sim_server *server, uint64_t low)
{
    uint64_t now = sim_world_version(server->world);
    if (low >= now)
        return now;
    switch (ki_random_below(&server->random, 3)) {
    case 0:
        return low;
    case 1:
        return now;
    default:
        return low + ki_random_below(&server->random, now - low + 1);
    }
}

/* A version older than `version` by 1 to STALE_VERSIONS_MAX, if there is one. */
static uint64_t stale_version(sim_server *server, uint64_t version)
{
    uint64_t first = sim_world_first_version(server->world);
    uint64_t back = 1 + ki_random_below(&server->random, STALE_VERSIONS_MAX);
    return version > first + back ? version - back : first;
}

static void answer_too_large(sim_stream *stream, uint64_t version)
{
    char message[128];
    (void)snprintf(message, sizeof(message),
                   "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, version,
                   sim_world_version(stream->server->world));
    sim_stream_answer_status(
        stream, &(sim_status){
                    .code = 504,
                    .reason = "Timeout",
                    .message = message,
                    .details = "{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large "
                               "resource version\"}],\"retryAfterSeconds\":1}"});
    stream->retry_after_seconds = 1;
    stream->due_ns += UINT64_C(3000000000); /* a real server waits this long for the version */
    stream->server->counts.too_large++;
}

static int answer_bad_request(sim_stream *stream, const char *message)
{
    sim_stream_answer_status(stream, &(sim_status){.code = 400, .reason = "BadRequest", .message = message});
    return -1;
}

int sim_read_version(sim_stream *stream, ki_str text, uint64_t *out_version)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return answer_bad_request(stream, "resourceVersion: invalid value");
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out_version = number;
    return 0;
}

int sim_choose_version(sim_stream *stream, const ki_list_options *options, uint64_t *out_version)
{
    sim_server *server = stream->server;
    uint64_t now = sim_world_version(server->world);
    uint64_t asked = 0;
    if (options->resource_version.len == 0) {
        *out_version = SIM_ROLL(server, stale_quorum) ? stale_version(server, now) : now;
        return 0;
    }
    if (sim_read_version(stream, options->resource_version, &asked) < 0)
        return -1;
    if (asked > now) {
        answer_too_large(stream, asked);
        return -1;
    }
    if (asked > 0 && SIM_ROLL(server, stale_list)) {
        *out_version = stale_version(server, asked);
        return 0;
    }
    uint64_t lagging = lagging_version(server);
    *out_version = version_from(server, asked > lagging ? asked : lagging);
    return 0;
}

/* ---- pages ------------------------------------------------------------------------------------------- */

/* One page: from this key on, at this version. */
typedef struct page {
    uint64_t version;
    uint32_t key;
    uint64_t limit; /* 0: none */
} page;

/* A token contains the epoch, the version (0: the newest at that time) and the key to continue from. */
static void write_token(char *token, size_t bytes, const page *next, uint32_t epoch)
{
    (void)snprintf(token, bytes, "sim-%" PRIu32 "-%" PRIu64 "-%" PRIu32, epoch, next->version, next->key);
}

static void answer_expired_token(sim_stream *stream, uint32_t key)
{
    char token[80];
    page rest = {.key = key};
    write_token(token, sizeof(token), &rest, sim_world_epoch(stream->server->world));
    sim_stream_answer_status(stream, &(sim_status){.code = 410,
                                                   .reason = "Expired",
                                                   .message = message_expired_token,
                                                   .continue_token = token});
    stream->server->counts.expired++;
}

/* Reads epoch, version and key. Returns 0, or -1 if it is not one of our tokens. */
static int split_token(ki_str token, uint64_t parts[3])
{
    char text[80] = "";
    if (token.len >= sizeof(text))
        return -1;
    memcpy(text, token.ptr, token.len);
    if (strncmp(text, "sim-", 4) != 0)
        return -1;
    char *rest = text + 3;
    for (size_t i = 0; i < 3; i++) {
        if (*rest != '-')
            return -1;
        parts[i] = strtoull(rest + 1, &rest, 10);
    }
    return *rest == 0 ? 0 : -1;
}

/* Returns 0, or -1 after answering with an error. */
static int read_token(sim_stream *stream, const ki_list_options *options, page *out)
{
    const sim_world *world = stream->server->world;
    uint64_t parts[3];
    if (split_token(options->continue_token, parts) < 0)
        return answer_bad_request(stream, "continue key is not valid");
    if (options->resource_version.len > 0)
        return answer_bad_request(stream, "resourceVersion is not allowed together with continue");
    uint64_t version = parts[1] > 0 ? parts[1] : sim_world_version(world);
    if (parts[0] != sim_world_epoch(world) || version < sim_world_forgotten_version(world)) {
        answer_expired_token(stream, (uint32_t)parts[2]);
        return -1;
    }
    out->version = version;
    out->key = (uint32_t)parts[2];
    return 0;
}

/* The first key of the next page; SIM_NONE if this is the last one. */
static uint32_t find_next_page(const sim_world *world, const page *wanted, uint64_t *out_remaining)
{
    uint32_t next = SIM_NONE;
    uint64_t count = 0;
    for (uint32_t key = wanted->key; key < sim_world_key_count(world); key++) {
        if (sim_world_object_at(world, key, wanted->version) == NULL)
            continue;
        if (wanted->limit > 0 && count++ == wanted->limit)
            next = key;
    }
    *out_remaining = next == SIM_NONE ? 0 : count - wanted->limit;
    return next;
}

static void put_items(sim_stream *stream, const page *wanted, uint32_t end_key)
{
    sim_server *server = stream->server;
    const char *comma = "";
    sim_text_put(&stream->text, "\"items\":[");
    for (uint32_t key = wanted->key; key < end_key; key++) {
        const sim_record *record = sim_world_object_at(server->world, key, wanted->version);
        if (record == NULL)
            continue;
        sim_text_put(&stream->text, "%s", comma);
        sim_put_object(&stream->text, server->world, record, (sim_form){.spoilt = sim_roll_spoilt(server)});
        comma = ",";
    }
    sim_text_put(&stream->text, "]");
}

static void put_list_metadata(sim_text *out, const page *next, uint32_t epoch, uint64_t remaining)
{
    sim_text_put(out, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", next->version);
    if (next->key != SIM_NONE) {
        char token[80];
        write_token(token, sizeof(token), next, epoch);
        sim_text_put(out, ",\"continue\":\"%s\",\"remainingItemCount\":%" PRIu64, token, remaining);
    }
    sim_text_put(out, "}");
}

static bool cycles(sim_server *server)
{
    const sim_breakage *breakage = &server->breakage;
    bool is_broken = (breakage->kinds & SIM_LISTS) != 0 && breakage->manner == SIM_CYCLES;
    server->counts.broken += is_broken;
    return is_broken || SIM_ROLL(server, token_cycle);
}

static void put_page(sim_stream *stream, const page *wanted)
{
    sim_server *server = stream->server;
    uint64_t remaining = 0;
    page next = *wanted;
    next.key = find_next_page(server->world, wanted, &remaining);
    uint32_t end_key = next.key == SIM_NONE ? sim_world_key_count(server->world) : next.key;
    if (next.key == SIM_NONE && wanted->limit > 0 && cycles(server))
        next.key = 0;
    bool metadata_last = SIM_ROLL(server, metadata_last);
    sim_text_put(&stream->text, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",");
    if (!metadata_last) {
        put_list_metadata(&stream->text, &next, stream->epoch, remaining);
        sim_text_put(&stream->text, ",");
    }
    put_items(stream, wanted, end_key);
    if (metadata_last) {
        sim_text_put(&stream->text, ",");
        put_list_metadata(&stream->text, &next, stream->epoch, remaining);
    }
    sim_text_put(&stream->text, "}\n");
}

/* With a limit and without resourceVersionMatch, a real server takes a version to mean exactly that version.
 * A client that wants to catch up must not ask for that: after a watch from that version was refused,
 * the list would not help. */
static bool wants_exact_version(const ki_list_options *options)
{
    return options->limit > 0 && options->resource_version.len > 0 &&
           options->resource_version_match.len == 0 && !ki_str_equal(options->resource_version, KI_STR("0"));
}

void sim_list_answer(sim_stream *stream, const ki_list_options *options)
{
    page wanted = {.limit = options->limit};
    stream->server->counts.lists++;
    stream->server->counts.misuse += wants_exact_version(options);
    if (wanted.limit > 0 && SIM_ROLL(stream->server, limit_ignored))
        wanted.limit = 0;
    int code = options->continue_token.len > 0 ? read_token(stream, options, &wanted)
                                               : sim_choose_version(stream, options, &wanted.version);
    if (code < 0)
        return;
    put_page(stream, &wanted);
    sim_stream_end_after_text(stream, KI_REASON_NONE);
    if (SIM_ROLL(stream->server, cut_body))
        sim_stream_cut_text(stream, 0);
}
