/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/request_log.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/timestamp.h"
#include "util/alloc.h"
#include "util/refcount.h"
#include "util/thread.h"
#include "util/units.h"

enum { TEXT_BYTES_MAX = 2048 };

struct entry {
    ki_refcount refs;
    ki_apiserver_request request; /* its texts follow the struct */
    char texts[];
};

struct ki_as_request_log {
    ki_mutex mu;
    uint64_t last;                           /* number of the latest entry; guarded by mu, like `slots` */
    struct entry *slots[KI_AS_REQUESTS_MAX]; /* NULL if memory for the entry was missing */
};

/* ---- entries ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name; /* in JSON */
    size_t offset;
} texts[KI_AS_REQUEST_TEXTS] = {
    [KI_AS_REQUEST_METHOD] = {"method", offsetof(ki_apiserver_request, method)},
    [KI_AS_REQUEST_PATH] = {"path", offsetof(ki_apiserver_request, path)},
    [KI_AS_REQUEST_USER_AGENT] = {"userAgent", offsetof(ki_apiserver_request, user_agent)},
    [KI_AS_REQUEST_REMOTE] = {"remote", offsetof(ki_apiserver_request, remote)},
    [KI_AS_REQUEST_USER] = {"user", offsetof(ki_apiserver_request, user_name)},
    [KI_AS_REQUEST_GROUP] = {"group", offsetof(ki_apiserver_request, group)},
    [KI_AS_REQUEST_RESOURCE] = {"resource", offsetof(ki_apiserver_request, resource)},
    [KI_AS_REQUEST_NAMESPACE] = {"namespace", offsetof(ki_apiserver_request, ns)},
    [KI_AS_REQUEST_NAME] = {"name", offsetof(ki_apiserver_request, name)},
    [KI_AS_REQUEST_SUBRESOURCE] = {"subresource", offsetof(ki_apiserver_request, subresource)},
    [KI_AS_REQUEST_FAULT] = {"fault", offsetof(ki_apiserver_request, fault)},
};

static const char **text_at(ki_apiserver_request *request, size_t i)
{
    assert(i < KI_AS_REQUEST_TEXTS);
    return (const char **)(void *)((char *)request + texts[i].offset);
}

static size_t length_of(ki_str text)
{
    return text.len < TEXT_BYTES_MAX ? text.len : TEXT_BYTES_MAX;
}

static void copy_text(char *to, ki_str text)
{
    size_t len = length_of(text);
    for (size_t i = 0; i < len; i++)
        to[i] = text.ptr[i] < ' ' || text.ptr[i] > '~' ? '?' : text.ptr[i];
    to[len] = 0;
}

static struct entry *make(const struct ki_as_request_note *note)
{
    size_t bytes = 0;
    for (size_t i = 0; i < KI_AS_REQUEST_TEXTS; i++)
        bytes += length_of(note->texts[i]) + 1;
    struct entry *entry = ki_calloc(1, sizeof(*entry) + bytes);
    if (entry == NULL)
        return NULL;
    ki_refcount_init(&entry->refs);
    entry->request = (ki_apiserver_request){.time_us = note->time_us,
                                            .took_us = note->took_us,
                                            .version = note->version,
                                            .http_status = note->status};
    char *at = entry->texts;
    for (size_t i = 0; i < KI_AS_REQUEST_TEXTS; i++) {
        copy_text(at, note->texts[i]);
        *text_at(&entry->request, i) = at;
        at += length_of(note->texts[i]) + 1;
    }
    assert(at == entry->texts + bytes);
    return entry;
}

static void unref(struct entry *entry)
{
    if (entry != NULL && ki_refcount_unref(&entry->refs))
        ki_free(entry);
}

/* ---- the ring ------------------------------------------------------------------------------------------ */

struct ki_as_request_log *ki_as_request_log_new(void)
{
    struct ki_as_request_log *log = ki_calloc(1, sizeof(*log));
    if (log != NULL)
        ki_mutex_init(&log->mu);
    return log;
}

void ki_as_request_log_free(struct ki_as_request_log *log)
{
    if (log == NULL)
        return;
    for (size_t i = 0; i < KI_AS_REQUESTS_MAX; i++)
        unref(log->slots[i]);
    ki_mutex_fini(&log->mu);
    ki_free(log);
}

void ki_as_request_log_add(struct ki_as_request_log *log, const struct ki_as_request_note *note)
{
    assert(note != NULL);
    struct entry *entry = make(note);
    ki_mutex_lock(&log->mu);
    struct entry **slot = &log->slots[++log->last % KI_AS_REQUESTS_MAX];
    struct entry *before = *slot;
    if (entry != NULL)
        entry->request.number = log->last;
    *slot = entry;
    ki_mutex_unlock(&log->mu);
    unref(before);
}

/* A new reference to the first entry after `since`, up to `until`; NULL if there is none. */
static struct entry *next(struct ki_as_request_log *log, uint64_t since, uint64_t until)
{
    struct entry *found = NULL;
    ki_mutex_lock(&log->mu);
    assert(until <= log->last);
    uint64_t first = log->last < KI_AS_REQUESTS_MAX ? 1 : log->last - KI_AS_REQUESTS_MAX + 1;
    for (uint64_t i = since + 1 > first ? since + 1 : first; i <= until && found == NULL; i++)
        found = log->slots[i % KI_AS_REQUESTS_MAX];
    assert(found == NULL || found->request.number > since);
    if (found != NULL)
        ki_refcount_ref(&found->refs);
    ki_mutex_unlock(&log->mu);
    return found;
}

uint64_t ki_as_request_log_read(struct ki_as_request_log *log, uint64_t since, ki_apiserver_request_cb each,
                                void *user)
{
    struct entry *entry = NULL;
    ki_mutex_lock(&log->mu);
    uint64_t last = log->last;
    ki_mutex_unlock(&log->mu);
    while (each != NULL && since < last && (entry = next(log, since, last)) != NULL) {
        since = entry->request.number;
        each(&entry->request, user);
        unref(entry);
    }
    return last;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

json_t *ki_as_request_json(const ki_apiserver_request *request)
{
    char text[40];
    if (!ki_as_time_write(request->time_us / KI_US_PER_S, (int)(request->time_us % KI_US_PER_S), text))
        text[0] = 0; /* the clock is out of range */
    json_t *tree = json_pack("{s:I, s:s, s:I, s:i}", "number", (json_int_t)request->number, "time", text,
                             "tookMicros", (json_int_t)request->took_us, "status", request->http_status);
    for (size_t i = 0; i < KI_AS_REQUEST_TEXTS; i++) {
        const char *value = *(const char *const *)(const void *)((const char *)request + texts[i].offset);
        if (value[0] != 0)
            (void)json_object_set_new(tree, texts[i].name, json_string(value));
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)request->version);
    if (request->version > 0)
        (void)json_object_set_new(tree, "resourceVersion", json_string(text));
    return tree;
}
