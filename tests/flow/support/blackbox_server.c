/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/blackbox_server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/clock.h"
#include "util/thread.h"

enum { PAUSES_MAX = 256, VALUE_BYTES = 8192, WRITTEN = 1 };

typedef enum request_kind { KIND_STREAM, KIND_LIST, KIND_WATCH, KINDS } request_kind;

struct blackbox_server {
    const scenario *scenario;
    scripted_http *http;
    ki_mutex mu;
    text_log requests; /* guarded by mu, like all below */
    text_log shown;
    int served[KINDS];
    int count;
    int attempts;
    uint64_t last_ms;
    uint64_t pauses_ms[PAUSES_MAX];
};

/* ---- requests ------------------------------------------------------------------------------------------ */

/* A value of the query, decoded as far as the tokens and versions of these tests need it.
 * "": no such value. */
static const char *query_value(const scripted_request *request, const char *name, char value[VALUE_BYTES])
{
    size_t len = strlen(name);
    const char *at = strchr(request->head, '?');
    value[0] = 0;
    for (; at != NULL && *at != ' '; at += 1 + strcspn(at + 1, "& "))
        if (strncmp(at + 1, name, len) == 0 && at[1 + len] == '=') {
            at += 1 + len + 1;
            snprintf(value, VALUE_BYTES, "%.*s", (int)strcspn(at, "& "), at);
            break;
        }
    return value;
}

static bool has_query(const scripted_request *request, const char *name, const char *wanted)
{
    char value[VALUE_BYTES];
    return strcmp(query_value(request, name, value), wanted) == 0;
}

static request_kind kind_of(const scripted_request *request)
{
    if (!has_query(request, "watch", "true") && !has_query(request, "watch", "1"))
        return KIND_LIST;
    return has_query(request, "sendInitialEvents", "true") ? KIND_STREAM : KIND_WATCH;
}

static const char *word_of(const scripted_request *request, request_kind kind)
{
    if (kind != KIND_LIST)
        return kind == KIND_STREAM ? "stream" : "watch";
    if (has_query(request, "limit", ""))
        return "full";
    return has_query(request, "limit", "1") ? "one" : "list";
}

static void note_locked(blackbox_server *server, const scripted_request *request, request_kind kind)
{
    char value[VALUE_BYTES];
    const char *space = server->requests.len > 0 ? " " : "";
    uint64_t now_ms = ki_clock_now_ms(ki_clock_real());
    if (server->count < PAUSES_MAX)
        server->pauses_ms[server->count] = now_ms - server->last_ms;
    server->last_ms = now_ms;
    server->count++;
    if (query_value(request, "continue", value)[0] != 0) {
        text_log_add(&server->requests, "%spage=%s", space, value);
        return;
    }
    server->attempts++;
    text_log_add(&server->requests, "%s%s=%s", space, word_of(request, kind),
                 query_value(request, "resourceVersion", value));
}

/* ---- replies ------------------------------------------------------------------------------------------- */

static const reply *replies_of(const scenario *s, request_kind kind)
{
    static const reply refusal[] = {REFUSE("400", "BadRequest"), {0}};
    static const reply failure[] = {REFUSE("500", "InternalError"), {0}};
    static const reply silence[] = {HOLD(""), {0}};
    switch (kind) {
    case KIND_STREAM:
        return s->streams != NULL ? s->streams : refusal;
    case KIND_LIST:
        return s->lists != NULL ? s->lists : failure;
    default:
        return s->watches != NULL ? s->watches : silence;
    }
}

static reply next_reply(blackbox_server *server, const scripted_request *request, request_kind kind)
{
    const reply *replies = replies_of(server->scenario, kind);
    int at = 0;
    ki_mutex_lock(&server->mu);
    note_locked(server, request, kind);
    for (int left = server->served[kind]++; left > 0 && replies[at + 1].end != REPLY_NONE; left--)
        at++;
    ki_mutex_unlock(&server->mu);
    return replies[at];
}

/* Events after the first list are sent only when that list was written: otherwise they could merge with
 * events that wait to be delivered. */
