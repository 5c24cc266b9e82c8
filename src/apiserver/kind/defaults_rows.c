/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the defaults of an object's members from the rows of defaults.txt. */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/defaults_parts.h"
#include "apiserver/kind/schema.h"
#include "apiserver/value/tree.h"

/* A new reference; NULL if out of memory. */
static json_t *value_of(const struct ki_as_default *row, const json_t *object)
{
    switch (row->kind) {
    case KI_AS_DEFAULT_FALSE:
        return json_false();
    case KI_AS_DEFAULT_TRUE:
        return json_true();
    case KI_AS_DEFAULT_NUMBER:
        return json_integer(row->number);
    case KI_AS_DEFAULT_TEXT:
        return json_string_nocheck(row->text);
    case KI_AS_DEFAULT_OBJECT:
        return json_object();
    case KI_AS_DEFAULT_JSON:
        return json_loads(row->text, 0, NULL);
    case KI_AS_DEFAULT_COPY:
        return ki_as_json_copy(ki_as_tree_at(object, row->text));
    default:
        return json_null();
    }
}

/* null counts as unset. */
static bool is_there(const json_t *value)
{
    return value != NULL && !json_is_null(value);
}

static bool is_one_of(const json_t *value, const char *const *words)
{
    const char *text = json_string_value(value);
    while (text != NULL && *words != NULL && strcmp(text, *words) != 0)
        words++;
    return text != NULL && *words != NULL;
}

static bool is_wanted(const struct ki_as_default *row, const json_t *object)
{
    if (row->kind == KI_AS_DEFAULT_COPY && !is_there(ki_as_tree_at(object, row->text)))
        return false;
    if (row->other == NULL)
        return true;
    const json_t *other = ki_as_tree_at(object, row->other);
    bool is_met = row->words == NULL ? is_there(other) : is_one_of(other, row->words);
    return is_met != row->is_unless;
}

static int fill(const struct ki_as_schema *schema, const struct ki_as_default *row, json_t *object)
{
    const char *dot = strchr(row->path, '.');
    const char *name = dot == NULL ? row->path : dot + 1;
    json_t *owner = dot == NULL ? object : json_object_getn(object, row->path, (size_t)(dot - row->path));
    if (!json_is_object(owner) || is_there(json_object_get(owner, name)) || !is_wanted(row, object))
        return 0;
    json_t *value = value_of(row, object);
    if (json_object_set_new_nocheck(owner, name, value) < 0)
        return KI_ERR_NO_MEMORY;
    if (row->kind != KI_AS_DEFAULT_OBJECT || dot != NULL)
        return 0;
    const struct ki_as_schema_field *field = ki_as_schema_field(schema, ki_str_of(name));
    const struct ki_as_schema *inner = field == NULL ? NULL : ki_as_schema_of_type(field->type);
    return inner == NULL ? 0 : ki_as_defaults_rows(inner, value);
}

int ki_as_defaults_rows(const struct ki_as_schema *schema, json_t *object)
{
    const struct ki_as_default *rows = &ki_as_defaults[schema->first_default];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < schema->default_count; i++)
        rc = fill(schema, &rows[i], object);
    return rc;
}
