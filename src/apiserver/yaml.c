/* SPDX-License-Identifier: Apache-2.0 */
/* YAML by libyaml's events. Aliases are copied, and all values counted, so that a small text cannot become
 * a large tree. */
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "apiserver/load.h"
#include "apiserver/tree.h"
#include "apiserver/yaml_scalar.h"
#include "util/alloc.h"
#include "util/base64.h"
#include "util/error.h"

enum { DEPTH_MAX = 100, NODES_MAX = 2000000, ANCHORS_MAX = 1000 };

struct anchor {
    char *name;
    json_t *value;
    size_t nodes;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; deleted before the next */
    bool has_event;
    const char *file;
    size_t nodes;
    struct anchor *anchors;
    size_t anchor_count;
    size_t document;        /* the current one, from 1 on */
    json_t *places;         /* NULL: nobody asks */
    bool allows_duplicates; /* else a key that stands twice is refused */
    ki_error *err;
};

static int fail_at(struct reader *reader, size_t line, const char *what, ki_str more)
{
    return ki_fail(reader->err, KI_ERR_INVALID, "%s:%zu: %s%.*s", reader->file, line + 1, what,
                   more.len > 80 ? 80 : (int)more.len, more.len > 0 ? more.ptr : "");
}

static int fail(struct reader *reader, const char *what)
{
    return fail_at(reader, reader->event.start_mark.line, what, (ki_str){0});
}

static int next(struct reader *reader)
{
    if (reader->has_event)
        yaml_event_delete(&reader->event);
    reader->has_event = false;
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        const yaml_parser_t *parser = &reader->parser;
        if (parser->error == YAML_MEMORY_ERROR)
            return ki_fail_no_memory(reader->err);
        size_t line = parser->error == YAML_READER_ERROR ? parser->mark.line : parser->problem_mark.line;
        return fail_at(reader, line, parser->problem != NULL ? parser->problem : "not YAML", (ki_str){0});
    }
    reader->has_event = true;
    return 0;
}

static int count_nodes(struct reader *reader, size_t nodes)
{
    reader->nodes += nodes;
    return reader->nodes > NODES_MAX ? fail(reader, "too many values") : 0;
}

/* ---- anchors
 * ----------------------------------------------------------------------------------------------- */

static int remember(struct reader *reader, const char *name, json_t *value, size_t nodes)
{
    if (reader->anchor_count == ANCHORS_MAX)
        return fail(reader, "too many anchors");
    struct anchor *anchors = ki_realloc(reader->anchors, (reader->anchor_count + 1) * sizeof(*anchors));
    if (anchors == NULL)
        return ki_fail_no_memory(reader->err);
    reader->anchors = anchors;
    size_t bytes = strlen(name) + 1;
    char *copy = ki_malloc(bytes);
    if (copy == NULL)
        return ki_fail_no_memory(reader->err);
    memcpy(copy, name, bytes);
    anchors[reader->anchor_count++] = (struct anchor){copy, json_incref(value), nodes};
    return 0;
}

static int read_alias(struct reader *reader, json_t **out)
{
    const char *name = (const char *)reader->event.data.alias.anchor;
    for (size_t i = reader->anchor_count; i-- > 0;) {
        if (strcmp(reader->anchors[i].name, name) != 0)
            continue;
        int rc = count_nodes(reader, reader->anchors[i].nodes);
        if (rc < 0)
            return rc;
        *out = ki_as_json_copy(reader->anchors[i].value);
        return *out == NULL ? ki_fail_no_memory(reader->err) : 0;
    }
    return fail_at(reader, reader->event.start_mark.line, "unknown anchor ", ki_str_of(name));
}

/* ---- scalars
 * ----------------------------------------------------------------------------------------------- */

static bool has_tag(const yaml_event_t *event, const char *name)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    const char *tag = (const char *)event->data.scalar.tag;
    return tag != NULL && strncmp(tag, prefix, sizeof(prefix) - 1) == 0 &&
           strcmp(tag + sizeof(prefix) - 1, name) == 0;
}

