/* SPDX-License-Identifier: Apache-2.0 */
/* From libyaml's events to the tree. */
#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "config/yaml_alias.h"
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
    bool is_merge; /* the key is "<<" */
} level;

typedef struct builder {
    yaml_parser_t parser;
    level levels[KI_YAML_DEPTH_MAX];
    size_t depth;
    ki_yaml_size size;
    ki_yaml_anchors anchors;
    ki_yaml_node *root;
    ki_yaml_node *apart; /* not of the tree, but anchors may know them */
    bool has_ended;      /* the first document */
    size_t failed_line;
    ki_error *err;
} builder;

#define FAIL(build, line, ...)                                                                               \
    ((build)->failed_line = (line), ki_fail((build)->err, KI_ERR_CONFIG, __VA_ARGS__))

#define WANTS_MAPPINGS "<< wants a mapping or a list of mappings"

/* ---- building ------------------------------------------------------------------------------------------ */

static ki_yaml_node *member(const ki_yaml_node *mapping, const char *key)
{
    ki_yaml_node *child = mapping->first_child;
    while (child != NULL && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

static level *top(builder *build)
{
    return build->depth == 0 ? NULL : &build->levels[build->depth - 1];
}

static void append(level *parent, ki_yaml_node *node)
{
    if (parent->last == NULL)
        parent->node->first_child = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->count++;
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
    append(parent, node);
    return 0;
}

/* The next value of the mapping is a key. */
static bool wants_key(const level *parent)
{
    return parent != NULL && parent->node->kind == KI_YAML_MAPPING && parent->key == NULL;
}

static void put_apart(builder *build, ki_yaml_node *node)
{
    node->next = build->apart;
    build->apart = node;
}

static void take_out(builder *build, level *mapping, ki_yaml_node *child)
{
    ki_yaml_node *before = NULL;
    if (mapping->node->first_child == child) {
        mapping->node->first_child = child->next;
    } else {
        before = mapping->node->first_child;
        while (before->next != child)
            before = before->next;
        before->next = child->next;
    }
    if (mapping->last == child)
        mapping->last = before;
    mapping->count--;
    put_apart(build, child);
}

static int name_node(builder *build, const yaml_char_t *anchor, const ki_yaml_node *node, size_t line)
{
    int rc = anchor == NULL ? 0 : ki_yaml_anchors_set(&build->anchors, (const char *)anchor, node);
    if (rc == KI_ERR_TOO_LARGE)
        return FAIL(build, line, "more than %d anchors (&name)", KI_YAML_ANCHORS_MAX);
    return rc < 0 ? ki_fail_no_memory(build->err) : 0;
}

static int add_node(builder *build, ki_yaml_kind kind, size_t line, ki_yaml_node **out_node)
{
    level *parent = top(build);
    if (build->size.nodes >= KI_YAML_NODES_MAX)
        return FAIL(build, line, "more than %d values", KI_YAML_NODES_MAX);
    if (wants_key(parent))
        return FAIL(build, line, "a key that is no plain text");
    if (parent != NULL && parent->is_merge && kind == KI_YAML_SCALAR)
        return FAIL(build, line, WANTS_MAPPINGS);
    ki_yaml_node *node = ki_calloc(1, sizeof(*node));
    if (node == NULL)
        return ki_fail_no_memory(build->err);
    node->kind = kind;
    node->line = line;
    build->size.nodes++;
    *out_node = node;
    return attach(build, node);
}

static int set_key(builder *build, level *mapping, ki_str key, size_t line)
{
    mapping->key = ki_secret_copy(key);
    if (mapping->key == NULL)
        return ki_fail_no_memory(build->err);
    mapping->key_line = line;
    ki_yaml_node *before = mapping->is_merge ? NULL : member(mapping->node, mapping->key);
    if (before != NULL && !before->is_merged)
        return FAIL(build, line, "the key \"%.60s\" again, which line %zu has", mapping->key, before->line);
    if (before != NULL)
        take_out(build, mapping, before);
    if (mapping->count >= KI_YAML_MEMBERS_MAX && !mapping->is_merge)
        return FAIL(build, line, "a mapping with more than %d members", KI_YAML_MEMBERS_MAX);
    return 0;
}

static int check_tag(builder *build, const yaml_char_t *tag, size_t line)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const known[] = {"str", "map", "seq", "bool", "null", "int", "float"};
    if (tag == NULL || strcmp((const char *)tag, "!") == 0)
        return 0;
    const char *text = (const char *)tag;
    bool is_known = false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !is_known; i++)
        is_known = strncmp(text, prefix, sizeof(prefix) - 1) == 0 &&
                   strcmp(text + sizeof(prefix) - 1, known[i]) == 0;
    return is_known ? 0 : FAIL(build, line, "a tag that is not supported");
}

