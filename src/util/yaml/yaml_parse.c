/* SPDX-License-Identifier: Apache-2.0 */
/* Turns libyaml's events into the tree. */
#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "util/alloc.h"
#include "util/secret.h"
#include "util/yaml/yaml_build.h"

static int check_tag(ki_yaml_builder *build, const yaml_char_t *tag, size_t line)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const known[] = {"str", "map", "seq", "bool", "null", "int", "float"};
    if (tag == NULL || strcmp((const char *)tag, "!") == 0 || build->rules->is_open)
        return 0;
    const char *text = (const char *)tag;
    bool is_known = false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !is_known; i++)
        is_known = strncmp(text, prefix, sizeof(prefix) - 1) == 0 &&
                   strcmp(text + sizeof(prefix) - 1, known[i]) == 0;
    return is_known ? 0 : KI_YAML_FAIL(build, line, "a tag that is not supported");
}

/* Whether the type of a scalar depends on its spelling or its tag; others are strings. */
static bool is_plain(const yaml_event_t *event)
{
    static const char *const tags[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG};
    const char *tag = (const char *)event->data.scalar.tag;
    bool is_tagged = false;
    for (size_t i = 0; tag != NULL && i < sizeof(tags) / sizeof(tags[0]); i++)
        is_tagged = is_tagged || strcmp(tag, tags[i]) == 0;
    return is_tagged || (tag == NULL && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
}

static int fill_scalar(ki_yaml_builder *build, const yaml_event_t *event, ki_yaml_node *node)
{
    assert(node->kind == KI_YAML_SCALAR && node->text == NULL);
    const char *tag = (const char *)event->data.scalar.tag;
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    node->is_plain = is_plain(event);
    node->is_binary = tag != NULL && strcmp(tag, "tag:yaml.org,2002:binary") == 0;
    node->text = ki_str_copy(text);
    return node->text == NULL
               ? ki_fail_no_memory(build->err)
               : ki_yaml_name_node(build, (const char *)event->data.scalar.anchor, node, node->line);
}

/* Only a key with an anchor gets a node. */
static int take_key(ki_yaml_builder *build, const yaml_event_t *event, ki_str text, size_t line)
{
    ki_yaml_level *mapping = ki_yaml_top(build);
    assert(ki_yaml_wants_key(mapping));
    if (event->data.scalar.anchor != NULL) {
        ki_yaml_node *node = ki_calloc(1, sizeof(*node));
        if (node == NULL)
            return ki_fail_no_memory(build->err);
        node->line = line;
        ki_yaml_put_apart(build, node);
        int rc = fill_scalar(build, event, node);
        if (rc < 0)
            return rc;
    }
    mapping->is_key_plain = is_plain(event);
    mapping->is_merge = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                        event->data.scalar.tag == NULL && ki_str_equal(text, KI_STR("<<"));
    return ki_yaml_set_key(build, mapping, text, line);
}

static int take_scalar(ki_yaml_builder *build, const yaml_event_t *event, size_t line)
{
    ki_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    int rc = check_tag(build, event->data.scalar.tag, line);
    if (rc < 0)
        return rc;
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return KI_YAML_FAIL(build, line, "a NUL character");
    if (ki_yaml_wants_key(ki_yaml_top(build)))
        return take_key(build, event, text, line);
    ki_yaml_node *node = NULL;
    rc = ki_yaml_add_node(build, KI_YAML_SCALAR, line, &node);
    return rc < 0 ? rc : fill_scalar(build, event, node);
}

/* The parts of the event that mappings and sequences share. */
typedef struct beginning {
    ki_yaml_kind kind;
    const yaml_char_t *tag;
    const char *anchor;
} beginning;

static int begin(ki_yaml_builder *build, const beginning *what, size_t line)
{
    ki_yaml_node *node = NULL;
    int rc = check_tag(build, what->tag, line);
    if (rc < 0)
        return rc;
    if (build->depth >= build->rules->depth_max)
        return KI_YAML_FAIL(build, line, "nested more than %zu levels deep", build->rules->depth_max);
    rc = ki_yaml_add_node(build, what->kind, line, &node);
    if (rc < 0)
        return rc;
    assert(build->depth < KI_YAML_LEVELS_MAX);
    build->levels[build->depth++] = (ki_yaml_level){.node = node};
    return ki_yaml_name_node(build, what->anchor, node, line);
}

static int end(ki_yaml_builder *build)
{
    assert(build->depth > 0);
    ki_yaml_node *node = build->levels[--build->depth].node;
    ki_yaml_level *parent = ki_yaml_top(build);
    return parent != NULL && parent->is_merge ? ki_yaml_end_merge(build, parent, node) : 0;
}

static int take_begin(ki_yaml_builder *build, const yaml_event_t *event, size_t line)
{
    beginning what = {KI_YAML_SEQUENCE, event->data.sequence_start.tag,
                      (const char *)event->data.sequence_start.anchor};
    if (event->type == YAML_MAPPING_START_EVENT)
        what = (beginning){KI_YAML_MAPPING, event->data.mapping_start.tag,
                           (const char *)event->data.mapping_start.anchor};
    return begin(build, &what, line);
}

static int take_event(ki_yaml_builder *build, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return build->has_ended && !build->rules->is_open ? KI_YAML_FAIL(build, line, "a second document")
                                                          : 0;
    case YAML_DOCUMENT_END_EVENT:
        build->has_ended = true;
        ki_yaml_anchors_fini(&build->anchors);
        return 0;
    case YAML_ALIAS_EVENT:
        return ki_yaml_take_alias(build, (const char *)event->data.alias.anchor, line);
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

/* libyaml's messages are constants, so they contain nothing of the text. */
static int fail_parser(ki_yaml_builder *build, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return ki_fail_no_memory(build->err);
    size_t line = parser->error == YAML_READER_ERROR ? parser->mark.line : parser->problem_mark.line;
    return KI_YAML_FAIL(build, line + 1, "%s", parser->problem != NULL ? parser->problem : "not YAML");
}

static int build_all(ki_yaml_builder *build, yaml_parser_t *parser)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return fail_parser(build, parser);
        bool is_last = event.type == YAML_STREAM_END_EVENT;
        int rc = take_event(build, &event);
        if (event.type == YAML_SCALAR_EVENT)
            explicit_bzero(event.data.scalar.value, event.data.scalar.length);
        yaml_event_delete(&event);
        if (rc < 0 || is_last)
            return rc;
    }
}

