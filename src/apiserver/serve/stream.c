/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/stream.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/proto_write.h"
#include "apiserver/object/convert.h"
#include "apiserver/object/text.h"
#include "apiserver/value/decode.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/units.h"

enum { EVENTS_AT_A_TIME = 16, KEEP_BYTES = 4096, FRAME_BYTES = 64 };

/* An event may be as large as an object; as a table, it may be several times larger. */
#define EVENT_BYTES_MAX ((size_t)1 << 30)

struct ki_as_stream {
    struct ki_as_stream_options options;
    struct ki_as_watch *watch;
    struct ki_as_page initial;
    size_t next_initial;
    struct ki_as_event events[EVENTS_AT_A_TIME];
    size_t next_event;
    size_t event_count;
    ki_buf pending; /* text that did not fit, starting at pending_at */
    size_t pending_at;
    uint64_t version; /* all changes up to this version were taken, or do not match */
    uint64_t next_bookmark_ns;
    uint32_t event_total; /* number of events sent */
    bool is_marker_due;
    bool is_ended;    /* nothing follows what is pending */
    bool has_columns; /* the columns of a table were sent */
};

static uint64_t now_ns(void)
{
    return ki_clock_now_ns(ki_clock_real());
}

static int open_watch(struct ki_as_stream *stream)
{
    const struct ki_as_stream_options *options = &stream->options;
    struct ki_as_watch_options watch = {.resource = options->resource,
                                        .ns = options->ns,
                                        .selector = options->selector,
                                        .after = options->after,
                                        .wake = options->wake,
                                        .lose = options->lose,
                                        .user = options->user};
    return options->is_expired ? 0 : ki_as_watch_open(options->storage, &watch, &stream->watch);
}

struct ki_as_stream *ki_as_stream_new(const struct ki_as_stream_options *options)
{
    assert(options->storage != NULL && options->resource != NULL && options->count != NULL);
    struct ki_as_stream *stream = ki_calloc(1, sizeof(*stream));
    if (stream == NULL)
        return NULL;
    stream->options = *options;
    stream->version = options->after;
    stream->is_marker_due = options->has_end_marker;
    stream->next_bookmark_ns = options->bookmark_ns == 0 ? UINT64_MAX : now_ns() + options->bookmark_ns;
    ki_buf_init(&stream->pending, EVENT_BYTES_MAX);
    if (open_watch(stream) < 0) {
        ki_free(stream);
        return NULL;
    }
    if (stream->watch == NULL)
        ki_as_selector_free(options->selector);
    if (options->initial != NULL) {
        stream->initial = *options->initial;
        *options->initial = (struct ki_as_page){0};
    }
    (void)ki_as_resource_ref(options->resource);
    return stream;
}

void ki_as_stream_free(struct ki_as_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->watch != NULL)
        ki_as_watch_close(stream->watch);
    for (size_t i = stream->next_event; i < stream->event_count; i++)
        ki_as_object_unref(stream->events[i].object);
    ki_as_page_fini(&stream->initial);
    ki_buf_fini(&stream->pending);
    ki_as_resource_unref(stream->options.resource);
    assert(atomic_load(stream->options.count) > 0);
    (void)atomic_fetch_sub(stream->options.count, 1);
    ki_free(stream);
}

/* ---- events as text ------------------------------------------------------------------------------------ */

static const char *const openings[] = {
    [KI_AS_ADDED] = "{\"type\":\"ADDED\",\"object\":",
    [KI_AS_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
    [KI_AS_DELETED] = "{\"type\":\"DELETED\",\"object\":",
};

static json_t *table_of(struct ki_as_stream *stream, const json_t *tree, uint64_t version)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)version);
    int64_t seconds = ki_clock_wall_ns(ki_clock_real()) / (int64_t)KI_NS_PER_S;
    json_t *columns = stream->has_columns ? json_array() : ki_as_table_columns(stream->options.resource);
    json_t *row = ki_as_table_row(stream->options.resource, tree, stream->options.include, seconds);
    stream->has_columns = true;
    return json_pack("{s:s, s:s, s:{s:s}, s:o, s:[o]}", "kind", "Table", "apiVersion", "meta.k8s.io/v1",
                     "metadata", "resourceVersion", digits, "columnDefinitions", columns, "rows", row);
}

/* Writes an object as the row of a table, or only its metadata. */
static int put_other_form(struct ki_as_stream *stream, const struct ki_as_event *event, ki_buf *text)
{
    assert(stream->options.form == KI_AS_FORM_TABLE || stream->options.form == KI_AS_FORM_METADATA);
    char digits[24];
    const struct ki_as_resource *resource = stream->options.resource;
    json_t *tree = ki_as_shown_tree(resource, event->object);
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)event->version);
    if (tree != NULL)
        (void)json_object_set_new(json_object_get(tree, "metadata"), "resourceVersion", json_string(digits));
    json_t *other = tree == NULL                               ? NULL
                    : stream->options.form == KI_AS_FORM_TABLE ? table_of(stream, tree, event->version)
                                                               : ki_as_partial_metadata(tree);
    int rc = ki_as_text_tree(text, other);
    json_decref(other);
    json_decref(tree);
    return rc;
}

