/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/show/table_parts.h"
#include "apiserver/value/tree.h"
#include "util/buf.h"

enum { CELL_BYTES_MAX = 64 * 1024 };

/* ---- columns ------------------------------------------------------------------------------------------- */

static const char *description_of(const char *name)
{
    if (strcmp(name, "Name") == 0)
        return "Name must be unique within a namespace.";
    if (strcmp(name, "Age") == 0)
        return "CreationTimestamp is a timestamp representing the server time when this object was created.";
    return "";
}

static json_t *column_of(const char *name, const char *type, int64_t priority)
{
    assert(name != NULL && type != NULL);
    return json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", name, "type", type, "format",
                     strcmp(name, "Name") == 0 ? "name" : "", "description", description_of(name), "priority",
                     (json_int_t)priority);
}

static int add_custom_columns(json_t *columns, const json_t *given)
{
    size_t index = 0;
    json_t *column = NULL;
    int rc = json_array_append_new(columns, column_of("Name", "string", 0));
    json_array_foreach(given, index, column)
    {
        json_t *one = json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", ki_as_tree_text(column, "name"), "type",
                                ki_as_tree_text(column, "type"), "format", ki_as_tree_text(column, "format"),
                                "description", ki_as_tree_text(column, "description"), "priority",
                                (json_int_t)ki_as_tree_integer(column, "priority", 0));
        if (rc == 0)
            rc = json_array_append_new(columns, one);
        else
            json_decref(one);
    }
    return rc;
}

static bool has_own_columns(const struct ki_as_resource *resource)
{
    return resource->is_custom && json_array_size(resource->columns) > 0;
}

json_t *ki_as_table_columns(const struct ki_as_resource *resource)
{
    json_t *columns = json_array();
    int rc = columns == NULL ? -1 : 0;
    if (rc == 0 && has_own_columns(resource))
        rc = add_custom_columns(columns, resource->columns);
    else
        for (const struct ki_as_column *column = ki_as_columns_of(resource); rc == 0 && column->name != NULL;
             column++)
            rc = json_array_append_new(columns, column_of(column->name, column->type, column->priority));
    if (rc < 0) {
        json_decref(columns);
        return NULL;
    }
    return columns;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

static int write_members(ki_buf *out, const json_t *list, const char *name)
{
    size_t index = 0;
    json_t *element = NULL;
    int rc = 0;
    json_array_foreach(list, index, element)
    {
        if (rc == 0)
            rc = ki_as_cell_add(out, ",", ki_as_json_str(json_object_get(element, name)));
    }
    return rc;
}

static int write_cell(const struct ki_as_column *column, const json_t *tree, int64_t now, ki_buf *out)
{
    assert(column->path != NULL || column->cell == KI_AS_CELL_FUNCTION);
    const json_t *value = column->path == NULL ? NULL : ki_as_tree_at(tree, column->path);
    ki_str text = ki_as_json_str(value);
    switch (column->cell) {
    case KI_AS_CELL_TEXT:
        return ki_buf_append_str(out, text.len > 0 ? text : ki_str_of(column->otherwise));
    case KI_AS_CELL_AGE:
        if (text.len == 0 && column->otherwise != NULL)
            return ki_buf_append_str(out, ki_str_of(column->otherwise));
        return ki_as_cell_age(out, text, now);
    case KI_AS_CELL_LABELS:
        return ki_as_cell_labels(out, value);
    case KI_AS_CELL_SELECTOR:
        return ki_as_cell_selector(out, value);
    case KI_AS_CELL_NAMES:
        return write_members(out, value, "name");
    case KI_AS_CELL_IMAGES:
        return write_members(out, value, "image");
    case KI_AS_CELL_MODES:
        return ki_as_cell_modes(out, value);
    default:
        assert(column->cell == KI_AS_CELL_FUNCTION && column->write != NULL);
        return column->write(tree, now, out);
    }
}

static json_t *cell_of(const struct ki_as_column *column, const json_t *tree, int64_t now)
{
    const json_t *value = column->path == NULL ? NULL : ki_as_tree_at(tree, column->path);
    ki_buf text;
    if (column->cell == KI_AS_CELL_INTEGER)
        return json_integer(json_integer_value(value));
    if (column->cell == KI_AS_CELL_BOOLEAN)
        return json_boolean(json_is_true(value));
    size_t count = json_object_size(value) + json_array_size(value);
    if (column->cell == KI_AS_CELL_COUNT)
        return json_integer((json_int_t)count);
    ki_buf_init(&text, CELL_BYTES_MAX);
    int rc = write_cell(column, tree, now, &text);
    json_t *cell = rc < 0 ? NULL : json_stringn(text.len > 0 ? text.data : "", text.len);
    ki_buf_fini(&text);
    return cell;
}

static json_t *cells_of(const struct ki_as_resource *resource, const json_t *tree, int64_t now)
{
    assert(tree != NULL);
    json_t *cells = json_array();
    int rc = cells == NULL ? -1 : 0;
    size_t index = 0;
    json_t *given = NULL;
    if (rc == 0 && has_own_columns(resource)) {
        rc = json_array_append_new(cells, json_string(ki_as_tree_text(tree, "metadata.name")));
        json_array_foreach(resource->columns, index, given)
        {
            if (rc == 0)
                rc = json_array_append_new(cells, ki_as_cell_of_path(given, tree, now));
        }
    } else
        for (const struct ki_as_column *column = ki_as_columns_of(resource); rc == 0 && column->name != NULL;
             column++)
            rc = json_array_append_new(cells, cell_of(column, tree, now));
    if (rc < 0) {
        json_decref(cells);
        return NULL;
    }
    return cells;
}

json_t *ki_as_partial_metadata(const json_t *tree)
{
    json_t *metadata = json_object_get(tree, "metadata");
    return json_pack("{s:s, s:s, s:O*}", "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1",
                     "metadata", metadata);
}

json_t *ki_as_table_row(const struct ki_as_resource *resource, const json_t *tree, enum ki_as_include include,
                        int64_t now)
{
    assert(include <= KI_AS_INCLUDE_OBJECT);
    json_t *cells = cells_of(resource, tree, now);
    json_t *object = NULL;
    if (include == KI_AS_INCLUDE_METADATA)
        object = ki_as_partial_metadata(tree);
    else if (include == KI_AS_INCLUDE_OBJECT)
        object = json_incref((json_t *)tree);
    if (cells == NULL || (object == NULL && include != KI_AS_INCLUDE_NONE)) {
        json_decref(cells);
        json_decref(object);
        return NULL;
    }
    return json_pack("{s:o, s:o?}", "cells", cells, "object", object);
}