static int read_binary(struct reader *reader, ki_str text, json_t **out)
{
    size_t len = 0;
    char *bytes = ki_malloc(KI_BASE64_DECODED_BYTES(text.len));
    if (bytes == NULL)
        return ki_fail_no_memory(reader->err);
    int rc = ki_base64_decode(text, bytes, &len);
    json_t *value = rc < 0 ? NULL : json_stringn(bytes, len);
    ki_free(bytes);
    if (value == NULL)
        return fail(reader, "!!binary that is no text in base64");
    *out = value;
    return 0;
}

static int read_scalar(struct reader *reader, json_t **out)
{
    const yaml_event_t *event = &reader->event;
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool is_tagged =
        has_tag(event, "int") || has_tag(event, "float") || has_tag(event, "bool") || has_tag(event, "null");
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.tag == NULL;
    bool is_unsupported = false;
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return fail(reader, "a NUL character");
    if (has_tag(event, "binary"))
        return read_binary(reader, text, out);
    json_t *value = is_plain || is_tagged ? ki_as_yaml_resolve(text, &is_unsupported)
                                          : json_stringn(text.len > 0 ? text.ptr : "", text.len);
    if (is_unsupported)
        return fail(reader, "a number that JSON does not have");
    if (value == NULL)
        return ki_fail_no_memory(reader->err);
    *out = value;
    return 0;
}

/* ---- lists and objects
 * ------------------------------------------------------------------------------------- */

static int read_value(struct reader *reader, size_t depth, json_t **out);

/* The text of a key, new. Numbers and booleans become the text that JSON has for them. */
static int read_key(struct reader *reader, char **out, bool *out_is_merge)
{
    json_t *key = NULL;
    if (reader->event.type != YAML_SCALAR_EVENT)
        return fail(reader, "a key that is no scalar");
    bool is_plain = reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    int rc = read_scalar(reader, &key);
    if (rc < 0)
        return rc;
    if (json_is_null(key)) {
        json_decref(key);
        return fail(reader, "a key that is null");
    }
    *out_is_merge = is_plain && ki_str_equal(ki_as_json_str(key), KI_STR("<<"));
    ki_str text = ki_as_json_str(key);
    char *copy = json_is_string(key) ? ki_malloc(text.len + 1) : ki_as_value_text(key);
    if (copy != NULL && json_is_string(key))
        memcpy(copy, text.ptr, text.len + 1);
    json_decref(key);
    if (copy == NULL)
        return ki_fail_no_memory(reader->err);
    *out = copy;
    return 0;
}

/* "<<": members that are not there yet; of a list the first that has a member. */
static int merge(struct reader *reader, json_t *object, const json_t *from)
{
    size_t index = 0;
    json_t *one = NULL;
    if (json_is_array(from)) {
        json_array_foreach(from, index, one)
        {
            int rc = json_is_object(one) ? merge(reader, object, one) : fail(reader, "<< wants mappings");
            if (rc < 0)
                return rc;
        }
        return 0;
    }
    if (!json_is_object(from))
        return fail(reader, "<< wants a mapping");
    return json_object_update_missing(object, (json_t *)from) < 0 ? ki_fail_no_memory(reader->err) : 0;
}

/* One key and its value. `merged` collects what comes by "<<", which every key of the mapping itself
 * outdoes. */
static int read_member(struct reader *reader, size_t depth, json_t *object, json_t *merged)
{
    char *key = NULL;
    bool is_merge = false;
    json_t *value = NULL;
    size_t line = reader->event.start_mark.line;
    int rc = read_key(reader, &key, &is_merge);
    if (rc == 0 && !is_merge && !reader->allows_duplicates && json_object_get(object, key) != NULL)
        rc = fail_at(reader, line, "a key that was there already: ", ki_str_of(key));
    if (rc == 0)
        rc = next(reader);
    if (rc == 0)
        rc = read_value(reader, depth + 1, &value);
    if (rc == 0 && is_merge)
        rc = merge(reader, merged, value);
    else if (rc == 0 && json_object_set(object, key, value) < 0)
        rc = ki_fail_no_memory(reader->err);
    json_decref(value);
    ki_free(key);
    return rc;
}

