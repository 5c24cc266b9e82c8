/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/discovery_decoder.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/ascii.h"
#include "api/resource/resource_parts.h"
#include "util/text/byte.h"

/* A string with escapes counts as missing: names in Kubernetes need none. */
static ki_str text_of(ki_json value)
{
    ki_str text = {0};
    return ki_json_string(value, &text) == 0 ? text : (ki_str){0};
}

static ki_str member(ki_json object, const char *name)
{
    return text_of(ki_json_member(object, ki_str_of(name)));
}

static bool contains(ki_json array, ki_str text)
{
    ki_json_iter iter = ki_json_iterate(array);
    for (ki_json each; ki_json_next(&iter, NULL, &each);)
        if (ki_ascii_equal_fold(text_of(each), text))
            return true;
    return false;
}

/* ---- one resource ------------------------------------------------------------------------------------ */

typedef struct entry {
    ki_resource_parts parts;
    ki_str singular;
    ki_json short_names;
    ki_json verbs;
} entry;

/* A lower rank is better. The interpretations of the name rank in their order; within each, full names come
 * before short ones. */
static int rank_of(const ki_discovery_search *search, const entry *e)
{
    for (size_t i = 0; i < search->query_count; i++) {
        const ki_resource_query *query = &search->queries[i];
        if (!ki_resource_query_has_group(query, e->parts.group) ||
            (query->version.len > 0 && !ki_ascii_equal_fold(query->version, e->parts.version)))
            continue;
        if (ki_ascii_equal_fold(e->parts.plural, query->name) ||
            ki_ascii_equal_fold(e->parts.kind, query->name) || ki_ascii_equal_fold(e->singular, query->name))
            return (int)i * 2;
        if (contains(e->short_names, query->name))
            return (int)i * 2 + 1;
    }
    return INT_MAX;
}

/* Of several resources with the same rank, the first is kept: servers list preferred versions first. */
static int consider(ki_discovery_search *search, const entry *e)
{
    int rank = rank_of(search, e);
    if (rank >= search->rank)
        return 0;
    if (!contains(e->verbs, KI_STR("list")) || !contains(e->verbs, KI_STR("watch"))) {
        search->is_unwatched = true;
        return 0;
    }
    if (ki_resource_parts_fault(&e->parts) != NULL)
        return 0;
    ki_resource *found = ki_resource_from_parts(&e->parts);
    if (found == NULL)
        return KI_ERR_NO_MEMORY;
    ki_resource_free(search->best);
    search->best = found;
    search->rank = rank;
    return 0;
}

/* ---- aggregated discovery ---------------------------------------------------------------------------- */

static int take_version(ki_discovery_search *search, ki_str group, ki_json version)
{
    ki_json_iter iter = ki_json_iterate(ki_json_member(version, KI_STR("resources")));
    int rc = 0;
    for (ki_json each; rc == 0 && ki_json_next(&iter, NULL, &each);) {
        bool is_namespaced = ki_str_equal(member(each, "scope"), KI_STR("Namespaced"));
        entry e = {.parts = {.group = group,
                             .version = member(version, "version"),
                             .plural = member(each, "resource"),
                             .kind = text_of(ki_json_find(each, "/responseKind/kind")),
                             .scope = is_namespaced ? KI_SCOPE_NAMESPACED : KI_SCOPE_CLUSTER},
                   .singular = member(each, "singularResource"),
                   .short_names = ki_json_member(each, KI_STR("shortNames")),
                   .verbs = ki_json_member(each, KI_STR("verbs"))};
        rc = consider(search, &e);
    }
    return rc;
}

static int take_all(ki_discovery_search *search, ki_json answer)
{
    ki_json_iter groups = ki_json_iterate(ki_json_member(answer, KI_STR("items")));
    int rc = 0;
    for (ki_json group; rc == 0 && ki_json_next(&groups, NULL, &group);) {
        ki_str name = text_of(ki_json_find(group, "/metadata/name"));
        ki_json_iter versions = ki_json_iterate(ki_json_member(group, KI_STR("versions")));
        for (ki_json version; rc == 0 && ki_json_next(&versions, NULL, &version);)
            rc = take_version(search, name, version);
    }
    return rc < 0 ? rc : KI_DISCOVERY_RESOURCES;
}

/* ---- older servers: groups and their resources ------------------------------------------------------- */

