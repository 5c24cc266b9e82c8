/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/event_writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/moment.h"

enum {
    TYPE_WIDTH = 9,
    VERSION_WIDTH = 16,
    RESOURCE_WIDTH_MIN = 8,
    KEY_WIDTH_MIN = 30,
    KEY_WIDTH_MAX = 80,
    NAME_BYTES = 640
};

static const char *type_name(const ki_event *event)
{
    static const char *const names[] = {
        [KI_CHANGE_ADDED] = "ADDED", [KI_CHANGE_UPDATED] = "MODIFIED", [KI_CHANGE_DELETED] = "DELETED"};
    return names[event->change_type];
}

/* ---- JSON Lines ---------------------------------------------------------------------------------------- */

static void put_object(cli_output *out, const char *name, const ki_object *object)
{
    cli_output_put_text(out, name);
    if (object == NULL)
        cli_output_put_text(out, "null");
    else
        cli_output_put_json(out, ki_object_json(object));
}

static void put_flag(cli_output *out, const ki_event *event, uint32_t flag, const char *text)
{
    if (event->flags & flag)
        cli_output_put_text(out, text);
}

static void end_line(cli_output *out)
{
    cli_output_put_text(out, "}\n");
    cli_output_flush(out);
}

static void put_member(cli_output *out, const char *name, const char *value)
{
    cli_output_put_text(out, name);
    cli_output_put_json_string(out, ki_str_of(value));
}

/* Writes the members that every line begins with. */
static void begin_line(cli_output *out, const char *type, const cli_resource *resource)
{
    char now[KI_TIMESTAMP_BYTES];
    cli_moment_format_now(now);
    put_member(out, "{\"type\":", type);
    put_member(out, ",\"resource\":", resource->name);
    put_member(out, ",\"time\":", now);
}

static void write_event(cli_output *out, const cli_resource *resource, const ki_event *event)
{
    begin_line(out, type_name(event), resource);
    if (event->change_type == KI_CHANGE_ADDED)
        cli_output_put_text(out,
                            event->flags & KI_EVENT_INITIAL ? ",\"initial\":true" : ",\"initial\":false");
    put_flag(out, event, KI_EVENT_REPLACED, ",\"replaced\":true");
    put_flag(out, event, KI_EVENT_RESYNC, ",\"resync\":true");
    put_flag(out, event, KI_EVENT_FINAL_STATE_UNKNOWN, ",\"finalStateUnknown\":true");
    put_object(out, ",\"object\":", event->object);
    if (event->change_type == KI_CHANGE_UPDATED)
        put_object(out, ",\"old\":", event->old);
    end_line(out);
}

void cli_event_writer_synced(cli_event_writer *writer, const cli_resource *resource, uint64_t objects,
                             const char *version)
{
    cli_output *out = writer->output;
    if (writer->format != CLI_FORMAT_EVENTS)
        return;
    begin_line(out, "SYNCED", resource);
    cli_output_put_text(out, ",\"objects\":");
    cli_output_put_number(out, objects);
    put_member(out, ",\"resourceVersion\":", version);
    end_line(out);
}

void cli_event_writer_status(cli_event_writer *writer, const cli_resource *resource,
                             const ki_informer_status *status)
{
    cli_output *out = writer->output;
    if (writer->format != CLI_FORMAT_EVENTS)
        return;
    begin_line(out, "STATUS", resource);
    put_member(out, ",\"phase\":", ki_phase_name(status->phase));
    put_member(out, ",\"reason\":", ki_reason_name(status->reason));
    put_member(out, ",\"message\":", status->message);
    put_member(out, ",\"resourceVersion\":", status->resource_version);
    end_line(out);
}

/* ---- for people ---------------------------------------------------------------------------------------- */

/* The width of a column. A line is written before the next one is known, so the width only grows. */
static int grow(int width, size_t length)
{
    int wanted = length > KEY_WIDTH_MAX ? KEY_WIDTH_MAX : (int)length;
    assert(wanted <= KEY_WIDTH_MAX);
    return wanted > width ? wanted : width;
}

static const char *note_of(const ki_event *event)
{
    if (event->flags & KI_EVENT_REPLACED)
        return " (replaced)";
    if (event->flags & KI_EVENT_RESYNC)
        return " (resync)";
    if (event->flags & KI_EVENT_FINAL_STATE_UNKNOWN)
        return " (final state unknown)";
    return "";
}

