/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the defaults of an object's members from the rows of defaults.txt. */
#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/defaults_parts.h"
#include "apiserver/kind/schema.h"
#include "apiserver/value/tree.h"

/* null counts as unset. */
static bool is_there(const json_t *value)
{
    return value != NULL && !json_is_null(value);
}

static bool is_zero(const json_t *value)
{
    return json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
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
    if (row->source != NULL && !is_there(ki_as_tree_at(object, row->source)))
        return false;
    if (row->other == NULL)
        return true;
    const json_t *other = ki_as_tree_at(object, row->other);
    bool is_met = row->words == NULL ? is_there(other) : is_one_of(other, row->words);
    return is_met != row->is_unless;
}

/* Sets the member of `owner`, which is `object`, a part of it, or the element `index` of a part. */
static int fill(const struct ki_as_default *row, const json_t *object, json_t *owner, size_t index)
{
    assert(row->kind < KI_AS_DEFAULT_COPY || row->source != NULL);
    json_t *there = json_object_get(owner, row->name);
    json_t *source = row->source == NULL ? NULL : ki_as_tree_at(object, row->source);
    int rc = 0;
    if (!json_is_object(owner))
        return 0;
    if (!is_there(there) || (!row->keeps_zero && is_zero(there)))
        rc = json_object_set_new_nocheck(owner, row->name, ki_as_default_value(row, source, index));
    else if (row->kind == KI_AS_DEFAULT_MERGE && json_is_object(there) && json_is_object(source))
        rc = json_object_update_missing(there, source);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* The schema of the member, if the row may have created it as an empty object,
 * which needs its own defaults; else NULL. */
static const struct ki_as_schema *schema_of_member(const struct ki_as_schema *schema,
                                                   const struct ki_as_default *row)
{
    bool is_object = row->kind == KI_AS_DEFAULT_OBJECT && row->owner == NULL;
    const struct ki_as_schema_field *field =
        is_object ? ki_as_schema_field(schema, ki_str_of(row->name)) : NULL;
    return field == NULL ? NULL : ki_as_schema_of_type(field->type);
}

static int fill_all(const struct ki_as_default *row, json_t *object)
{
    json_t *owner = row->owner == NULL ? object : ki_as_tree_at(object, row->owner);
    json_t *element = NULL;
    size_t index = 0;
    int rc = 0;
    if (!is_wanted(row, object))
        return 0;
    json_array_foreach(owner, index, element)
    {
        if (rc == 0)
            rc = fill(row, object, element, index);
    }
    return rc < 0 ? rc : fill(row, object, owner, 0);
}

int ki_as_defaults_rows(const struct ki_as_schema *schema, json_t *object)
{
    assert(schema != NULL);
    const struct ki_as_default *row = &ki_as_defaults[schema->first_default];
    const struct ki_as_default *end = row + schema->default_count;
    int rc = 0;
    for (; rc == 0 && json_is_object(object) && row < end; row++) {
        rc = fill_all(row, object);
        const struct ki_as_schema *inner = schema_of_member(schema, row);
        if (rc == 0 && inner != NULL)
            rc = ki_as_defaults_rows(inner, json_object_get(object, row->name));
    }
    return rc;
}
