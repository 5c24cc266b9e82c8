/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/patch/apply_parts.h"
#include "apiserver/patch/field_place.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

/* [name="a",port=80] */
static int append_keys(ki_buf *path, const char *text)
{
    json_t *keys = json_loads(text, JSON_DECODE_ANY, NULL);
    const char *name = NULL;
    json_t *value = NULL;
    size_t count = 0;
    int rc = ki_buf_append_byte(path, '[');
    json_object_foreach(keys, name, value)
    {
        char *shown = ki_as_value_text(value);
        if (rc == 0)
            rc = shown == NULL ? KI_ERR_NO_MEMORY
                               : ki_buf_append_str(path, ki_str_of(count++ == 0 ? "" : ","));
        if (rc == 0)
            rc = ki_buf_append_str(path, ki_str_of(name));
        if (rc == 0)
            rc = ki_buf_append_byte(path, '=');
        if (rc == 0)
            rc = ki_buf_append_str(path, ki_str_of(shown));
        ki_free(shown);
    }
    json_decref(keys);
    return rc < 0 ? rc : ki_buf_append_byte(path, ']');
}

static int append_entry(ki_buf *path, const char *entry)
{
    assert(entry[0] != '\0' && entry[1] == ':');
    if (entry[0] == 'k')
        return append_keys(path, entry + 2);
    int rc = ki_buf_append_byte(path, '.');
    return rc < 0 ? rc : ki_buf_append_str(path, ki_str_of(entry + 2));
}

/* True for a map or list whose members have separate owners: it is not atomic, because one of the sets lists
 * some of its members. It is not a conflict if the other set has only the map or list as a whole. */
static bool is_shared_whole(const struct ki_as_contest *inner)
{
    bool is_same_type = (json_is_object(inner->config) && json_is_object(inner->current)) ||
                        (json_is_array(inner->config) && json_is_array(inner->current));
    return is_same_type && json_object_size(inner->wanted) + json_object_size(inner->owned) > 0;
}

/* Compares a field that is in both sets, and the fields below it. */
static int contest_entry(const struct ki_as_contest *inner, const char *entry, ki_buf *path, json_t *out_set,
                         json_t *out_paths)
{
    assert(inner->config != NULL && inner->current != NULL);
    bool is_leaf = json_object_size(inner->wanted) == 0 || json_object_size(inner->owned) == 0;
    json_t *set = json_object();
    int rc = set == NULL ? KI_ERR_NO_MEMORY : 0;
    if (rc == 0 && is_leaf && !is_shared_whole(inner) && !json_equal(inner->config, inner->current))
        rc = json_array_append_new(out_paths, json_stringn(path->data, path->len)) < 0 ||
                     json_object_set(out_set, entry, set) < 0
                 ? KI_ERR_NO_MEMORY
                 : 0;
    else if (rc == 0 && !is_leaf) {
        rc = ki_as_apply_contest(inner, path, set, out_paths);
        if (rc == 0 && json_object_size(set) > 0 && json_object_set(out_set, entry, set) < 0)
            rc = KI_ERR_NO_MEMORY;
    }
    json_decref(set);
    return rc;
}

/* The entries that both sets have at one level. */
struct level {
    const struct ki_as_contest *contest;
    struct ki_as_places config;
    struct ki_as_places current;
    json_t *out_set;
    json_t *out_paths;
};

static int contest_at(struct level *level, const char *entry, const json_t *wanted, ki_buf *path)
{
    const json_t *owned = json_object_get(level->contest->owned, entry);
    bool is_shared = owned != NULL && (entry[0] == 'f' || entry[0] == 'k') && entry[1] == ':';
    struct ki_as_place config = {0};
    struct ki_as_place current = {0};
    size_t len = path->len;
    int rc = is_shared ? ki_as_places_find(&level->config, entry, &config) : 0;
    if (rc == 0 && config.value != NULL)
        rc = ki_as_places_find(&level->current, entry, &current);
    if (rc < 0 || current.value == NULL)
        return rc;
    struct ki_as_contest inner = {wanted, owned, config.value, current.value, config.shape};
    rc = append_entry(path, entry);
    if (rc == 0)
        rc = contest_entry(&inner, entry, path, level->out_set, level->out_paths);
    assert(path->len >= len);
    path->len = len;
    return rc;
}

int ki_as_apply_contest(const struct ki_as_contest *contest, ki_buf *path, json_t *out_set, json_t *out_paths)
{
    assert(json_is_object(out_set) && json_is_array(out_paths));
    struct level level = {contest,
                          {.tree = contest->config, .shape = contest->shape},
                          {.tree = contest->current, .shape = contest->shape},
                          out_set,
                          out_paths};
    const char *entry = NULL;
    json_t *wanted = NULL;
    int rc = 0;
    json_object_foreach((json_t *)contest->wanted, entry, wanted)
    {
        if (rc == 0)
            rc = contest_at(&level, entry, wanted, path);
    }
    ki_as_places_fini(&level.config);
    ki_as_places_fini(&level.current);
    return rc;
}