static void put_column(cli_output *out, ki_str text, int width)
{
    assert(width >= 0 && width <= KEY_WIDTH_MAX);
    char spaces[KEY_WIDTH_MAX + 2];
    int missing = text.len < (size_t)width ? width - (int)text.len : 0;
    snprintf(spaces, sizeof(spaces), "%*s", missing + 1, "");
    cli_output_put_plain(out, text);
    cli_output_put_text(out, spaces);
}

static void put_title(cli_event_writer *writer)
{
    cli_output *out = writer->output;
    put_column(out, KI_STR("EVENT"), TYPE_WIDTH);
    if (writer->shows_resource)
        put_column(out, KI_STR("RESOURCE"), writer->resource_width);
    put_column(out, writer->shows_namespace ? KI_STR("NAMESPACE/NAME") : KI_STR("NAME"), writer->key_width);
    put_column(out, KI_STR("VERSION"), VERSION_WIDTH);
    cli_output_put_text(out, "PHASE\n");
    writer->has_title = 1;
}

static void write_line(cli_event_writer *writer, const cli_resource *resource, const ki_event *event)
{
    cli_output *out = writer->output;
    ki_str key = writer->shows_namespace ? ki_object_key_str(event->object) : ki_object_name(event->object);
    writer->key_width = grow(writer->key_width < KEY_WIDTH_MIN ? KEY_WIDTH_MIN : writer->key_width, key.len);
    writer->resource_width =
        grow(writer->resource_width < RESOURCE_WIDTH_MIN ? RESOURCE_WIDTH_MIN : writer->resource_width,
             strlen(resource->name));
    if (!writer->has_title)
        put_title(writer);
    put_column(out, ki_str_of(type_name(event)), TYPE_WIDTH);
    if (writer->shows_resource)
        put_column(out, ki_str_of(resource->name), writer->resource_width);
    put_column(out, key, writer->key_width);
    put_column(out, ki_object_resource_version(event->object), VERSION_WIDTH);
    cli_output_put_plain(out, ki_object_string(event->object, "/status/phase"));
    cli_output_put_text(out, note_of(event));
    cli_output_put_text(out, "\n");
}

static void write_json(cli_output *out, const ki_event *event)
{
    cli_output_put_json(out, ki_object_json(event->object));
    cli_output_put_text(out, "\n");
}

/* As in kubectl: "pod/web", "deployment.apps/web". */
static void write_name(cli_output *out, const cli_resource *resource, const ki_event *event)
{
    char kind[NAME_BYTES];
    ki_str from = ki_object_kind(event->object);
    int n = snprintf(kind, sizeof(kind), "%.*s", KI_STR_ARGS(from));
    for (int i = 0; i < n && kind[i] != 0; i++)
        if (kind[i] >= 'A' && kind[i] <= 'Z')
            kind[i] = (char)(kind[i] - 'A' + 'a');
    cli_output_put_plain(out, ki_str_of(n > 0 ? kind : resource->resource->plural));
    if (resource->resource->group[0] != 0)
        cli_output_put_text(out, ".");
    cli_output_put_plain(out, ki_str_of(resource->resource->group));
    cli_output_put_text(out, "/");
    cli_output_put_plain(out, ki_object_name(event->object));
    cli_output_put_text(out, "\n");
}

/* ---- all ----------------------------------------------------------------------------------------------- */

void cli_event_writer_event(cli_event_writer *writer, const cli_resource *resource, const ki_event *event)
{
    assert(resource != NULL && event->object != NULL);
    switch (writer->format) {
    case CLI_FORMAT_LINES:
        write_line(writer, resource, event);
        break;
    case CLI_FORMAT_EVENTS:
        write_event(writer->output, resource, event);
        break;
    case CLI_FORMAT_JSON:
        write_json(writer->output, event);
        break;
    case CLI_FORMAT_NAME:
        write_name(writer->output, resource, event);
        break;
    case CLI_FORMAT_NONE:
        break;
    }
}

void cli_event_writer_batch_end(cli_event_writer *writer)
{
    assert(writer->output != NULL);
    cli_output_flush(writer->output);
}
