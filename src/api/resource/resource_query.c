/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/resource_query.h"

#include <assert.h>
#include <string.h>

#include "api/resource/ascii.h"

int ki_str_cut_at_dot(ki_str text, ki_str *before, ki_str *after)
{
    assert(text.ptr != NULL || text.len == 0);
    const char *dot = text.len > 0 ? memchr(text.ptr, '.', text.len) : NULL;
    size_t length = dot != NULL ? (size_t)(dot - text.ptr) : text.len;
    *before = (ki_str){text.ptr, length};
    *after = dot != NULL ? (ki_str){dot + 1, text.len - length - 1} : (ki_str){0};
    return dot != NULL;
}

int ki_resource_query_has_group(const ki_resource_query *query, ki_str group)
{
    assert(query != NULL);
    assert(group.ptr != NULL || group.len == 0);
    switch (query->rule) {
    case KI_GROUP_ANY:
        return 1;
    case KI_GROUP_EXACT:
        return ki_ascii_equal_fold(group, query->group);
    case KI_GROUP_PREFIX:
        return group.len >= query->group.len &&
               ki_ascii_equal_fold((ki_str){group.ptr, query->group.len}, query->group);
    }
    return 0;
}

/* "a.b.c" may mean the resource a in version b of group c, or the resource a of group b.c. The first
 * interpretation that finds something counts. A group that does not exist is taken as a prefix, as in
 * "storageclasses.storage". */
size_t ki_resource_queries_of(ki_str text, ki_resource_query *out_queries)
{
    assert(text.ptr != NULL || text.len == 0);
    ki_str name, rest, version, group;
    size_t count = 0;
    if (!ki_str_cut_at_dot(text, &name, &rest)) {
        out_queries[0] = (ki_resource_query){.name = name, .rule = KI_GROUP_ANY};
        return 1;
    }
    if (ki_str_cut_at_dot(rest, &version, &group) && version.len > 0)
        out_queries[count++] =
            (ki_resource_query){name, version, group, group.len > 0 ? KI_GROUP_EXACT : KI_GROUP_ANY};
    if (rest.len > 0)
        out_queries[count++] = (ki_resource_query){.name = name, .group = rest, .rule = KI_GROUP_EXACT};
    out_queries[count++] = (ki_resource_query){.name = name, .group = rest, .rule = KI_GROUP_PREFIX};
    return count;
}
