/* SPDX-License-Identifier: Apache-2.0 */
/* Converts YAML to JSON. */
#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/load.h"
#include "apiserver/value/tree.h"
#include "apiserver/value/yaml_scalar.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/base64.h"
#include "util/yaml/yaml_tree.h"

static const ki_yaml_rules rules = {
    .bytes_max = (size_t)256 * 1024 * 1024, .nodes_max = 2000000, .depth_max = 100, .is_open = true};

static const char not_text[] = "!!binary is not base64-encoded UTF-8 text";

struct reader {
    const char *file;
    json_t *places;         /* NULL if not requested */
    bool allows_duplicates; /* otherwise duplicate keys are rejected */
    ki_error *err;
};

static int fail_at(const struct reader *reader, size_t line, const char *what, const char *more)
{
    assert(reader->file != NULL);
    return ki_fail(reader->err, KI_ERR_INVALID, "%s:%zu: %s%.80s", reader->file, line, what, more);
}

static int fail(const struct reader *reader, const ki_yaml_node *node, const char *what)
{
    return fail_at(reader, node->line, what, "");
}

/* ---- scalars ------------------------------------------------------------------------------------------- */

/* json_pack_ex() distinguishes invalid UTF-8 from out of memory; json_stringn() does not. */
static int make_text(const struct reader *reader, const ki_yaml_node *node, ki_str bytes, json_t **out)
{
    if (memchr(bytes.ptr, 0, bytes.len) != NULL)
        return fail(reader, node, "!!binary contains a NUL byte");
    json_error_t why;
    json_t *value = json_pack_ex(&why, 0, "s%", bytes.ptr, bytes.len);
    if (value == NULL)
        return json_error_code(&why) == json_error_invalid_utf8 ? fail(reader, node, not_text)
                                                                : ki_fail_no_memory(reader->err);
    *out = value;
    return 0;
}

static int read_binary(const struct reader *reader, const ki_yaml_node *node, json_t **out)
{
    assert(node->kind == KI_YAML_SCALAR && node->is_binary);
    ki_str text = ki_str_of(node->text);
    size_t len = 0;
    char *bytes = ki_malloc(KI_BASE64_DECODED_BYTES(text.len));
    if (bytes == NULL)
        return ki_fail_no_memory(reader->err);
    bool is_base64 = ki_base64_decode(text, bytes, &len) == 0;
    int rc = is_base64 ? make_text(reader, node, (ki_str){bytes, len}, out) : fail(reader, node, not_text);
    ki_free(bytes);
    return rc;
}

static int resolve(const struct reader *reader, const ki_yaml_node *node, ki_str text, json_t **out)
{
    bool is_unsupported = false;
    json_t *value = ki_as_yaml_resolve(text, &is_unsupported);
    if (is_unsupported)
        return fail(reader, node, "JSON cannot represent this number");
    if (value == NULL)
        return ki_fail_no_memory(reader->err);
    *out = value;
    return 0;
}

static int read_scalar(const struct reader *reader, const ki_yaml_node *node, json_t **out)
{
    assert(node->kind == KI_YAML_SCALAR && node->text != NULL);
    if (node->is_binary)
        return read_binary(reader, node, out);
    if (node->is_plain)
        return resolve(reader, node, ki_str_of(node->text), out);
    *out = json_string(node->text);
    return *out == NULL ? ki_fail_no_memory(reader->err) : 0;
}

/* ---- lists and objects --------------------------------------------------------------------------------- */

static int read_value(const struct reader *reader, const ki_yaml_node *node, json_t **out);

/* The key's text, newly allocated. Numbers and booleans become their JSON text. */
static int read_key(const struct reader *reader, const ki_yaml_node *node, char **out)
{
    assert(node->key != NULL);
    json_t *key = NULL;
    int rc = node->is_key_plain ? resolve(reader, node, ki_str_of(node->key), &key) : 0;
    if (rc < 0)
        return rc;
    bool is_null = json_is_null(key);
    bool is_text = key == NULL || json_is_string(key);
    char *copy = is_null ? NULL : is_text ? ki_str_copy(ki_str_of(node->key)) : ki_as_value_text(key);
    json_decref(key);
    if (copy == NULL)
        return is_null ? fail(reader, node, "a key is null") : ki_fail_no_memory(reader->err);
    *out = copy;
    return 0;
}

/* The last of several equal keys wins, unless the reader rejects duplicates.
 * `merged` contains the keys that only "<<" has set. */
static int read_member(const struct reader *reader, const ki_yaml_node *node, json_t *object, json_t *merged)
{
    char *key = NULL;
    json_t *value = NULL;
    int rc = read_key(reader, node, &key);
    bool is_repeated = rc == 0 && !node->is_merged && json_object_get(object, key) != NULL &&
                       json_object_get(merged, key) == NULL;
    if (is_repeated && !reader->allows_duplicates)
        rc = fail_at(reader, node->line, "duplicate key: ", key);
    if (rc == 0)
        rc = read_value(reader, node, &value);
    if (rc == 0 && json_object_set_new(object, key, value) < 0)
        rc = ki_fail_no_memory(reader->err);
    if (rc == 0 && node->is_merged && json_object_set_new(merged, key, json_true()) < 0)
        rc = ki_fail_no_memory(reader->err);
    if (rc == 0 && !node->is_merged)
        (void)json_object_del(merged, key);
    ki_free(key);
    return rc;
}

