/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of an object: fields by pointer, and strings that must be unescaped.
 *
 * When the first string with escapes is read, all of them are unescaped into one block. The block is
 * published with a single pointer and never changes, so readers need no lock, and their strings stay valid.
 */
#include <assert.h>
#include <kinformer/object.h>
#include <string.h>

#include "api/object/object_layout.h"
#include "api/object/object_probe.h"
#include "json/skip.h"
#include "json/text.h"
#include "util/alloc.h"

typedef struct unescaped_string {
    uint32_t place; /* of the opening quote, in the object's text */
    uint32_t start; /* of the string, in `bytes` */
    uint32_t len;
} unescaped_string;

struct ki_unescaped {
    size_t size; /* of this allocation */
    size_t count;
    char *bytes;
    unescaped_string strings[]; /* ordered by place */
};

/* The number of strings with an escape, and their total length. */
typedef struct escaped_total {
    size_t count;
    size_t bytes;
} escaped_total;

/* Returns the next string with an escape at or after *at, with its quotes, and moves *at past it. Returns
 * an empty string if there is none. */
static ki_str next_escaped(const char **at, const char *end)
{
    while (*at < end) {
        const char *quote = memchr(*at, '"', (size_t)(end - *at));
        if (quote == NULL)
            break;
        size_t n = ki_json_skip_string(quote, (size_t)(end - quote));
        if (n == 0)
            break;
        *at = quote + n;
        if (ki_json_skip_plain(quote + 1, n - 1) != n - 2)
            return (ki_str){quote, n};
    }
    *at = end;
    return (ki_str){0};
}

static escaped_total count_escaped(ki_str text)
{
    escaped_total total = {0};
    const char *at = text.ptr;
    for (ki_str s = next_escaped(&at, text.ptr + text.len); s.len != 0;
         s = next_escaped(&at, text.ptr + text.len)) {
        total.count++;
        total.bytes += s.len;
    }
    return total;
}

static struct ki_unescaped *unescape_all(ki_str text)
{
    escaped_total total = count_escaped(text);
    size_t size = sizeof(struct ki_unescaped) + total.count * sizeof(unescaped_string) + total.bytes;
    struct ki_unescaped *all = ki_malloc(size);
    if (all == NULL)
        return NULL;
    *all = (struct ki_unescaped){
        .size = size, .count = total.count, .bytes = (char *)(all->strings + total.count)};
    const char *at = text.ptr;
    size_t used = 0;
    for (size_t i = 0; i < total.count; i++) {
        ki_str s = next_escaped(&at, text.ptr + text.len);
        size_t n = ki_json_unescape(s.ptr + 1, s.len - 2, all->bytes + used);
        all->strings[i] = (unescaped_string){(uint32_t)(s.ptr - text.ptr), (uint32_t)used, (uint32_t)n};
        used += n;
    }
    return all;
}

/* The unescaped strings of an object, created on first use; NULL when out of memory. */
static const struct ki_unescaped *unescaped_of(const ki_object *object)
{
    ki_object *shared = (ki_object *)object;
    /* Acquire: a thread that sees the pointer sees what the publisher wrote into the block. */
    struct ki_unescaped *all = atomic_load_explicit(&shared->unescaped, memory_order_acquire);
    if (all != NULL)
        return all;
    struct ki_unescaped *mine = unescape_all(ki_object_json(object));
    /* Release: publishes the block. Acquire on failure: reads the block that another thread has published
     * first. */
    if (mine == NULL || atomic_compare_exchange_strong_explicit(&shared->unescaped, &all, mine,
                                                                memory_order_acq_rel, memory_order_acquire))
        return mine;
    ki_free(mine);
    return all;
}

void ki_object_free_unescaped(ki_object *object)
{
    assert(object != NULL);
    /* Relaxed: the last reference is gone, and dropping it has ordered everything that other threads did
     * before. */
    ki_free(atomic_load_explicit(&object->unescaped, memory_order_relaxed));
}

size_t ki_object_bytes(const ki_object *object)
{
    if (object == NULL)
        return 0;
    const struct ki_unescaped *all =
        atomic_load_explicit(&((ki_object *)object)->unescaped, memory_order_acquire);
    return object->text_at + object->text_len + (all == NULL ? 0 : all->size);
}

static int find_unescaped(const struct ki_unescaped *all, uint32_t place, ki_str *out_text)
{
    size_t low = 0;
    size_t high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const unescaped_string *s = &all->strings[middle];
        if (s->place == place) {
            *out_text = (ki_str){all->bytes + s->start, s->len};
            return 0;
        }
        if (s->place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return KI_ERR_INVALID;
}

int ki_object_text(const ki_object *object, ki_json string, ki_str *out_text)
{
    if (object == NULL || out_text == NULL)
        return KI_ERR_INVALID;
    ki_str plain = {0};
    ki_str text = ki_object_json(object);
    int rc = ki_json_string(string, &plain);
    if (rc < 0 && rc != KI_ERR_ESCAPED)
        return rc;
    if (out_text == NULL || string.raw.ptr < text.ptr || string.raw.ptr >= text.ptr + text.len)
        return KI_ERR_INVALID;
    if (rc == 0) {
        *out_text = plain;
        return 0;
    }
    const struct ki_unescaped *all = unescaped_of(object);
    return all == NULL ? KI_ERR_NO_MEMORY
                       : find_unescaped(all, (uint32_t)(string.raw.ptr - text.ptr), out_text);
}

ki_str ki_object_json(const ki_object *object)
{
    return object == NULL ? (ki_str){0} : (ki_str){ki_object_at(object, object->text_at), object->text_len};
}

ki_json ki_object_find(const ki_object *object, const char *pointer)
{
    ki_json value = ki_json_find((ki_json){ki_object_json(object)}, pointer);
    if (value.raw.len == 0 && pointer != NULL)
        ki_object_probe_miss(object, pointer);
    return value;
}

int ki_object_get_string(const ki_object *object, const char *pointer, ki_str *out_text)
{
    if (object == NULL || out_text == NULL)
        return KI_ERR_INVALID;
    ki_json value = ki_object_find(object, pointer);
    return ki_json_type_of(value) == KI_JSON_NONE ? KI_ERR_NOT_FOUND
                                                  : ki_object_text(object, value, out_text);
}

ki_str ki_object_string(const ki_object *object, const char *pointer)
{
    ki_str text = {0};
    return ki_object_get_string(object, pointer, &text) == 0 ? text : (ki_str){0};
}

int ki_object_get_int64(const ki_object *object, const char *pointer, int64_t *out_number)
{
    if (object == NULL || out_number == NULL)
        return KI_ERR_INVALID;
    ki_json value = ki_object_find(object, pointer);
    return ki_json_type_of(value) == KI_JSON_NONE ? KI_ERR_NOT_FOUND : ki_json_int64(value, out_number);
}

int ki_object_get_double(const ki_object *object, const char *pointer, double *out_number)
{
    if (object == NULL || out_number == NULL)
        return KI_ERR_INVALID;
    ki_json value = ki_object_find(object, pointer);
    return ki_json_type_of(value) == KI_JSON_NONE ? KI_ERR_NOT_FOUND : ki_json_double(value, out_number);
}

int ki_object_get_bool(const ki_object *object, const char *pointer, int *out_flag)
{
    if (object == NULL || out_flag == NULL)
        return KI_ERR_INVALID;
    ki_json value = ki_object_find(object, pointer);
    return ki_json_type_of(value) == KI_JSON_NONE ? KI_ERR_NOT_FOUND : ki_json_bool(value, out_flag);
}