static int put_event(struct ki_as_stream *stream, const struct ki_as_event *event, ki_buf *text)
{
    assert(event->type <= KI_AS_DELETED && event->object != NULL);
    int rc = ki_as_text_put(text, openings[event->type]);
    if (rc == 0)
        rc = stream->options.form == KI_AS_FORM_JSON
                 ? ki_as_text_object(text, stream->options.resource, event->object, event->version)
                 : put_other_form(stream, event, text);
    return rc == 0 ? ki_as_text_put(text, "}\n") : rc;
}

/* Writes an object with nothing but its version. For a pod, it has the fields that Kubernetes always
 * writes. */
static int put_bookmark(struct ki_as_stream *stream, bool is_end_marker, ki_buf *text)
{
    const struct ki_as_resource *resource = stream->options.resource;
    bool is_metadata = stream->options.form == KI_AS_FORM_METADATA;
    bool is_pod = ki_as_resource_is(resource, "", "pods") && !is_metadata;
    const char *parts[] = {
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"",
        is_metadata ? "PartialObjectMetadata" : resource->kind,
        "\",\"apiVersion\":\"",
        is_metadata ? "meta.k8s.io/v1" : resource->api_version,
        "\",\"metadata\":{\"resourceVersion\":\"",
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++)
        rc = ki_as_text_put(text, parts[i]);
    if (rc == 0)
        rc = ki_as_text_number(text, stream->version);
    if (rc == 0)
        rc = ki_as_text_put(
            text, is_end_marker ? "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}" : "\"}");
    if (rc == 0 && is_pod)
        rc = ki_as_text_put(text, ",\"spec\":{\"containers\":null},\"status\":{}");
    return rc == 0 ? ki_as_text_put(text, "}}\n") : rc;
}

static int put_expired(struct ki_as_stream *stream, ki_buf *text)
{
    struct ki_as_failure failure = {0};
    char message[96];
    ki_as_storage_lock(stream->options.storage);
    uint64_t now = ki_as_storage_version(stream->options.storage);
    ki_as_storage_unlock(stream->options.storage);
    snprintf(message, sizeof(message), "too old resource version: %llu (%llu)",
             (unsigned long long)stream->version, (unsigned long long)now);
    (void)ki_as_fail_expired(&failure, message);
    int rc = ki_as_text_put(text, "{\"type\":\"ERROR\",\"object\":");
    if (rc == 0)
        rc = ki_as_text_tree(text, failure.status);
    if (rc == 0)
        rc = ki_as_text_put(text, "}\n");
    ki_as_failure_fini(&failure);
    return rc;
}

/* ---- the next events ----------------------------------------------------------------------------------- */

/* Writes one event: plain JSON into `text` if there is space, all else into `pending`. If out of memory, ends
 * the stream. */
static void tell_event(struct ki_as_stream *stream, const struct ki_as_event *event, ki_buf *text)
{
    size_t bytes = ki_as_text_object_bytes(stream->options.resource, event->object) + FRAME_BYTES;
    bool is_plain = stream->options.form == KI_AS_FORM_JSON && !stream->options.is_proto &&
                    !ki_as_is_converted(stream->options.resource);
    bool fits = is_plain && bytes <= text->cap - text->len;
    if (put_event(stream, event, fits ? text : &stream->pending) < 0) {
        ki_buf_reset(&stream->pending, 0);
        stream->is_ended = true;
    }
    stream->event_total++;
}

static bool tell_initial(struct ki_as_stream *stream, ki_buf *text)
{
    assert(stream->next_initial <= stream->initial.count);
    if (stream->next_initial == stream->initial.count) {
        ki_as_page_fini(&stream->initial);
        stream->next_initial = 0;
        return false;
    }
    /* There is no bookmark here: it would state that all initial objects were sent. */
    stream->is_ended = now_ns() >= stream->options.end_ns;
    if (stream->is_ended)
        return true;
    struct ki_as_object *object = stream->initial.objects[stream->next_initial++];
    struct ki_as_event event = {KI_AS_ADDED, object->version, object};
    tell_event(stream, &event, text);
    return true;
}

static void tell_end(struct ki_as_stream *stream, enum ki_as_watch_end end)
{
    if (end == KI_AS_WATCH_OPEN)
        return;
    if (end == KI_AS_WATCH_EXPIRED && put_expired(stream, &stream->pending) < 0)
        ki_buf_reset(&stream->pending, 0);
    stream->is_ended = true;
}

