/* SPDX-License-Identifier: Apache-2.0 */
#include "store/index_values.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/fork.h"
#include "util/loop/rcu.h"
#include "util/thread.h"

enum { KEPT_TEXT_BYTES = 4096, KEPT_ITEMS = 64, FIRST_ITEMS = 4 };

/* The handle with which an index function emits values. */
struct ki_index_emit {
    ki_index_values *values;
    int rc; /* the first failure; kept, so that a function that ignores it does not silently lose a value */
};

void ki_index_values_init(ki_index_values *values)
{
    assert(values != NULL);
    *values = (ki_index_values){0};
    ki_buf_init(&values->text, KI_INDEX_VALUES_BYTES_MAX);
}

void ki_index_values_fini(ki_index_values *values)
{
    assert(values != NULL);
    ki_buf_fini(&values->text);
    ki_free(values->items);
    values->items = NULL;
    values->count = 0;
    values->capacity = 0;
}

void ki_index_values_reset(ki_index_values *values)
{
    assert(values != NULL);
    ki_buf_reset(&values->text, KEPT_TEXT_BYTES);
    values->count = 0;
    if (values->capacity > KEPT_ITEMS) {
        ki_free(values->items);
        values->items = NULL;
        values->capacity = 0;
    }
}

static int reserve_item(ki_index_values *values)
{
    if (values->count < values->capacity)
        return 0;
    if (values->count == KI_INDEX_VALUES_MAX)
        return KI_ERR_TOO_LARGE;
    size_t capacity = values->capacity == 0 ? FIRST_ITEMS : values->capacity * 2;
    ki_index_value *items = ki_realloc(values->items, capacity * sizeof(items[0]));
    if (items == NULL)
        return KI_ERR_NO_MEMORY;
    values->items = items;
    values->capacity = capacity;
    return 0;
}

int ki_index_emit_value(ki_index_emit *emit, ki_str value)
{
    if (emit == NULL)
        return KI_ERR_INVALID;
    if (emit->rc == 0)
        emit->rc = reserve_item(emit->values);
    if (emit->rc == 0 && value.len > 0)
        emit->rc = ki_buf_append_str(&emit->values->text, value);
    /* Only the length is stored here, because the text may still move. */
    if (emit->rc == 0)
        emit->values->items[emit->values->count++] = (ki_index_value){.text = {NULL, value.len}};
    return emit->rc;
}

/* The value is unescaped directly into the buffer, after the values collected so far. */
static int emit_escaped(ki_index_emit *emit, ki_str raw)
{
    ki_buf *text = &emit->values->text;
    emit->rc = ki_buf_reserve(text, raw.len);
    if (emit->rc == 0)
        emit->rc = reserve_item(emit->values);
    if (emit->rc < 0)
        return emit->rc;
    size_t len = ki_object_path_unescape(raw, text->data + text->len);
    text->len += len;
    emit->values->items[emit->values->count++] = (ki_index_value){.text = {NULL, len}};
    return 0;
}

static int emit_at_path(ki_str text, bool is_escaped, void *user)
{
    return is_escaped ? emit_escaped(user, text) : ki_index_emit_value(user, text);
}

int ki_index_value_compare(const ki_index_value *a, const ki_index_value *b)
{
    assert(a != NULL);
    return a->hash != b->hash ? (a->hash > b->hash) - (a->hash < b->hash) : ki_str_compare(a->text, b->text);
}

static int compare_items(const void *a, const void *b)
{
    return ki_index_value_compare(a, b);
}

static void remove_duplicates(ki_index_values *values)
{
    size_t kept = values->count > 0;
    for (size_t i = 1; i < values->count; i++)
        if (ki_index_value_compare(&values->items[kept - 1], &values->items[i]) != 0)
            values->items[kept++] = values->items[i];
    values->count = kept;
}

static void put_in_order(ki_index_values *values, const ki_keyer *keyer)
{
    size_t at = 0;
    for (size_t i = 0; i < values->count; i++) {
        ki_index_value *value = &values->items[i];
        value->text.ptr = value->text.len > 0 ? values->text.data + at : "";
        value->hash = ki_keyer_hash(keyer, value->text);
        at += value->text.len;
    }
    if (values->count > 1) {
        qsort(values->items, values->count, sizeof(values->items[0]), compare_items);
        remove_duplicates(values);
    }
}

static int collect_field(ki_index_values *values, ki_str text, const ki_keyer *keyer)
{
    int rc = reserve_item(values);
    if (rc == 0)
        values->items[values->count++] = (ki_index_value){.text = text, .hash = ki_keyer_hash(keyer, text)};
    return rc;
}

static int call_user(const ki_index_function *function, const ki_object *object, ki_index_emit *emit)
{
    size_t held = ki_mutex_set_held(0);
    ki_rcu_read_lock();
    ki_fork_bar();
    int rc = function->callback(object, emit, function->user);
    ki_fork_unbar();
    ki_rcu_read_unlock();
    (void)ki_mutex_set_held(held);
    return rc;
}

int ki_index_values_collect(ki_index_values *values, const ki_index_function *function,
                            const ki_object *object, const ki_keyer *keyer)
{
    ki_index_emit emit = {values, 0};
    ki_index_values_reset(values);
    if (function->field != NULL)
        return collect_field(values, function->field(object), keyer);
    int rc = function->path != NULL ? ki_object_path_walk(function->path, object, emit_at_path, &emit)
                                    : call_user(function, object, &emit);
    /* The function's own error code has precedence, unless the function has ignored KI_ERR_NO_MEMORY. */
    if (emit.rc < 0 && (rc >= 0 || emit.rc == KI_ERR_NO_MEMORY))
        rc = emit.rc;
    if (rc < 0) {
        ki_index_values_reset(values);
        return rc;
    }
    put_in_order(values, keyer);
    return 0;
}
