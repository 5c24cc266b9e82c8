/* SPDX-License-Identifier: Apache-2.0 */
#include "config/yaml_tree.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* A mapping or sequence that has begun and not ended. */
typedef struct level {
    ki_yaml_node *node;
    ki_yaml_node *last;
    size_t count;
    char *key; /* of the next member; NULL: a key comes next, or it is a sequence */
    size_t key_line;
} level;

typedef struct builder {
    yaml_parser_t parser;
    level levels[KI_YAML_DEPTH_MAX];
    size_t depth;
    size_t node_count;
    ki_yaml_node *root;
    bool has_ended; /* the first document */
    size_t failed_line;
    ki_error *err;
} builder;

#define FAIL(build, line, ...)                                                                               \
    ((build)->failed_line = (line), ki_fail((build)->err, KI_ERR_CONFIG, __VA_ARGS__))

/* Not recursive past KI_YAML_DEPTH_MAX, which the builder keeps. */
void ki_yaml_free(ki_yaml_node *root)
{
    if (root == NULL)
        return;
    for (ki_yaml_node *child = root->first_child, *next; child != NULL; child = next) {
        next = child->next;
        ki_yaml_free(child);
    }
    ki_secret_free(root->key);
    ki_secret_free(root->text);
    ki_free(root);
}

const ki_yaml_node *ki_yaml_member(const ki_yaml_node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != KI_YAML_MAPPING)
        return NULL;
    const ki_yaml_node *child = mapping->first_child;
    while (child != NULL && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

bool ki_yaml_is_null(const ki_yaml_node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return node->kind == KI_YAML_SCALAR && node->is_plain && is_one_of(node->text, words, 5);
}

bool ki_yaml_is_bool(const ki_yaml_node *node, bool *out_value)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
    if (node->kind != KI_YAML_SCALAR || !node->is_plain)
        return false;
    bool value = is_one_of(node->text, yes, 9);
    if (!value && !is_one_of(node->text, no, 9))
        return false;
    *out_value = value;
    return true;
}

/* ---- building ------------------------------------------------------------------------------------------ */

static level *top(builder *build)
{
    return build->depth == 0 ? NULL : &build->levels[build->depth - 1];
}

/* Puts the node where the text says it is; it belongs to the tree then. */
static int attach(builder *build, ki_yaml_node *node)
{
    level *parent = top(build);
    if (parent == NULL) {
        build->root = node;
        return 0;
    }
    if (parent->node->kind == KI_YAML_MAPPING) {
        assert(parent->key != NULL);
        node->key = parent->key;
        node->line = parent->key_line;
        parent->key = NULL;
    }
    if (parent->last == NULL)
        parent->node->first_child = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->count++;
    return 0;
}

static int add_node(builder *build, ki_yaml_kind kind, size_t line, ki_yaml_node **out_node)
{
    level *parent = top(build);
    if (build->node_count >= KI_YAML_NODES_MAX)
        return FAIL(build, line, "more than %d values", KI_YAML_NODES_MAX);
    if (parent != NULL && parent->node->kind == KI_YAML_MAPPING && parent->key == NULL)
        return FAIL(build, line, "a key that is no plain text");
    ki_yaml_node *node = ki_calloc(1, sizeof(*node));
    if (node == NULL)
        return ki_fail_no_memory(build->err);
    node->kind = kind;
    node->line = line;
    build->node_count++;
    *out_node = node;
    return attach(build, node);
}

static int set_key(builder *build, level *mapping, ki_str key, size_t line)
{
    if (mapping->count >= KI_YAML_MEMBERS_MAX)
        return FAIL(build, line, "a mapping with more than %d members", KI_YAML_MEMBERS_MAX);
    mapping->key = ki_secret_copy(key);
    if (mapping->key == NULL)
        return ki_fail_no_memory(build->err);
    mapping->key_line = line;
    const ki_yaml_node *before = ki_yaml_member(mapping->node, mapping->key);
    if (before != NULL)
        return FAIL(build, line, "the key \"%.60s\" again, which line %zu has", mapping->key, before->line);
    return 0;
}