/* Writes the next event of the watch. False if there is none now. */
static bool tell_change(struct ki_as_stream *stream, ki_buf *text)
{
    assert(stream->watch != NULL);
    assert(stream->next_event <= stream->event_count && stream->event_count <= EVENTS_AT_A_TIME);
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    if (stream->next_event == stream->event_count) {
        stream->next_event = 0;
        stream->event_count =
            ki_as_watch_take(stream->watch, stream->events, EVENTS_AT_A_TIME, &stream->version, &end);
        if (stream->event_count == 0) {
            tell_end(stream, end);
            return end != KI_AS_WATCH_OPEN;
        }
    }
    struct ki_as_event *event = &stream->events[stream->next_event++];
    tell_event(stream, event, text);
    ki_as_object_unref(event->object);
    return true;
}

/* Writes a bookmark if one is due, and ends the stream when its time is over.
 * False if neither is the case. */
static bool tell_time(struct ki_as_stream *stream)
{
    uint64_t now = now_ns();
    bool is_over = now >= stream->options.end_ns;
    bool is_bookmark = now >= stream->next_bookmark_ns || (is_over && stream->options.bookmark_ns > 0);
    bool is_ahead = stream->version < stream->options.after; /* the watch starts in the future */
    if (!is_over && !is_bookmark)
        return false;
    stream->is_ended = is_over;
    stream->next_bookmark_ns = now + stream->options.bookmark_ns;
    if (is_bookmark && !is_ahead && put_bookmark(stream, false, &stream->pending) < 0)
        stream->is_ended = true;
    return true;
}

static bool tell_marker(struct ki_as_stream *stream)
{
    if (!stream->is_marker_due)
        return false;
    stream->is_marker_due = false;
    if (put_bookmark(stream, true, &stream->pending) < 0)
        stream->is_ended = true;
    return true;
}

/* A busy watch can send a bookmark only here: all events of one take have been sent, and the next have not
 * been taken, so the version is that of the events sent. An idle watch takes first,
 * to get the latest version. */
static bool tell_between_takes(struct ki_as_stream *stream)
{
    if (stream->event_count == 0 || stream->next_event < stream->event_count)
        return false;
    stream->event_count = stream->next_event = 0;
    return tell_time(stream);
}

/* Writes at most one event, into `text` or `pending`. False if there is nothing to write now. */
static bool tell(struct ki_as_stream *stream, ki_buf *text)
{
    assert(stream->pending.len == 0 && stream->pending_at == 0);
    if (stream->is_ended)
        return false;
    if (stream->options.is_expired) {
        tell_end(stream, KI_AS_WATCH_EXPIRED);
        return true;
    }
    if (ki_as_stream_is_at_limit(stream))
        return false;
    return tell_initial(stream, text) || tell_marker(stream) || tell_between_takes(stream) ||
           tell_change(stream, text) || tell_time(stream);
}

/* Like tell(). For protobuf, it replaces the text of the pending event by its protobuf form. */
static bool tell_in_format(struct ki_as_stream *stream, ki_buf *text)
{
    ki_buf *pending = &stream->pending;
    bool is_told = tell(stream, text);
    if (!stream->options.is_proto || pending->len == 0)
        return is_told;
    json_t *event = ki_as_decode(ki_buf_str(pending), NULL);
    pending->len = 0;
    if (event == NULL || ki_as_proto_event(pending, event) < 0) {
        ki_buf_reset(pending, 0);
        stream->is_ended = true;
    }
    json_decref(event);
    return is_told;
}

static void take_pending(struct ki_as_stream *stream, ki_buf *text)
{
    assert(stream->pending_at <= stream->pending.len);
    size_t left = stream->pending.len - stream->pending_at;
    size_t space = text->cap - text->len;
    size_t n = left < space ? left : space;
    if (n == 0)
        return;
    memcpy(text->data + text->len, stream->pending.data + stream->pending_at, n);
    text->len += n;
    stream->pending_at += n;
    if (stream->pending_at < stream->pending.len)
        return;
    ki_buf_reset(&stream->pending, KEEP_BYTES);
    stream->pending_at = 0;
}

/* `bytes` is modified through `text`. NOLINTNEXTLINE(readability-non-const-parameter) */
ssize_t ki_as_stream_read(struct ki_as_stream *stream, char *bytes, size_t max, uint64_t *out_due_ns)
{
    assert(max > 0 && out_due_ns != NULL);
    ki_buf text = {.data = bytes, .cap = max, .max = max};
    do {
        take_pending(stream, &text);
    } while (stream->pending.len == 0 && text.len < text.cap && tell_in_format(stream, &text));
    take_pending(stream, &text);
    if (text.len > 0)
        return (ssize_t)text.len;
    uint64_t bookmark_ns = stream->next_bookmark_ns;
    *out_due_ns = bookmark_ns < stream->options.end_ns ? bookmark_ns : stream->options.end_ns;
    return stream->is_ended ? -1 : 0;
}

bool ki_as_stream_is_at_limit(const struct ki_as_stream *stream)
{
    return stream->options.events_max > 0 && stream->event_total >= stream->options.events_max &&
           stream->pending.len == 0;
}

void ki_as_stream_lift_limit(struct ki_as_stream *stream)
{
    stream->options.events_max = 0;
}
