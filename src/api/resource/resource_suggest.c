/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/resource_suggest.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/ascii.h"
#include "api/resource/resources_table.h"
#include "util/error.h"

/* NAME_BYTES_MAX: no built-in name is longer, and longer input is not a typo. */
enum { NAME_BYTES_MAX = 64, SUGGESTIONS_MAX = 3, SHOWN_BYTES_MAX = 60 };

/* Names with a larger distance are not suggested; for short names the limit is smaller. */
enum { DISTANCE_MAX = 3 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The Levenshtein distance: how many letters must be inserted, removed or replaced to turn one text into
 * the other. If it is larger than DISTANCE_MAX, the result is any number above DISTANCE_MAX. */
static unsigned edit_distance(ki_str a, ki_str b)
{
    assert(a.len <= NAME_BYTES_MAX && b.len <= NAME_BYTES_MAX);
    if (a.len > b.len + DISTANCE_MAX || b.len > a.len + DISTANCE_MAX)
        return DISTANCE_MAX + 1;
    unsigned row[NAME_BYTES_MAX + 1];
    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned replaced = diagonal + (ki_ascii_lower(a.ptr[i - 1]) != ki_ascii_lower(b.ptr[j - 1]));
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.len];
}

/* A prefix of a name counts as one wrong letter: "stateful". */
static unsigned distance_to_name(ki_str typed, ki_str name)
{
    if (typed.len >= 3 && typed.len < name.len && ki_ascii_equal_fold(typed, (ki_str){name.ptr, typed.len}))
        return 1;
    return edit_distance(typed, name);
}

static unsigned distance_to_resource(ki_str typed, size_t index)
{
    assert(index < ki_resource_count);
    unsigned distance = distance_to_name(typed, ki_str_of(ki_resources[index].plural));
    distance = least(distance, distance_to_name(typed, ki_str_of(ki_resources[index].kind)));
    for (const char *const *each = ki_resource_short_name_lists[index]; *each != NULL; each++)
        distance = least(distance, edit_distance(typed, ki_str_of(*each)));
    return distance;
}

static int has_version_of(const size_t *chosen, size_t count, const ki_resource *resource)
{
    assert(count < SUGGESTIONS_MAX); /* there is a place for one more */
    for (size_t i = 0; i < count; i++) {
        const ki_resource *other = &ki_resources[chosen[i]];
        if (strcmp(other->plural, resource->plural) == 0 && strcmp(other->group, resource->group) == 0)
            return 1;
    }
    return 0;
}

/* Chooses the nearest resources, most preferred first. All have the same distance; none is chosen if it is
 * too large. Returns their number. */
static size_t choose(ki_str typed, size_t chosen[SUGGESTIONS_MAX])
{
    if (typed.len == 0 || typed.len > NAME_BYTES_MAX)
        return 0;
    size_t count = 0;
    unsigned limit = typed.len < 6 ? 1 : typed.len < 9 ? 2 : DISTANCE_MAX;
    unsigned best = limit + 1;
    for (size_t i = 0; i < ki_resource_count; i++) {
        size_t index = ki_resource_preference[i];
        unsigned distance = distance_to_resource(typed, index);
        if (distance < best) {
            best = distance;
            count = 0;
        }
        if (distance == best && distance <= limit && count < SUGGESTIONS_MAX &&
            !has_version_of(chosen, count, &ki_resources[index]))
            chosen[count++] = index;
    }
    assert(count == 0 || best <= limit);
    return count;
}

int ki_resource_fail_unknown(ki_error *err, ki_str name)
{
    assert(name.ptr != NULL || name.len == 0);
    const char *dot = name.len > 0 ? memchr(name.ptr, '.', name.len) : NULL;
    ki_str typed = {name.ptr, dot != NULL ? (size_t)(dot - name.ptr) : name.len};
    size_t chosen[SUGGESTIONS_MAX];
    size_t count = choose(typed, chosen);
    char list[KI_ERROR_MESSAGE_BYTES] = "";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        const ki_resource *near = &ki_resources[chosen[i]];
        const char *before = i == 0 ? "; did you mean " : i + 1 < count ? ", " : " or ";
        int written = snprintf(list + length, sizeof(list) - length, "%s\"%s%s%s\"%s", before, near->plural,
                               near->group[0] != 0 ? "." : "", near->group, i + 1 == count ? "?" : "");
        assert(written > 0);
        length = length + (size_t)written < sizeof(list) ? length + (size_t)written : sizeof(list) - 1;
        assert(list[length] == 0);
    }
    ki_str shown = {name.ptr, name.len < SHOWN_BYTES_MAX ? name.len : SHOWN_BYTES_MAX};
    return ki_fail(err, KI_ERR_RESOURCE, "no such resource: \"%.*s\"%s", KI_STR_ARGS(shown), list);
}