static bool send_body(scripted_connection *connection, request_kind kind, const char *body)
{
    const char *marker = kind == KIND_STREAM ? strstr(body, "initial-events-end") : NULL;
    const char *rest = marker == NULL ? body : strchr(marker, '\n') + 1;
    if (marker != NULL) {
        char *list = strndup(body, (size_t)(rest - body));
        bool is_sent = scripted_chunk(connection, list);
        free(list);
        if (!is_sent)
            return false;
    }
    if (*rest == 0)
        return true;
    bool is_late = kind == KIND_WATCH || marker != NULL;
    return (!is_late || scripted_wait(connection, WRITTEN)) && scripted_chunk(connection, rest);
}

static scripted_next end_body(scripted_connection *connection, reply_end end, int lives_ms)
{
    if (lives_ms > 0)
        (void)poll(NULL, 0, lives_ms);
    if (end == REPLY_WHOLE)
        scripted_chunk(connection, "");
    if (end == REPLY_HOLD || end == REPLY_SILENCE)
        scripted_wait_for_end(connection);
    if (end == REPLY_RESET)
        return SCRIPTED_RESET;
    return end == REPLY_WHOLE ? SCRIPTED_KEEP : SCRIPTED_CLOSE;
}

static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    request_kind kind = kind_of(request);
    const char *missing = ((const blackbox_server *)user)->scenario->missing;
    if (missing != NULL && strstr(request->target, missing) != NULL) {
        scripted_answer(connection, "404 Not Found", NULL, FAILURE("404", "NotFound"));
        return SCRIPTED_KEEP;
    }
    reply answer = next_reply(user, request, kind);
    const char *status = answer.status == NULL ? "200 OK" : answer.status;
    if (answer.end == REPLY_WHOLE && (kind == KIND_LIST || answer.status != NULL)) {
        scripted_answer(connection, status, answer.headers, answer.body == NULL ? "" : answer.body);
        return SCRIPTED_KEEP;
    }
    if (answer.body != NULL && scripted_begin(connection, status))
        (void)send_body(connection, kind, answer.body);
    return end_body(connection, answer.end, answer.lives_ms);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

blackbox_server *blackbox_server_start(const scenario *s)
{
    blackbox_server *server = calloc(1, sizeof(*server));
    assert_non_null(server);
    server->scenario = s;
    ki_mutex_init(&server->mu);
    server->http = scripted_http_start(&(scripted_http_options){.serve = serve, .user = server});
    return server;
}

void blackbox_server_stop(blackbox_server *server)
{
    scripted_http_stop(server->http);
    text_log_free(&server->requests);
    text_log_free(&server->shown);
    ki_mutex_fini(&server->mu);
    free(server);
}

const scripted_http *blackbox_server_http(const blackbox_server *server)
{
    return server->http;
}

void blackbox_server_note_synced(blackbox_server *server)
{
    scripted_http_poke(server->http, WRITTEN);
}

const char *blackbox_server_requests(blackbox_server *server)
{
    ki_mutex_lock(&server->mu);
    text_log_clear(&server->shown);
    text_log_add(&server->shown, "%s", server->requests.len > 0 ? server->requests.text : "");
    ki_mutex_unlock(&server->mu);
    return server->shown.text;
}

int blackbox_server_count(blackbox_server *server)
{
    ki_mutex_lock(&server->mu);
    int count = server->count;
    ki_mutex_unlock(&server->mu);
    return count;
}

int blackbox_server_attempts(blackbox_server *server)
{
    ki_mutex_lock(&server->mu);
    int attempts = server->attempts;
    ki_mutex_unlock(&server->mu);
    return attempts;
}

uint64_t blackbox_server_pause_ms(blackbox_server *server, int number)
{
    assert_in_range(number, 2, PAUSES_MAX);
    ki_mutex_lock(&server->mu);
    uint64_t pause_ms = server->count >= number ? server->pauses_ms[number - 1] : 0;
    ki_mutex_unlock(&server->mu);
    return pause_ms;
}
