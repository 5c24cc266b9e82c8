/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults.h"

#include <kinformer/error.h>
#include <string.h>

#include "apiserver/defaults_kinds.h"
#include "apiserver/defaults_parts.h"
#include "apiserver/prune.h"
#include "apiserver/tree.h"

/* PREFIX_BYTES: paths are ours, and shorter. */
enum { PREFIX_BYTES = 128 };

static json_t *value_of(const struct ki_as_default *entry)
{
    switch (entry->kind) {
    case KI_AS_DEFAULT_TEXT:
        return json_string_nocheck(entry->text);
    case KI_AS_DEFAULT_NUMBER:
        return json_integer(entry->number);
    case KI_AS_DEFAULT_TRUE:
        return json_true();
    case KI_AS_DEFAULT_FALSE:
        return json_false();
    default:
        return json_object();
    }
}

static int fill(json_t *tree, const char *path, const struct ki_as_default *entry);

static int fill_elements(json_t *list, const char *path, const struct ki_as_default *entry)
{
    size_t index = 0;
    json_t *element = NULL;
    json_array_foreach(list, index, element)
    {
        int rc = fill(element, path, entry);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The whole path is names. */
static int fill_plain(json_t *tree, const char *path, size_t len, const struct ki_as_default *entry)
{
    const json_t *there = NULL;
    if (memchr(path, '.', len) != NULL) {
        there = ki_as_tree_at(tree, path);
        return there != NULL && !json_is_null(there) ? 0 : ki_as_tree_default(tree, path, value_of(entry));
    }
    there = json_object_getn(tree, path, len);
    if (there != NULL && !json_is_null(there))
        return 0;
    return json_object_setn_new_nocheck(tree, path, len, value_of(entry)) < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* Where the path stops first: at a "[]" or a "?", from where the rest of it goes on by itself. */
static size_t stop_of(const char *path)
{
    size_t len = 0;
    while (path[len] != '[' && path[len] != '?' && path[len] != '\0')
        len++;
    return len;
}

/* What stands where the path stops, NULL: nothing. */
static json_t *stop_at(const json_t *tree, const char *path, size_t len)
{
    char prefix[PREFIX_BYTES];
    if (memchr(path, '.', len) == NULL)
        return json_object_getn(tree, path, len);
    if (len >= sizeof(prefix))
        return NULL;
    memcpy(prefix, path, len);
    prefix[len] = '\0';
    return ki_as_tree_at(tree, prefix);
}

static int fill(json_t *tree, const char *path, const struct ki_as_default *entry)
{
    size_t len = stop_of(path);
    if (!json_is_object(tree))
        return 0;
    if (path[len] == '\0')
        return fill_plain(tree, path, len, entry);
    json_t *at = stop_at(tree, path, len);
    bool is_list = path[len] == '[';
    const char *rest = path + len + (is_list ? 3 : 2); /* behind "[]." or "?." */
    return is_list ? fill_elements(at, rest, entry) : fill(at, rest, entry);
}

/* Most of what may be there is not; what was missing a moment ago is not looked for again. */
int ki_as_defaults_fill(json_t *tree, const struct ki_as_default *defaults)
{
    const char *missing = "";
    size_t missing_len = 0;
    for (; defaults->path != NULL; defaults++) {
        if (missing_len > 0 && strncmp(defaults->path, missing, missing_len) == 0)
            continue;
        size_t len = stop_of(defaults->path);
        if (defaults->path[len] != '\0' && stop_at(tree, defaults->path, len) == NULL) {
            missing = defaults->path;
            missing_len = len + 1;
            continue;
        }
        missing_len = 0;
        int rc = fill(tree, defaults->path, defaults);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- custom resources ---------------------------------------------------------------------------------- */

int ki_as_defaults_schema(const json_t *schema, json_t *value)
{
    const char *name = NULL;
    json_t *property = NULL;
    json_t *element = NULL;
    size_t index = 0;
    int rc = 0;
    json_array_foreach(value, index, element)
    {
        if (rc == 0)
            rc = ki_as_defaults_schema(json_object_get(schema, "items"), element);
    }
    if (rc < 0 || !json_is_object(value) || !json_is_object(schema))
        return rc;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        const json_t *given = json_object_get(property, "default");
        const json_t *there = json_object_get(value, name);
        bool is_null = json_is_null(there) && !ki_as_tree_is_true(property, "nullable");
        if (given != NULL && (there == NULL || is_null) &&
            json_object_set_new(value, name, ki_as_json_copy(given)) < 0)
            return KI_ERR_NO_MEMORY;
        /* Nothing may stand there, and null says that there is nothing. */
        if (given == NULL && is_null)
            (void)json_object_del(value, name);
        rc = ki_as_defaults_schema(property, json_object_get(value, name));
        if (rc < 0)
            return rc;
    }
    const json_t *others = json_object_get(schema, "additionalProperties");
    json_object_foreach(value, name, element)
    {
        if (rc == 0 && json_is_object(others))
            rc = ki_as_defaults_schema(others, element);
    }
    return rc;
}

int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree)
{
    int rc = ki_as_prune(resource, tree, NULL);
    if (rc < 0)
        return rc;
    if (resource->is_custom)
        return resource->schema == NULL ? 0 : ki_as_defaults_schema(resource->schema, tree);
    return ki_as_defaults_of_kind(resource, tree);
}
