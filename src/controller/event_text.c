/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/event_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/label_syntax.h"
#include "controller/micro_time.h"
#include "json/write.h"

/* ---- names ------------------------------------------------------------------------------------------- */

/* The UUID has the form of version 4, but is computed from the hashes. */
static void write_uuid(const ki_event_source *source, ki_str object, uint64_t number, char *out)
{
    uint64_t parts[2] = {ki_hash(&source->hash.a, object), number};
    ki_str text = {(const char *)parts, sizeof(parts)};
    uint64_t a = ki_hash(&source->hash.a, text), b = ki_hash(&source->hash.b, text);
    (void)snprintf(out, KI_EVENT_NAME_BYTES,
                   "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, a >> 32,
                   (a >> 16) & 0xffff, a & 0xfff, (b >> 48 & 0x3fff) | 0x8000, b & UINT64_C(0xffffffffffff));
}

void ki_event_name(const ki_event_source *source, const ki_event_write *write, char out[KI_EVENT_NAME_BYTES])
{
    assert(write->event != NULL);
    ki_str object = write->event->parts[KI_RECORDED_NAME];
    char suffix[20];
    size_t n = (size_t)snprintf(suffix, sizeof(suffix), ".%" PRIx64, write->number);
    if (!ki_label_is_prefix(object) || object.len + n >= KI_EVENT_NAME_BYTES) {
        write_uuid(source, object, write->number, out);
        return;
    }
    memcpy(out, object.ptr, object.len);
    memcpy(out + object.len, suffix, n + 1);
}

/* ---- bodies ------------------------------------------------------------------------------------------ */

static void write_text(ki_json_writer *writer, const char *name, ki_str text)
{
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_string(writer, text);
}

/* Leaves out empty texts. */
static void write_some(ki_json_writer *writer, const char *name, ki_str text)
{
    if (text.len > 0)
        write_text(writer, name, text);
}

static void write_reference(ki_json_writer *writer, const char *name, const ki_recorded *event,
                            bool is_related)
{
    static const struct {
        const char *name;
        ki_recorded_part regarding, related;
    } members[] = {{"apiVersion", KI_RECORDED_API_VERSION, KI_RECORDED_RELATED_API_VERSION},
                   {"kind", KI_RECORDED_KIND, KI_RECORDED_RELATED_KIND},
                   {"namespace", KI_RECORDED_NAMESPACE, KI_RECORDED_RELATED_NAMESPACE},
                   {"name", KI_RECORDED_NAME, KI_RECORDED_RELATED_NAME},
                   {"uid", KI_RECORDED_UID, KI_RECORDED_RELATED_UID},
                   {"resourceVersion", KI_RECORDED_VERSION, KI_RECORDED_RELATED_VERSION}};
    if (is_related && event->parts[KI_RECORDED_RELATED_NAME].len == 0)
        return;
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_object_begin(writer);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        write_some(writer, members[i].name,
                   event->parts[is_related ? members[i].related : members[i].regarding]);
    ki_json_write_object_end(writer);
}

static void write_head(ki_json_writer *writer, const ki_event_source *source, const ki_event_write *write)
{
    char name[KI_EVENT_NAME_BYTES];
    ki_event_name(source, write, name);
    write_text(writer, "apiVersion",
               source->api == KI_RECORDER_EVENTS_V1 ? KI_STR("events.k8s.io/v1") : KI_STR("v1"));
    write_text(writer, "kind", KI_STR("Event"));
    ki_json_write_name(writer, KI_STR("metadata"));
    ki_json_write_object_begin(writer);
    write_text(writer, "name", ki_str_of(name));
    write_text(writer, "namespace", ki_recorded_namespace(write->event));
    ki_json_write_object_end(writer);
}

/* Puts the prefix before the message of a combined event. */
static void write_core_count(ki_json_writer *writer, const ki_event_write *write)
{
    assert(write->event->parts[KI_RECORDED_MESSAGE].len <= KI_MESSAGE_BYTES);
    static const char prefix[] = "(combined from similar events): ";
    ki_str message = write->event->parts[KI_RECORDED_MESSAGE];
    char text[sizeof(prefix) + KI_MESSAGE_BYTES];
    if (write->is_combined) {
        memcpy(text, prefix, sizeof(prefix) - 1);
        memcpy(text + sizeof(prefix) - 1, message.ptr, message.len);
        message = (ki_str){text, sizeof(prefix) - 1 + message.len};
    }
    ki_json_write_name(writer, KI_STR("count"));
    ki_json_write_int64(writer, write->count);
    ki_write_time(writer, KI_STR("lastTimestamp"), write->last_wall_ns);
    write_text(writer, "message", message);
}

static void write_core(ki_json_writer *writer, const ki_event_source *source, const ki_event_write *write)
{
    const ki_recorded *event = write->event;
    write_head(writer, source, write);
    write_reference(writer, "involvedObject", event, false);
    write_reference(writer, "related", event, true);
    write_text(writer, "reason", event->parts[KI_RECORDED_REASON]);
    write_text(writer, "type", event->parts[KI_RECORDED_TYPE]);
    ki_json_write_name(writer, KI_STR("source"));
    ki_json_write_object_begin(writer);
    write_text(writer, "component", source->component);
    write_some(writer, "host", source->instance);
    ki_json_write_object_end(writer);
    write_text(writer, "reportingComponent", source->component);
    write_text(writer, "reportingInstance", source->instance);
    ki_write_time(writer, KI_STR("firstTimestamp"), write->first_wall_ns);
}

static void write_series(ki_json_writer *writer, const ki_event_write *write)
{
    if (write->count == 0)
        return;
    ki_json_write_name(writer, KI_STR("series"));
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("count"));
    ki_json_write_int64(writer, write->count);
    ki_write_micro_time(writer, KI_STR("lastObservedTime"), write->last_wall_ns);
    ki_json_write_object_end(writer);
}

static void write_events_v1(ki_json_writer *writer, const ki_event_source *source,
                            const ki_event_write *write)
{
    const ki_recorded *event = write->event;
    write_head(writer, source, write);
    ki_write_micro_time(writer, KI_STR("eventTime"), write->first_wall_ns);
    write_text(writer, "reportingController", source->component);
    write_text(writer, "reportingInstance", source->instance);
    write_text(writer, "action", event->parts[KI_RECORDED_ACTION]);
    write_text(writer, "reason", event->parts[KI_RECORDED_REASON]);
    write_reference(writer, "regarding", event, false);
    write_reference(writer, "related", event, true);
    write_text(writer, "note", event->parts[KI_RECORDED_MESSAGE]);
    write_text(writer, "type", event->parts[KI_RECORDED_TYPE]);
}

int ki_event_body(const ki_event_source *source, const ki_event_write *write, ki_buf *out)
{
    assert(write->event != NULL && out != NULL);
    bool is_core = source->api != KI_RECORDER_EVENTS_V1;
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_json_write_object_begin(writer);
    if (!write->is_patch && is_core)
        write_core(writer, source, write);
    else if (!write->is_patch)
        write_events_v1(writer, source, write);
    if (is_core)
        write_core_count(writer, write);
    else
        write_series(writer, write);
    ki_json_write_object_end(writer);
    return ki_json_writer_move(writer, out);
}