static int read_object(struct reader *reader, size_t depth, json_t **out)
{
    json_t *object = json_object();
    json_t *merged = json_object();
    int rc = object == NULL || merged == NULL ? ki_fail_no_memory(reader->err) : next(reader);
    while (rc == 0 && reader->event.type != YAML_MAPPING_END_EVENT) {
        rc = read_member(reader, depth, object, merged);
        if (rc == 0)
            rc = next(reader);
    }
    if (rc == 0 && json_object_update_missing(object, merged) < 0)
        rc = ki_fail_no_memory(reader->err);
    json_decref(merged);
    if (rc < 0) {
        json_decref(object);
        return rc;
    }
    *out = object;
    return 0;
}

static int read_list(struct reader *reader, size_t depth, json_t **out)
{
    json_t *list = json_array();
    int rc = list == NULL ? ki_fail_no_memory(reader->err) : next(reader);
    while (rc == 0 && reader->event.type != YAML_SEQUENCE_END_EVENT) {
        json_t *element = NULL;
        rc = read_value(reader, depth + 1, &element);
        if (rc == 0 && json_array_append_new(list, element) < 0)
            rc = ki_fail_no_memory(reader->err);
        if (rc == 0)
            rc = next(reader);
    }
    if (rc < 0) {
        json_decref(list);
        return rc;
    }
    *out = list;
    return 0;
}

/* The name of the value's anchor, new; NULL: it has none. */
static int anchor_of(struct reader *reader, char **out)
{
    const yaml_event_t *event = &reader->event;
    const char *name =
        (const char *)(event->type == YAML_SCALAR_EVENT          ? event->data.scalar.anchor
                       : event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.anchor
                                                                 : event->data.sequence_start.anchor);
    if (name == NULL)
        return 0;
    *out = ki_malloc(strlen(name) + 1);
    if (*out == NULL)
        return ki_fail_no_memory(reader->err);
    memcpy(*out, name, strlen(name) + 1);
    return 0;
}

/* The value that begins with the current event; its last event is current then. */
static int read_value(struct reader *reader, size_t depth, json_t **out)
{
    char *anchor = NULL;
    json_t *value = NULL;
    size_t nodes_before = reader->nodes;
    if (depth > DEPTH_MAX)
        return fail(reader, "nested too deep");
    if (reader->event.type == YAML_ALIAS_EVENT)
        return read_alias(reader, out);
    int rc = count_nodes(reader, 1);
    if (rc == 0)
        rc = anchor_of(reader, &anchor);
    if (rc == 0)
        rc = reader->event.type == YAML_SCALAR_EVENT          ? read_scalar(reader, &value)
             : reader->event.type == YAML_MAPPING_START_EVENT ? read_object(reader, depth, &value)
                                                              : read_list(reader, depth, &value);
    if (rc == 0 && anchor != NULL)
        rc = remember(reader, anchor, value, reader->nodes - nodes_before);
    ki_free(anchor);
    if (rc < 0) {
        json_decref(value);
        return rc;
    }
    *out = value;
    return 0;
}

static void forget_anchors(struct reader *reader)
{
    for (size_t i = 0; i < reader->anchor_count; i++) {
        ki_free(reader->anchors[i].name);
        json_decref(reader->anchors[i].value);
    }
    ki_free(reader->anchors);
    reader->anchors = NULL;
    reader->anchor_count = 0;
}

/* Lines are from 0 on here. */
static int note_place(json_t *places, size_t document, size_t line)
{
    if (places == NULL)
        return 0;
    if (json_array_append_new(places, json_integer((json_int_t)document)) < 0)
        return -1;
    return json_array_append_new(places, json_integer((json_int_t)line + 1));
}