static int read_object(const struct reader *reader, const ki_yaml_node *node, json_t **out)
{
    assert(node->kind == KI_YAML_MAPPING);
    json_t *object = json_object();
    json_t *merged = json_object();
    int rc = object == NULL || merged == NULL ? ki_fail_no_memory(reader->err) : 0;
    for (const ki_yaml_node *child = node->first_child; child != NULL && rc == 0; child = child->next)
        rc = read_member(reader, child, object, merged);
    json_decref(merged);
    if (rc == 0)
        *out = object;
    else
        json_decref(object);
    return rc;
}

static int read_list(const struct reader *reader, const ki_yaml_node *node, json_t **out)
{
    assert(node->kind == KI_YAML_SEQUENCE);
    json_t *list = json_array();
    int rc = list == NULL ? ki_fail_no_memory(reader->err) : 0;
    for (const ki_yaml_node *child = node->first_child; child != NULL && rc == 0; child = child->next) {
        json_t *element = NULL;
        rc = read_value(reader, child, &element);
        if (rc == 0 && json_array_append_new(list, element) < 0)
            rc = ki_fail_no_memory(reader->err);
    }
    if (rc == 0)
        *out = list;
    else
        json_decref(list);
    return rc;
}

/* The parser limits the depth of the nodes, and so that of the recursion. */
static int read_value(const struct reader *reader, const ki_yaml_node *node, json_t **out)
{
    return node->kind == KI_YAML_SCALAR    ? read_scalar(reader, node, out)
           : node->kind == KI_YAML_MAPPING ? read_object(reader, node, out)
                                           : read_list(reader, node, out);
}

static int note_place(json_t *places, size_t document, size_t line)
{
    assert(document > 0 && line > 0);
    if (places == NULL)
        return 0;
    if (json_array_append_new(places, json_integer((json_int_t)document)) < 0)
        return -1;
    return json_array_append_new(places, json_integer((json_int_t)line));
}

static int read_documents(const struct reader *reader, const ki_yaml_node *root, json_t *documents)
{
    int rc = 0;
    for (size_t document = 1; root != NULL && rc == 0; root = root->next, document++) {
        json_t *value = NULL;
        rc = read_value(reader, root, &value);
        if (rc == 0 && !json_is_null(value) &&
            (json_array_append(documents, value) < 0 || note_place(reader->places, document, root->line) < 0))
            rc = ki_fail_no_memory(reader->err);
        json_decref(value);
    }
    return rc;
}

static void skip_space(ki_str text, size_t *at, size_t *line)
{
    assert(*at <= text.len);
    for (; *at < text.len && strchr(" \t\r\n", text.ptr[*at]) != NULL; (*at)++)
        *line += text.ptr[*at] == '\n' ? 1 : 0;
}

/* Parses text that starts like JSON as a sequence of JSON values; NULL if it is not JSON after all. */
static json_t *read_json(ki_str text, json_t *places)
{
    size_t at = 0;
    size_t line = 1;
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
        assert(err.position > 0 && (size_t)err.position <= text.len - at);
        for (size_t end = at + (size_t)err.position; at < end; at++)
            line += text.ptr[at] == '\n' ? 1 : 0;
        skip_space(text, &at, &line);
    }
    return documents;
}

static int parse_yaml(ki_str text, const struct reader *reader, json_t *documents)
{
    ki_yaml_node *root = NULL;
    ki_yaml_mistake mistake = {0};
    int rc = ki_yaml_parse(text, &rules, &root, &mistake);
    if (rc == KI_ERR_CONFIG)
        return fail_at(reader, mistake.line, mistake.error.message, "");
    if (rc < 0)
        return ki_fail_no_memory(reader->err);
    rc = read_documents(reader, root, documents);
    ki_yaml_free(root);
    return rc;
}

static int parse(ki_str text, const struct reader *reader, json_t **out_documents)
{
    json_t *documents = read_json(text, reader->places);
    if (documents != NULL) {
        *out_documents = documents;
        return 0;
    }
    if (reader->places != NULL)
        (void)json_array_clear(reader->places);
    documents = json_array();
    int rc = documents == NULL ? ki_fail_no_memory(reader->err) : parse_yaml(text, reader, documents);
    if (rc == 0)
        *out_documents = documents;
    else
        json_decref(documents);
    return rc;
}

int ki_as_yaml_parse(ki_str text, const char *file, struct ki_as_documents *out, ki_error *err)
{
    assert(file != NULL && out != NULL);
    struct ki_as_documents documents = {.places = json_array()};
    if (documents.places == NULL)
        return ki_fail_no_memory(err);
    struct reader reader = {.file = file, .places = documents.places, .err = err};
    int rc = parse(text, &reader, &documents.trees);
    if (rc == 0)
        *out = documents;
    else
        json_decref(documents.places);
    return rc;
}

int ki_as_yaml_parse_body(ki_str text, json_t **out_documents, ki_error *err)
{
    assert(out_documents != NULL);
    struct reader reader = {.file = "body", .allows_duplicates = true, .err = err};
    return parse(text, &reader, out_documents);
}
