/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/resource.h>
#include <string.h>

#include "api/resource/ascii.h"
#include "api/resource/resource_parts.h"
#include "api/resource/resource_query.h"
#include "api/resource/resource_suggest.h"
#include "api/resource/resources_table.h"
#include "util/error.h"

/* The number of bytes of an invalid name that a message shows. */
enum { SHOWN_BYTES_MAX = 100 };

/* The singular of every built-in resource is its kind in lower case. */
static int long_name_matches(size_t index, ki_str name)
{
    return ki_ascii_equal_fold(ki_str_of(ki_resources[index].plural), name) ||
           ki_ascii_equal_fold(ki_str_of(ki_resources[index].kind), name);
}

static int short_name_matches(size_t index, ki_str name)
{
    for (const char *const *each = ki_resource_short_name_lists[index]; *each != NULL; each++)
        if (ki_ascii_equal_fold(ki_str_of(*each), name))
            return 1;
    return 0;
}

static const ki_resource *look_up_by(const ki_resource_query *wanted,
                                     int (*matches)(size_t index, ki_str name))
{
    for (size_t i = 0; i < ki_resource_count; i++) {
        size_t index = ki_resource_preference[i];
        const ki_resource *resource = &ki_resources[index];
        if (wanted->version.len > 0 && !ki_ascii_equal_fold(ki_str_of(resource->version), wanted->version))
            continue;
        if (ki_resource_query_has_group(wanted, ki_str_of(resource->group)) && matches(index, wanted->name))
            return resource;
    }
    return NULL;
}

/* Full names take precedence over short ones, whatever their groups, so that no short name can hide a
 * resource. */
static const ki_resource *look_up(const ki_resource_query *wanted)
{
    const ki_resource *resource = look_up_by(wanted, long_name_matches);
    return resource != NULL ? resource : look_up_by(wanted, short_name_matches);
}

static const ki_resource *find(ki_str text)
{
    ki_resource_query queries[KI_RESOURCE_QUERIES_MAX];
    const ki_resource *resource = NULL;
    size_t count = ki_resource_queries_of(text, queries);
    for (size_t i = 0; i < count && resource == NULL; i++)
        resource = look_up(&queries[i]);
    return resource;
}

const ki_resource *ki_resource_find(ki_str name, ki_error *err)
{
    const ki_resource *resource = find(name);
    if (resource == NULL)
        ki_resource_fail_unknown(err, name);
    return resource;
}

/* Without this, "widgets.example.com" would be read as version "example" of group "com". */
static int looks_like_version(ki_str text)
{
    return text.len >= 2 && text.ptr[0] == 'v' && text.ptr[1] >= '0' && text.ptr[1] <= '9';
}

static int read_parts(ki_str text, ki_resource_parts *out_parts, ki_error *err)
{
    ki_resource_parts parts = {.scope = KI_SCOPE_NAMESPACED};
    ki_str shown = {text.ptr, text.len < SHOWN_BYTES_MAX ? text.len : SHOWN_BYTES_MAX};
    ki_str rest;
    if (!ki_str_cut_at_dot(text, &parts.plural, &rest) ||
        !ki_str_cut_at_dot(rest, &parts.version, &parts.group) || !looks_like_version(parts.version))
        return ki_fail(err, KI_ERR_RESOURCE, "not of the form plural.version.group: \"%.*s\"",
                       KI_STR_ARGS(shown));
    const char *fault = ki_resource_parts_fault(&parts);
    if (fault != NULL)
        return ki_fail(err, KI_ERR_RESOURCE, "the %s is malformed: \"%.*s\"", fault, KI_STR_ARGS(shown));
    *out_parts = parts;
    return 0;
}

ki_resource *ki_resource_parse(ki_str name, ki_error *err)
{
    ki_resource_parts parts = {0};
    if (read_parts(name, &parts, err) < 0)
        return NULL;
    const ki_resource *known = look_up_by(
        &(ki_resource_query){parts.plural, parts.version, parts.group, KI_GROUP_EXACT}, long_name_matches);
    if (known != NULL)
        return ki_resource_new(known, err);
    ki_resource *resource = ki_resource_from_parts(&parts);
    if (resource == NULL)
        ki_fail_no_memory(err);
    return resource;
}

/* The index in ki_resources; ki_resource_count if there is none. */
static size_t index_of(const ki_resource *resource)
{
    size_t i = 0;
    while (i < ki_resource_count && !ki_resource_equal(resource, &ki_resources[i]))
        i++;
    return i;
}

int ki_resource_is_built_in(const ki_resource *resource)
{
    return index_of(resource) < ki_resource_count;
}

const char *const *ki_resource_short_names(const ki_resource *resource)
{
    static const char *const none[] = {NULL};
    size_t i = resource == NULL ? ki_resource_count : index_of(resource);
    return i < ki_resource_count ? ki_resource_short_name_lists[i] : none;
}
