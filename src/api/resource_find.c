/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/resource.h>
#include <string.h>

#include "api/ascii.h"
#include "api/resource_parts.h"
#include "api/resource_suggest.h"
#include "api/resources_table.h"
#include "util/error.h"

/* Of a name that is refused, the message shows this much. */
enum { SHOWN_BYTES_MAX = 100 };

typedef enum group_rule { GROUP_ANY, GROUP_EXACT, GROUP_PREFIX } group_rule;

typedef struct query {
    ki_str name;    /* plural, singular, kind or short name */
    ki_str version; /* empty: any */
    ki_str group;
    group_rule rule;
} query;

/* Splits at the first dot and returns 1; without a dot all is `before`, `after` is empty, and it returns 0.
 * */
static int cut_at_dot(ki_str text, ki_str *before, ki_str *after)
{
    const char *dot = text.len > 0 ? memchr(text.ptr, '.', text.len) : NULL;
    size_t length = dot != NULL ? (size_t)(dot - text.ptr) : text.len;
    *before = (ki_str){text.ptr, length};
    *after = dot != NULL ? (ki_str){dot + 1, text.len - length - 1} : (ki_str){0};
    return dot != NULL;
}

static int group_matches(const query *wanted, ki_str group)
{
    switch (wanted->rule) {
    case GROUP_ANY:
        return 1;
    case GROUP_EXACT:
        return ki_ascii_equal_fold(group, wanted->group);
    case GROUP_PREFIX:
        return group.len >= wanted->group.len &&
               ki_ascii_equal_fold((ki_str){group.ptr, wanted->group.len}, wanted->group);
    }
    return 0;
}

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

static const ki_resource *look_up_by(const query *wanted, int (*matches)(size_t index, ki_str name))
{
    for (size_t i = 0; i < ki_resource_count; i++) {
        size_t index = ki_resource_preference[i];
        const ki_resource *resource = &ki_resources[index];
        if (wanted->version.len > 0 && !ki_ascii_equal_fold(ki_str_of(resource->version), wanted->version))
            continue;
        if (group_matches(wanted, ki_str_of(resource->group)) && matches(index, wanted->name))
            return resource;
    }
    return NULL;
}

/* A full name goes before a short one, whatever their groups, so that no short name can hide a resource. */
static const ki_resource *look_up(query wanted)
{
    const ki_resource *resource = look_up_by(&wanted, long_name_matches);
    return resource != NULL ? resource : look_up_by(&wanted, short_name_matches);
}

/* "a.b.c" may be a of version b in group c, or a of group b.c; the first reading wins where it finds
 * something. A group that nothing has is read as the beginning of one: "storageclasses.storage". */
static const ki_resource *find(ki_str text)
{
    ki_str name, rest, version, group;
    if (!cut_at_dot(text, &name, &rest))
        return look_up((query){.name = name, .rule = GROUP_ANY});
    const ki_resource *resource = NULL;
    if (cut_at_dot(rest, &version, &group) && version.len > 0)
        resource = look_up((query){name, version, group, group.len > 0 ? GROUP_EXACT : GROUP_ANY});
    if (resource == NULL && rest.len > 0)
        resource = look_up((query){.name = name, .group = rest, .rule = GROUP_EXACT});
    if (resource == NULL)
        resource = look_up((query){.name = name, .group = rest, .rule = GROUP_PREFIX});
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
    if (!cut_at_dot(text, &parts.plural, &rest) || !cut_at_dot(rest, &parts.version, &parts.group) ||
        !looks_like_version(parts.version))
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
    const ki_resource *known =
        look_up_by(&(query){parts.plural, parts.version, parts.group, GROUP_EXACT}, long_name_matches);
    if (known != NULL)
        return ki_resource_new(known, err);
    ki_resource *resource = ki_resource_from_parts(&parts);
    if (resource == NULL)
        ki_fail_no_memory(err);
    return resource;
}

const char *const *ki_resource_short_names(const ki_resource *resource)
{
    static const char *const none[] = {NULL};
    for (size_t i = 0; i < ki_resource_count; i++)
        if (resource != NULL && ki_resource_equal(resource, &ki_resources[i]))
            return ki_resource_short_name_lists[i];
    return none;
}