static int read_document(struct reader *reader, json_t *documents)
{
    json_t *value = NULL;
    int rc = next(reader);
    size_t line = rc == 0 ? reader->event.start_mark.line : 0;
    reader->document++;
    if (rc == 0)
        rc = read_value(reader, 0, &value);
    if (rc == 0 && !json_is_null(value) &&
        (json_array_append(documents, value) < 0 || note_place(reader->places, reader->document, line) < 0))
        rc = ki_fail_no_memory(reader->err);
    json_decref(value);
    forget_anchors(reader);
    return rc;
}

static int read_documents(struct reader *reader, json_t *documents)
{
    int rc = next(reader);
    while (rc == 0 && reader->event.type != YAML_STREAM_END_EVENT) {
        if (reader->event.type == YAML_DOCUMENT_START_EVENT)
            rc = read_document(reader, documents);
        if (rc == 0)
            rc = next(reader);
    }
    return rc;
}

static void skip_space(ki_str text, size_t *at, size_t *line)
{
    for (; *at < text.len && strchr(" \t\r\n", text.ptr[*at]) != NULL; (*at)++)
        *line += text.ptr[*at] == '\n' ? 1 : 0;
}

/* Texts that begin as JSON are JSON, one value behind the other; NULL when they are not after all. */
static json_t *read_json(ki_str text, json_t *places)
{
    size_t at = 0;
    size_t line = 0;
    skip_space(text, &at, &line);
    if (at == text.len || (text.ptr[at] != '{' && text.ptr[at] != '['))
        return NULL;
    json_t *documents = json_array();
    while (documents != NULL && at < text.len) {
        json_error_t err;
        json_t *value = json_loadb(text.ptr + at, text.len - at, JSON_DISABLE_EOF_CHECK, &err);
        if (json_array_append_new(documents, value) < 0 ||
            note_place(places, json_array_size(documents), line) < 0) {
            json_decref(documents);
            return NULL;
        }
        for (size_t end = at + (size_t)err.position; at < end; at++)
            line += text.ptr[at] == '\n' ? 1 : 0;
        skip_space(text, &at, &line);
    }
    return documents;
}

static int parse(ki_str text, const char *file, const struct reader *of, json_t **out_documents)
{
    struct reader reader = {
        .file = file, .places = of->places, .allows_duplicates = of->allows_duplicates, .err = of->err};
    ki_error *err = of->err;
    json_t *documents = read_json(text, reader.places);
    if (documents != NULL) {
        *out_documents = documents;
        return 0;
    }
    if (reader.places != NULL)
        (void)json_array_clear(reader.places);
    if (!yaml_parser_initialize(&reader.parser))
        return ki_fail_no_memory(err);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(text.len > 0 ? text.ptr : ""),
                                 text.len);
    documents = json_array();
    int rc = documents == NULL ? ki_fail_no_memory(err) : read_documents(&reader, documents);
    if (reader.has_event)
        yaml_event_delete(&reader.event);
    forget_anchors(&reader);
    yaml_parser_delete(&reader.parser);
    if (rc < 0) {
        json_decref(documents);
        return rc;
    }
    *out_documents = documents;
    return 0;
}

int ki_as_yaml_parse(ki_str text, const char *file, json_t **out_documents, ki_error *err)
{
    return parse(text, file, &(struct reader){.err = err}, out_documents);
}

int ki_as_yaml_parse_placed(ki_str text, const char *file, struct ki_as_documents *out, ki_error *err)
{
    struct ki_as_documents documents = {.places = json_array()};
    if (documents.places == NULL)
        return ki_fail_no_memory(err);
    int rc = parse(text, file, &(struct reader){.places = documents.places, .err = err}, &documents.trees);
    if (rc == 0)
        *out = documents;
    else
        json_decref(documents.places);
    return rc;
}

int ki_as_yaml_parse_body(ki_str text, json_t **out_documents, ki_error *err)
{
    return parse(text, "body", &(struct reader){.allows_duplicates = true, .err = err}, out_documents);
}