static int take_resources(ki_discovery_search *search, ki_json answer)
{
    ki_str both = member(answer, "groupVersion");
    const char *slash = both.len > 0 ? memchr(both.ptr, '/', both.len) : NULL;
    size_t n = slash == NULL ? 0 : (size_t)(slash - both.ptr);
    ki_str version = slash == NULL ? both : (ki_str){slash + 1, both.len - n - 1};
    ki_json_iter iter = ki_json_iterate(ki_json_member(answer, KI_STR("resources")));
    int rc = 0;
    for (ki_json each; rc == 0 && ki_json_next(&iter, NULL, &each);) {
        int is_namespaced = 0;
        (void)ki_json_bool(ki_json_member(each, KI_STR("namespaced")), &is_namespaced);
        entry e = {.parts = {.group = {both.ptr, n},
                             .version = version,
                             .plural = member(each, "name"),
                             .kind = member(each, "kind"),
                             .scope = is_namespaced ? KI_SCOPE_NAMESPACED : KI_SCOPE_CLUSTER},
                   .singular = member(each, "singularName"),
                   .short_names = ki_json_member(each, KI_STR("shortNames")),
                   .verbs = ki_json_member(each, KI_STR("verbs"))};
        bool is_subresource =
            e.parts.plural.len > 0 && memchr(e.parts.plural.ptr, '/', e.parts.plural.len) != NULL;
        if (!is_subresource)
            rc = consider(search, &e);
    }
    return rc < 0 ? rc : KI_DISCOVERY_RESOURCES;
}

static bool is_wanted(const ki_discovery_search *search, ki_str group)
{
    for (size_t i = 0; i < search->query_count; i++)
        if (ki_resource_query_has_group(&search->queries[i], group))
            return true;
    return false;
}

static bool is_plain(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!(ki_byte_is_lower_or_digit(c) || c == '-' || c == '.' || c == '/'))
            return false;
    }
    return text.len > 0;
}

static int add_path(ki_buf *paths, ki_str group_version)
{
    if (!is_plain(group_version))
        return 0;
    int rc = ki_buf_append_str(paths, KI_STR("/apis/"));
    if (rc == 0)
        rc = ki_buf_append_str(paths, group_version);
    return rc == 0 ? ki_buf_append(paths, "", 1) : rc;
}

/* Appends the paths of the group's versions, the preferred version first. */
static int take_group(const ki_discovery_search *search, ki_json group, ki_buf *paths)
{
    ki_str preferred = text_of(ki_json_find(group, "/preferredVersion/groupVersion"));
    ki_json_iter versions = ki_json_iterate(ki_json_member(group, KI_STR("versions")));
    if (!is_wanted(search, member(group, "name")))
        return 0;
    int rc = add_path(paths, preferred);
    for (ki_json version; rc == 0 && ki_json_next(&versions, NULL, &version);) {
        ki_str group_version = member(version, "groupVersion");
        if (!ki_str_equal(group_version, preferred))
            rc = add_path(paths, group_version);
    }
    return rc;
}

static int take_groups(const ki_discovery_search *search, ki_json answer, ki_buf *paths)
{
    ki_json_iter groups = ki_json_iterate(ki_json_member(answer, KI_STR("groups")));
    int rc = 0;
    for (ki_json group; rc == 0 && ki_json_next(&groups, NULL, &group);)
        rc = take_group(search, group, paths);
    return rc < 0 ? rc : KI_DISCOVERY_GROUPS;
}

/* ---- the search -------------------------------------------------------------------------------------- */

void ki_discovery_search_init(ki_discovery_search *search, ki_str name)
{
    assert(search != NULL);
    assert(name.ptr != NULL || name.len == 0);
    *search = (ki_discovery_search){.rank = INT_MAX};
    search->query_count = ki_resource_queries_of(name, search->queries);
}

void ki_discovery_search_fini(ki_discovery_search *search)
{
    assert(search != NULL);
    ki_resource_free(search->best);
    *search = (ki_discovery_search){0};
}

int ki_discovery_search_take(ki_discovery_search *search, ki_str text, ki_buf *paths)
{
    assert(text.ptr != NULL || text.len == 0);
    if (ki_json_validate(text, NULL) < 0)
        return KI_ERR_NOT_A_LIST;
    ki_json answer = ki_json_of(text);
    ki_str kind = member(answer, "kind");
    if (ki_str_equal(kind, KI_STR("APIGroupDiscoveryList")))
        return take_all(search, answer);
    if (ki_str_equal(kind, KI_STR("APIResourceList")))
        return take_resources(search, answer);
    if (ki_str_equal(kind, KI_STR("APIGroupList")))
        return take_groups(search, answer, paths);
    return KI_ERR_NOT_A_LIST;
}