static int check_tag(builder *build, const yaml_char_t *tag, size_t line)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const known[] = {"str", "map", "seq", "bool", "null", "int", "float"};
    if (tag == NULL || strcmp((const char *)tag, "!") == 0)
        return 0;
    const char *text = (const char *)tag;
    if (strncmp(text, prefix, sizeof(prefix) - 1) == 0 && is_one_of(text + sizeof(prefix) - 1, known, 7))
        return 0;
    return FAIL(build, line, "a tag that is not supported");
}

static int take_scalar(builder *build, const yaml_event_t *event, size_t line)
{
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    const char *tag = (const char *)event->data.scalar.tag;
    int rc = check_tag(build, event->data.scalar.tag, line);
    if (rc < 0)
        return rc;
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return FAIL(build, line, "a NUL character");
    level *parent = top(build);
    if (parent != NULL && parent->node->kind == KI_YAML_MAPPING && parent->key == NULL)
        return set_key(build, parent, text, line);
    ki_yaml_node *node = NULL;
    rc = add_node(build, KI_YAML_SCALAR, line, &node);
    if (rc < 0)
        return rc;
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                     (tag == NULL || (strcmp(tag, "!") != 0 && strcmp(tag, YAML_STR_TAG) != 0));
    node->text = ki_secret_copy(text);
    return node->text == NULL ? ki_fail_no_memory(build->err) : 0;
}

static int begin(builder *build, ki_yaml_kind kind, const yaml_char_t *tag, size_t line)
{
    ki_yaml_node *node = NULL;
    int rc = check_tag(build, tag, line);
    if (rc < 0)
        return rc;
    if (build->depth >= KI_YAML_DEPTH_MAX)
        return FAIL(build, line, "nested more than %d levels deep", KI_YAML_DEPTH_MAX);
    rc = add_node(build, kind, line, &node);
    if (rc == 0)
        build->levels[build->depth++] = (level){.node = node};
    return rc;
}

static int take_event(builder *build, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return build->has_ended ? FAIL(build, line, "a second document") : 0;
    case YAML_DOCUMENT_END_EVENT:
        build->has_ended = true;
        return 0;
    case YAML_ALIAS_EVENT:
        return FAIL(build, line, "aliases (*name) are not supported");
    case YAML_SCALAR_EVENT:
        return take_scalar(build, event, line);
    case YAML_MAPPING_START_EVENT:
        return begin(build, KI_YAML_MAPPING, event->data.mapping_start.tag, line);
    case YAML_SEQUENCE_START_EVENT:
        return begin(build, KI_YAML_SEQUENCE, event->data.sequence_start.tag, line);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        assert(build->depth > 0);
        build->depth--;
        return 0;
    default:
        return 0;
    }
}

/* libyaml's words are constants, so nothing of the text is in them. */
static int fail_parser(builder *build)
{
    const yaml_parser_t *parser = &build->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return ki_fail_no_memory(build->err);
    size_t line = parser->error == YAML_READER_ERROR ? parser->mark.line : parser->problem_mark.line;
    return FAIL(build, line + 1, "%s", parser->problem != NULL ? parser->problem : "not YAML");
}

static int build_all(builder *build)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&build->parser, &event))
            return fail_parser(build);
        bool is_last = event.type == YAML_STREAM_END_EVENT;
        int rc = take_event(build, &event);
        if (event.type == YAML_SCALAR_EVENT)
            explicit_bzero(event.data.scalar.value, event.data.scalar.length);
        yaml_event_delete(&event);
        if (rc < 0 || is_last)
            return rc;
    }
}

int ki_yaml_parse(ki_str text, ki_yaml_node **out_root, size_t *out_line, ki_error *err)
{
    builder build = {.err = err, .failed_line = 1};
    if (text.len > KI_YAML_BYTES_MAX) {
        *out_line = 1;
        return ki_fail(err, KI_ERR_CONFIG, "larger than the limit of %zu bytes", KI_YAML_BYTES_MAX);
    }
    if (!yaml_parser_initialize(&build.parser))
        return ki_fail_no_memory(err);
    yaml_parser_set_input_string(&build.parser, (const unsigned char *)(text.len > 0 ? text.ptr : ""),
                                 text.len);
    int rc = build_all(&build);
    for (size_t i = 0; i < build.depth; i++)
        ki_secret_free(build.levels[i].key);
    yaml_parser_delete(&build.parser);
    if (rc < 0) {
        *out_line = build.failed_line;
        ki_yaml_free(build.root);
        return rc;
    }
    *out_root = build.root;
    return 0;
}
