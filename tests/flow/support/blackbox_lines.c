/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/blackbox_lines.h"

#include <jansson.h>
#include <kinformer/timestamp.h>
#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static const char *text_at(const json_t *tree, const char *name)
{
    const char *text = json_string_value(json_object_get(tree, name));
    return text == NULL ? "" : text;
}

static void add_word(text_log *log, const char *word)
{
    text_log_add(log, "%s%s", log->len > 0 ? " " : "", word);
}

/* ---- the history of a key ------------------------------------------------------------------------------ */

static struct blackbox_key *key_of(blackbox_lines *lines, const char *name)
{
    for (size_t i = 0; i < lines->key_count; i++)
        if (strcmp(lines->keys[i].name, name) == 0)
            return &lines->keys[i];
    assert_true(lines->key_count < BLACKBOX_KEYS);
    struct blackbox_key *key = &lines->keys[lines->key_count++];
    snprintf(key->name, sizeof(key->name), "%s", name);
    return key;
}

static bool is_decimal(const char *version)
{
    size_t len = strlen(version);
    return len > 0 && len < 20 && strspn(version, "0123456789") == len;
}

static bool goes_back(const char *before, const char *now)
{
    if (!is_decimal(before) || !is_decimal(now))
        return false;
    return strlen(now) != strlen(before) ? strlen(now) < strlen(before) : strcmp(now, before) < 0;
}

static void check_history(blackbox_lines *lines, const char *type, const json_t *metadata)
{
    const char *version = text_at(metadata, "resourceVersion");
    struct blackbox_key *key = key_of(lines, text_at(metadata, "name"));
    bool is_add = strcmp(type, "ADDED") == 0;
    if (is_add == key->is_there)
        fail_msg("%s of %s, which %s", type, key->name, key->is_there ? "exists" : "does not exist");
    if (!lines->is_new_history && goes_back(key->version, version))
        fail_msg("%s of %s at %s after %s", type, key->name, version, key->version);
    key->is_there = strcmp(type, "DELETED") != 0;
    snprintf(key->version, sizeof(key->version), "%s", version);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void take_object(blackbox_lines *lines, const char *type, const json_t *tree)
{
    const json_t *metadata = json_object_get(json_object_get(tree, "object"), "metadata");
    const char *mark = strcmp(type, "DELETED") == 0 ? "-" : strcmp(type, "MODIFIED") == 0 ? "~" : "+";
    assert_string_not_equal(text_at(metadata, "name"), "");
    check_history(lines, type, metadata);
    if (json_is_true(json_object_get(tree, "initial")))
        mark = "*";
    add_word(&lines->events, mark);
    text_log_add(&lines->events, "%s@%s%s", text_at(metadata, "name"), text_at(metadata, "resourceVersion"),
                 json_is_true(json_object_get(tree, "finalStateUnknown")) ? "?" : "");
}

static void take_status(blackbox_lines *lines, const json_t *tree)
{
    const char *phase = text_at(tree, "phase");
    const char *reason = text_at(tree, "reason");
    if (strcmp(phase, "BACKING_OFF") == 0 && reason[0] == 0)
        fail_msg("BACKING_OFF without a reason, after: %s", lines->phases.text);
    add_word(&lines->phases, phase);
    if (reason[0] != 0)
        text_log_add(&lines->phases, ":%s", reason);
}

/* Every line has its resource, and the time of delivery in microseconds. */
static void check_head(const json_t *tree)
{
    ki_timestamp time;
    const char *text = text_at(tree, "time");
    assert_string_not_equal(text_at(tree, "resource"), "");
    if (strlen(text) != strlen("2026-11-15T20:45:57.012345Z") ||
        ki_timestamp_parse(ki_str_of(text), &time) < 0)
        fail_msg("not a time in microseconds: \"%s\"", text);
}

static void take_line(blackbox_lines *lines, const char *line, size_t len)
{
    json_error_t error;
    json_t *tree = json_loadb(line, len, 0, &error);
    if (tree == NULL)
        fail_msg("not JSON (%s): %.*s", error.text, (int)len, line);
    const char *type = text_at(tree, "type");
    check_head(tree);
    if (strcmp(type, "STATUS") == 0) {
        take_status(lines, tree);
    } else if (strcmp(type, "SYNCED") == 0) {
        add_word(&lines->events, "synced");
    } else {
        take_object(lines, type, tree);
    }
    json_decref(tree);
}

void blackbox_lines_take(blackbox_lines *lines, const text_log *written)
{
    while (lines->used < written->len) {
        const char *line = written->text + lines->used;
        const char *end = memchr(line, '\n', written->len - lines->used);
        if (end == NULL)
            return;
        lines->used += (size_t)(end - line) + 1;
        take_line(lines, line, (size_t)(end - line));
    }
}

void blackbox_lines_fini(blackbox_lines *lines)
{
    text_log_free(&lines->events);
    text_log_free(&lines->phases);
}
