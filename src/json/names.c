/* SPDX-License-Identifier: Apache-2.0 */
#include "json/names.h"

#include <assert.h>

#include "json/read.h"
#include "json/skip.h"
#include "json/text.h"

static ki_json_spelt between_quotes(const char *name, const char *end)
{
    assert(name < end && *name == '"');
    size_t len = ki_json_skip_string(name, (size_t)(end - name));
    return (ki_json_spelt){{name + 1, len < 2 ? 0 : len - 2}, KI_JSON_RAW};
}

int ki_json_names_compare(const char *a, const char *end_a, const char *b, const char *end_b)
{
    return ki_json_text_compare(between_quotes(a, end_a), between_quotes(b, end_b));
}

/* Equal names stay in the order of the text, which is the order of the pointers. */
static int comes_before(const char *a, const char *b, const char *end)
{
    int order = ki_json_names_compare(a, end, b, end);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(const char **names, size_t at, size_t count, const char *end)
{
    assert(at < count);
    const char *name = names[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(names[child], names[child + 1], end))
            child++;
        if (!comes_before(name, names[child], end))
            break;
        names[at] = names[child];
        at = child;
    }
    names[at] = name;
}

/* Heap sort: no input makes it slow, and it needs no extra memory. */
static void sort(const char **names, size_t count, const char *end)
{
    for (size_t at = count / 2; at > 0; at--)
        sift_down(names, at - 1, count, end);
    for (size_t left = count; left > 1; left--) {
        const char *last = names[0];
        names[0] = names[left - 1];
        names[left - 1] = last;
        sift_down(names, 0, left - 1, end);
    }
}

static int append_all(ki_buf *names, ki_json_iter *iter)
{
    ki_json name, value;
    int rc;
    while ((rc = ki_json_iter_to_value(iter, &name)) == 1) {
        if (ki_buf_append(names, &name.raw.ptr, sizeof(name.raw.ptr)) < 0)
            return KI_ERR_NO_MEMORY;
        rc = ki_json_iter_take(iter, &value);
        if (rc < 0)
            return rc;
    }
    return rc;
}

int ki_json_names_collect(ki_buf *names, ki_json_iter *iter, const char *rest)
{
    assert(names != NULL);
    size_t begin = names->len / sizeof(const char *);
    int rc = append_all(names, iter);
    if (rc < 0)
        return rc;
    size_t count = names->len / sizeof(const char *) - begin;
    if (count == 0)
        return 0;
    const char **sorted = (const char **)(void *)names->data + begin;
    const char *end = iter->at;
    sort(sorted, count, end);
    size_t kept = 0;
    const char *first = NULL; /* the first of several equal names */
    for (size_t i = 0; i < count; i++) {
        if (first != NULL && ki_json_names_compare(first, end, sorted[i], end) == 0)
            continue;
        first = sorted[i];
        if (first >= rest)
            sorted[kept++] = first;
    }
    names->len = (begin + kept) * sizeof(const char *);
    return 0;
}