/* ---- aliases and merges -------------------------------------------------------------------------------- */

/* The members of `from`, which is no part of `mapping` that is still to come. */
static int merge_members(builder *build, level *mapping, const ki_yaml_node *from, size_t line)
{
    if (from->kind != KI_YAML_MAPPING)
        return FAIL(build, line, WANTS_MAPPINGS);
    for (const ki_yaml_node *child = from->first_child, *next; child != NULL; child = next) {
        ki_yaml_node *copy = NULL;
        next = child->next; /* the child itself may be replaced */
        build->failed_line = line;
        int rc = ki_yaml_copy(child, build->depth, &build->size, &copy, build->err);
        if (rc < 0)
            return rc;
        ki_yaml_node *before = member(mapping->node, copy->key);
        if (before != NULL)
            take_out(build, mapping, before);
        copy->is_merged = true;
        append(mapping, copy);
        if (mapping->count > KI_YAML_MEMBERS_MAX)
            return FAIL(build, line, "a mapping with more than %d members", KI_YAML_MEMBERS_MAX);
    }
    return 0;
}

/* The first of a list is to win, so it comes last. */
static int merge_list(builder *build, level *mapping, ki_yaml_node *list, size_t line)
{
    ki_yaml_node *reversed = NULL;
    int rc = 0;
    for (ki_yaml_node *one = list->first_child, *next; one != NULL; one = next) {
        next = one->next;
        one->next = reversed;
        reversed = one;
    }
    list->first_child = reversed;
    for (const ki_yaml_node *one = reversed; one != NULL && rc == 0; one = one->next)
        rc = merge_members(build, mapping, one, line);
    return rc;
}

/* What stood behind "<<" is whole. */
static int end_merge(builder *build, level *mapping, ki_yaml_node *value)
{
    size_t line = mapping->key_line;
    mapping->is_merge = false;
    take_out(build, mapping, value);
    return value->kind == KI_YAML_SEQUENCE ? merge_list(build, mapping, value, line)
                                           : merge_members(build, mapping, value, line);
}

static int take_alias_value(builder *build, const ki_yaml_node *from, size_t line)
{
    level *parent = top(build);
    ki_yaml_node *copy = NULL;
    if (parent->is_merge) {
        ki_secret_free(parent->key);
        parent->key = NULL;
        parent->is_merge = false;
        return merge_members(build, parent, from, line);
    }
    build->failed_line = line;
    int rc = ki_yaml_copy(from, build->depth, &build->size, &copy, build->err);
    if (rc < 0)
        return rc;
    ki_secret_free(copy->key);
    copy->key = NULL;
    copy->line = line;
    return attach(build, copy);
}

