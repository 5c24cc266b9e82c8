/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/lister.h>

#include "api/object/keyer.h"
#include "util/alloc.h"

ki_lister ki_lister_of(const ki_store *store, ki_str ns)
{
    return (ki_lister){.store = store, .ns = ns};
}

ki_lister ki_lister_index(ki_lister lister, const char *index, ki_str value)
{
    lister.index = index;
    lister.value = value;
    return lister;
}

/* ---- one object ------------------------------------------------------------------------------------ */

const ki_object *ki_lister_peek(ki_lister lister, ki_str name)
{
    ki_key_buffer buffer;
    return ki_store_peek_key(lister.store, ki_key_buffer_join(&buffer, lister.ns, name));
}

ki_object *ki_lister_get(ki_lister lister, ki_str name)
{
    ki_read_lock();
    ki_object *object = ki_object_ref(ki_lister_peek(lister, name));
    ki_read_unlock();
    return object;
}

/* ---- several --------------------------------------------------------------------------------------- */

/* The conditions that the index does not cover, and the callback for objects that meet them. */
typedef struct filter {
    ki_str ns; /* empty: any */
    const ki_selector *selector;
    ki_walk_cb callback;
    void *user;
} filter;

/* Chooses the lister's index, or the index of namespaces if the lister has a namespace.
 * NULL: all objects are scanned. */
static const char *choose_index(const ki_lister *lister, ki_str *out_value)
{
    *out_value = lister->index != NULL ? lister->value : lister->ns;
    if (lister->index != NULL)
        return lister->index;
    return lister->ns.len > 0 ? KI_INDEX_NAMESPACE : NULL;
}

static filter filter_of(const ki_lister *lister, const ki_selector *selector)
{
    return (filter){.ns = lister->index != NULL ? lister->ns : (ki_str){0},
                    .selector = selector == NULL ? ki_selector_everything() : selector};
}

static int passes(const filter *f, const ki_object *object)
{
    return (f->ns.len == 0 || ki_str_equal(f->ns, ki_object_namespace(object))) &&
           ki_selector_matches(f->selector, object);
}

/* Keeps the matching objects. Shrinks the array, since it may have space for a whole store. If shrinking
 * fails, the array stays as it is. */
static void filter_list(ki_object_list *list, const filter *f)
{
    size_t kept = 0;
    size_t count = list->count;
    for (size_t i = 0; i < count; i++)
        if (passes(f, list->objects[i]))
            list->objects[kept++] = list->objects[i];
        else
            (void)ki_object_unref(list->objects[i]);
    list->count = kept;
    if (kept == 0) {
        ki_object_list_fini(list);
    } else if (kept < count) {
        ki_object **smaller = ki_realloc(list->objects, kept * sizeof(ki_object *));
        list->objects = smaller == NULL ? list->objects : smaller;
    }
}

int ki_lister_list(ki_lister lister, const ki_selector *selector, ki_object_list *out_list)
{
    if (lister.store == NULL || out_list == NULL)
        return KI_ERR_INVALID;
    ki_object_list list = {0};
    ki_str value = {0};
    const char *index = choose_index(&lister, &value);
    int rc = index == NULL ? ki_store_list(lister.store, &list)
                           : ki_store_list_index(lister.store, index, value, &list);
    if (rc < 0)
        return rc;
    filter f = filter_of(&lister, selector);
    filter_list(&list, &f);
    *out_list = list;
    return 0;
}

static int call(const ki_object *object, void *user)
{
    const filter *f = user;
    return passes(f, object) ? f->callback(object, f->user) : 0;
}

int ki_lister_walk(ki_lister lister, const ki_selector *selector, ki_walk_cb callback, void *user)
{
    if (lister.store == NULL || callback == NULL)
        return KI_ERR_INVALID;
    ki_str value = {0};
    const char *index = choose_index(&lister, &value);
    filter f = filter_of(&lister, selector);
    f.callback = callback;
    f.user = user;
    return index == NULL ? ki_store_walk(lister.store, call, &f)
                         : ki_store_walk_index(lister.store, index, value, call, &f);
}