/* libyaml does not wipe what it frees, so this wipes the text, raw and decoded, and the tokens scanned
 * ahead. It cannot wipe the beginning of a long value in the memory that libyaml has freed when the value
 * grew, nor a quoted value without its closing quote, which libyaml frees when it finds the mistake. */
static void wipe_parser(yaml_parser_t *parser)
{
    for (const yaml_token_t *token = parser->tokens.head; token != parser->tokens.tail; token++) {
        if (token->type == YAML_SCALAR_TOKEN)
            explicit_bzero(token->data.scalar.value, token->data.scalar.length);
    }
    explicit_bzero(parser->raw_buffer.start, (size_t)(parser->raw_buffer.end - parser->raw_buffer.start));
    explicit_bzero(parser->buffer.start, (size_t)(parser->buffer.end - parser->buffer.start));
}

int ki_yaml_parse(ki_str text, const ki_yaml_rules *rules, ki_yaml_node **out_root, ki_yaml_mistake *mistake)
{
    ki_yaml_builder build = {.rules = rules, .size.rules = rules, .failed_line = 1, .err = &mistake->error};
    yaml_parser_t parser;
    assert(rules->depth_max <= KI_YAML_LEVELS_MAX);
    if (text.len > rules->bytes_max) {
        mistake->line = 1;
        return ki_fail(build.err, KI_ERR_CONFIG, "larger than the limit of %zu bytes", rules->bytes_max);
    }
    if (!yaml_parser_initialize(&parser))
        return ki_fail_no_memory(build.err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.len > 0 ? text.ptr : ""), text.len);
    int rc = build_all(&build, &parser);
    assert(rc < 0 || build.depth == 0);
    for (size_t i = 0; i < build.depth; i++)
        ki_secret_free(build.levels[i].key);
    ki_yaml_free(build.apart);
    ki_yaml_anchors_fini(&build.anchors);
    wipe_parser(&parser);
    yaml_parser_delete(&parser);
    if (rc < 0) {
        mistake->line = build.failed_line;
        ki_yaml_free(build.root);
        return rc;
    }
    *out_root = build.root;
    return 0;
}