/* No message has the name: it may be a password that begins with a star and lacks its quotes. */
static int take_alias(builder *build, const char *name, size_t line)
{
    const ki_yaml_node *from = ki_yaml_anchors_find(&build->anchors, name);
    level *parent = top(build);
    if (from == NULL || parent == NULL)
        return FAIL(build, line, "an alias (*name) without an anchor (&name) before it");
    for (size_t i = 0; i < build->depth; i++) {
        if (build->levels[i].node == from)
            return FAIL(build, line, "an alias (*name) inside of what it stands for");
    }
    if (!wants_key(parent))
        return take_alias_value(build, from, line);
    if (from->kind != KI_YAML_SCALAR)
        return FAIL(build, line, "a key that is no plain text");
    return set_key(build, parent, ki_str_of(from->text), line);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static int fill_scalar(builder *build, const yaml_event_t *event, ki_yaml_node *node)
{
    const char *tag = (const char *)event->data.scalar.tag;
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                     (tag == NULL || (strcmp(tag, "!") != 0 && strcmp(tag, YAML_STR_TAG) != 0));
    node->text = ki_secret_copy(text);
    return node->text == NULL ? ki_fail_no_memory(build->err)
                              : name_node(build, event->data.scalar.anchor, node, node->line);
}

/* Only for a name is there a node of it. */
static int take_key(builder *build, const yaml_event_t *event, ki_str text, size_t line)
{
    level *mapping = top(build);
    if (event->data.scalar.anchor != NULL) {
        ki_yaml_node *node = ki_calloc(1, sizeof(*node));
        if (node == NULL)
            return ki_fail_no_memory(build->err);
        node->line = line;
        put_apart(build, node);
        int rc = fill_scalar(build, event, node);
        if (rc < 0)
            return rc;
    }
    mapping->is_merge = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                        event->data.scalar.tag == NULL && ki_str_equal(text, KI_STR("<<"));
    return set_key(build, mapping, text, line);
}

static int take_scalar(builder *build, const yaml_event_t *event, size_t line)
{
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    int rc = check_tag(build, event->data.scalar.tag, line);
    if (rc < 0)
        return rc;
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return FAIL(build, line, "a NUL character");
    if (wants_key(top(build)))
        return take_key(build, event, text, line);
    ki_yaml_node *node = NULL;
    rc = add_node(build, KI_YAML_SCALAR, line, &node);
    return rc < 0 ? rc : fill_scalar(build, event, node);
}

/* The parts of the event that a mapping and a sequence have both. */
typedef struct beginning {
    ki_yaml_kind kind;
    const yaml_char_t *tag;
    const yaml_char_t *anchor;
} beginning;

static int begin(builder *build, const beginning *what, size_t line)
{
    ki_yaml_node *node = NULL;
    int rc = check_tag(build, what->tag, line);
    if (rc < 0)
        return rc;
    if (build->depth >= KI_YAML_DEPTH_MAX)
        return FAIL(build, line, "nested more than %d levels deep", KI_YAML_DEPTH_MAX);
    rc = add_node(build, what->kind, line, &node);
    if (rc < 0)
        return rc;
    build->levels[build->depth++] = (level){.node = node};
    return name_node(build, what->anchor, node, line);
}

static int end(builder *build)
{
    assert(build->depth > 0);
    ki_yaml_node *node = build->levels[--build->depth].node;
    level *parent = top(build);
    return parent != NULL && parent->is_merge ? end_merge(build, parent, node) : 0;
}

static int take_begin(builder *build, const yaml_event_t *event, size_t line)
{
    beginning what = {KI_YAML_SEQUENCE, event->data.sequence_start.tag, event->data.sequence_start.anchor};
    if (event->type == YAML_MAPPING_START_EVENT)
        what = (beginning){KI_YAML_MAPPING, event->data.mapping_start.tag, event->data.mapping_start.anchor};
    return begin(build, &what, line);
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
        return take_alias(build, (const char *)event->data.alias.anchor, line);
    case YAML_SCALAR_EVENT:
        return take_scalar(build, event, line);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return take_begin(build, event, line);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return end(build);
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

/* libyaml frees what it has read as it is: the text, decoded or not, and what it has scanned ahead. Where a
 * long value has grown it may have left the beginning behind, which nobody can reach. */
static void wipe_parser(yaml_parser_t *parser)
{
    for (const yaml_token_t *token = parser->tokens.head; token != parser->tokens.tail; token++) {
        if (token->type == YAML_SCALAR_TOKEN)
            explicit_bzero(token->data.scalar.value, token->data.scalar.length);
    }
    explicit_bzero(parser->raw_buffer.start, (size_t)(parser->raw_buffer.end - parser->raw_buffer.start));
    explicit_bzero(parser->buffer.start, (size_t)(parser->buffer.end - parser->buffer.start));
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
    for (ki_yaml_node *node = build.apart, *next; node != NULL; node = next) {
        next = node->next;
        ki_yaml_free(node);
    }
    ki_yaml_anchors_fini(&build.anchors);
    wipe_parser(&build.parser);
    yaml_parser_delete(&build.parser);
    if (rc < 0) {
        *out_line = build.failed_line;
        ki_yaml_free(build.root);
        return rc;
    }
    *out_root = build.root;
    return 0;
}
