/* SPDX-License-Identifier: Apache-2.0 */
#include "support/queue/queue_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/store/objects.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

int queue_note(const ki_deltas *deltas, void *user)
{
    static const char signs[] = " +~-=.";
    queue_notes *n = user;
    size_t used = strlen(n->text);
    const char *slash = memchr(deltas->key.ptr, '/', deltas->key.len);
    const char *name = slash == NULL ? deltas->key.ptr : slash + 1;
    size_t name_len = deltas->key.len - (size_t)(name - deltas->key.ptr);
    used += (size_t)snprintf(n->text + used, sizeof(n->text) - used, "%.*s:", (int)name_len, name);
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *d = &deltas->items[i];
        used +=
            (size_t)snprintf(n->text + used, sizeof(n->text) - used, "%c%s%" PRIu64, signs[d->change_type],
                             d->final_state_unknown ? "!" : "", object_version(d->object));
    }
    snprintf(n->text + used, sizeof(n->text) - used, " ");
    n->is_initial = deltas->is_initial;
    n->bytes = deltas->items[deltas->count - 1].bytes;
    n->synced_inside = n->queue != NULL && ki_delta_queue_has_synced(n->queue);
    return n->outcome;
}

void queue_assert_pops(ki_delta_queue *queue, const char *expected)
{
    queue_notes n = {0};
    while (ki_delta_queue_pop(queue, 0, queue_note, &n) == 0)
        continue;
    assert_string_equal(n.text, expected);
}

int queue_push(ki_delta_queue *queue, ki_change_type type, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    int rc = ki_delta_queue_push(queue, (ki_delta){.change_type = type, .object = object});
    (void)ki_object_unref(object);
    return rc;
}

int queue_push_unseen_delete(ki_delta_queue *queue, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    int rc = ki_delta_queue_push(
        queue, (ki_delta){.change_type = KI_CHANGE_DELETED, .final_state_unknown = 1, .object = object});
    (void)ki_object_unref(object);
    return rc;
}

int queue_replace(ki_delta_queue *queue, const char *first, const char *second)
{
    ki_object *objects[2] = {NULL, NULL};
    size_t count = 0;
    if (first != NULL)
        objects[count++] = object_of(first, 9, 0);
    if (second != NULL)
        objects[count++] = object_of(second, 9, 0);
    int rc = ki_delta_queue_replace(queue, objects, count);
    for (size_t i = 0; i < count; i++)
        (void)ki_object_unref(objects[i]);
    return rc;
}

ki_delta_queue *queue_of(ki_store *known)
{
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = known}, NULL);
    assert_non_null(queue);
    return queue;
}

ki_store *queue_store_with(const char *name, uint64_t version)
{
    ki_store *store = ki_store_new(NULL, NULL);
    assert_non_null(store);
    store_put(store, object_of(name, version, 0));
    return store;
}
