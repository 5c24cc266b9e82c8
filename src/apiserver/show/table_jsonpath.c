/* SPDX-License-Identifier: Apache-2.0 */
/* additionalPrinterColumns: values at JSON paths, formatted by their type. Supports the part of JSONPath that
 * columns use: members, indexes, [*], quoted names and the filter [?(@.name=="value")]. The first match is
 * shown. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/show/table_parts.h"
#include "apiserver/value/age.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

static const json_t *find(const json_t *at, const char *path);

/* Reads up to a dot or bracket; "\." is a dot in the name. */
static size_t read_name(const char *path, char name[256])
{
    size_t len = 0;
    size_t at = 0;
    while (path[at] != 0 && path[at] != '.' && path[at] != '[' && len < 255) {
        if (path[at] == '\\' && path[at + 1] != 0)
            at++;
        name[len++] = path[at++];
    }
    assert(len < 256 && at >= len);
    name[len] = 0;
    return at;
}

/* [?(@.type=="Ready")] */
static const json_t *filter(const json_t *list, const char *condition, const char *rest)
{
    char name[256];
    const char *dot = strchr(condition, '.');
    const char *operator_at = dot == NULL ? NULL : strstr(dot, "==");
    const char *quote = operator_at == NULL ? NULL : strpbrk(operator_at, "\"'");
    const char *end = quote == NULL ? NULL : strchr(quote + 1, *quote);
    if (end == NULL || (size_t)(operator_at - dot) >= sizeof(name))
        return NULL;
    memcpy(name, dot + 1, (size_t)(operator_at - dot - 1));
    name[operator_at - dot - 1] = 0;
    size_t len = strlen(name);
    while (len > 0 && name[len - 1] == ' ')
        name[--len] = 0;
    ki_str wanted = {quote + 1, (size_t)(end - quote - 1)};
    size_t index = 0;
    json_t *element = NULL;
    json_array_foreach(list, index, element)
    {
        if (ki_str_equal(ki_as_json_str(json_object_get(element, name)), wanted))
            return find(element, rest);
    }
    return NULL;
}

static const json_t *find_bracket(const json_t *at, const char *path)
{
    assert(path[0] == '[');
    const char *end = strncmp(path, "[?(", 3) == 0 ? strstr(path, ")]") : strchr(path, ']');
    if (end == NULL)
        return NULL;
    const char *rest = end + (*end == ')' ? 2 : 1);
    if (path[1] == '?')
        return filter(at, path + 3, rest);
    if (path[1] == '*')
        return find(json_array_get(at, 0), rest);
    bool is_quoted = path[1] == '\'' || path[1] == '"';
    if (is_quoted && end - path < 3) /* only one quote */
        return NULL;
    if (is_quoted)
        return find(ki_as_json_member(at, (ki_str){path + 2, (size_t)(end - path - 3)}), rest);
    long index = strtol(path + 1, NULL, 10);
    long size = (long)json_array_size(at);
    index = index < 0 ? index + size : index;
    return index < 0 || index >= size ? NULL : find(json_array_get(at, (size_t)index), rest);
}

static const json_t *find(const json_t *at, const char *path)
{
    char name[256];
    if (at == NULL || path[0] == 0)
        return at;
    if (path[0] == '[')
        return find_bracket(at, path);
    path += path[0] == '.' ? 1 : 0;
    size_t len = read_name(path, name);
    return len == 0 ? at : find(ki_as_json_member(at, ki_str_of(name)), path + len);
}

json_t *ki_as_cell_of_path(const json_t *column, const json_t *tree, int64_t now)
{
    const char *type = ki_as_tree_text(column, "type");
    const json_t *value = find(tree, ki_as_tree_text(column, "jsonPath"));
    if (value == NULL || json_is_null(value))
        return json_null();
    if (strcmp(type, "date") == 0) {
        char age[KI_AS_AGE_BYTES];
        ki_as_age_write(ki_as_json_str(value), now, age);
        return json_string(age);
    }
    if (strcmp(type, "string") != 0 || json_is_string(value))
        return ki_as_json_copy(value);
    char *text = ki_as_value_text(value);
    json_t *cell = text == NULL ? NULL : json_string(text);
    ki_free(text);
    return cell;
}
