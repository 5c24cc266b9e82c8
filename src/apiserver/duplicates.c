/* SPDX-License-Identifier: Apache-2.0 */
/* The text was read already, so that it need not be checked, and its depth is bounded. */
#include "apiserver/duplicates.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/tree.h"

enum { PATH_BYTES = 1024 };

struct walk {
    const char *at;
    const char *end;
    json_t *messages;
    size_t path_len;
    char path[PATH_BYTES];
};

/* Each returns 0, or -1 without memory. */
static int walk_value(struct walk *walk);

static char skip_space(struct walk *walk)
{
    while (walk->at < walk->end && strchr(" \t\r\n", *walk->at) != NULL)
        walk->at++;
    return walk->at < walk->end ? *walk->at : '\0';
}

/* From its opening quote to behind the closing one, with both. */
static ki_str take_string(struct walk *walk)
{
    const char *start = walk->at++;
    while (walk->at < walk->end && *walk->at != '"')
        walk->at += *walk->at == '\\' ? 2 : 1;
    walk->at = walk->at < walk->end ? walk->at + 1 : walk->end;
    return (ki_str){start, (size_t)(walk->at - start)};
}

/* What has no room is left out of the path: nobody reads one of a thousand characters. */
static void push(struct walk *walk, const char *before, ki_str name, const char *after)
{
    size_t room = PATH_BYTES - walk->path_len;
    if (name.len + 4 < room)
        walk->path_len +=
            (size_t)snprintf(walk->path + walk->path_len, room, "%s%.*s%s",
                             walk->path_len == 0 && before[0] == '.' ? "" : before, KI_STR_ARGS(name), after);
}

/* `seen` says of each key of the object whether it was told of. */
static int note(struct walk *walk, json_t *seen, ki_str key)
{
    const json_t *before = json_object_getn(seen, key.ptr, key.len);
    bool is_told = json_is_true(before) || json_array_size(walk->messages) == KI_AS_DUPLICATES_MAX;
    if (before != NULL && is_told)
        return 0;
    if (json_object_setn_new_nocheck(seen, key.ptr, key.len, before == NULL ? json_false() : json_true()) < 0)
        return -1;
    if (before == NULL)
        return 0;
    return json_array_append_new(walk->messages,
                                 json_sprintf("duplicate field \"%.*s\"", (int)walk->path_len, walk->path));
}

static int walk_member(struct walk *walk, json_t *seen)
{
    size_t path_len = walk->path_len;
    ki_str quoted = take_string(walk);
    json_t *key = json_loadb(quoted.ptr, quoted.len, JSON_DECODE_ANY, NULL);
    push(walk, ".", ki_as_json_str(key), "");
    int rc = key == NULL ? -1 : note(walk, seen, ki_as_json_str(key));
    json_decref(key);
    (void)skip_space(walk);
    walk->at++; /* the colon */
    if (rc == 0)
        rc = walk_value(walk);
    walk->path_len = path_len;
    return rc;
}

static int walk_object(struct walk *walk)
{
    json_t *seen = json_object();
    int rc = seen == NULL ? -1 : 0;
    walk->at++;
    while (rc == 0 && skip_space(walk) == '"') {
        rc = walk_member(walk, seen);
        if (skip_space(walk) == ',')
            walk->at++;
    }
    walk->at++;
    json_decref(seen);
    return rc;
}

static int walk_array(struct walk *walk)
{
    size_t path_len = walk->path_len;
    int rc = 0;
    walk->at++;
    for (size_t i = 0; rc == 0 && walk->at < walk->end && skip_space(walk) != ']'; i++) {
        char digits[24];
        (void)snprintf(digits, sizeof(digits), "%zu", i);
        push(walk, "[", ki_str_of(digits), "]");
        rc = walk_value(walk);
        walk->path_len = path_len;
        if (skip_space(walk) == ',')
            walk->at++;
    }
    walk->at++;
    return rc;
}

static int walk_value(struct walk *walk)
{
    switch (skip_space(walk)) {
    case '{':
        return walk_object(walk);
    case '[':
        return walk_array(walk);
    case '"':
        (void)take_string(walk);
        return 0;
    default:
        while (walk->at < walk->end && strchr(",]} \t\r\n", *walk->at) == NULL)
            walk->at++;
        return 0;
    }
}

json_t *ki_as_duplicates(ki_str text)
{
    struct walk walk = {.at = text.ptr, .end = text.ptr + text.len, .messages = json_array()};
    if (walk.messages != NULL && walk_value(&walk) == 0)
        return walk.messages;
    json_decref(walk.messages);
    return NULL;
}
