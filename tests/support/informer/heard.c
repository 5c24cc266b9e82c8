/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/heard.h"
#include "support/patience.h"

#include <kinformer/object.h>
#include <stdio.h>
#include <stdlib.h>

void heard_init(heard *what)
{
    *what = (heard){0};
    what->replay = ki_store_new(NULL, NULL);
    if (what->replay == NULL)
        abort();
    ki_mutex_init(&what->mu);
    ki_cond_init(&what->changed);
}

void heard_fini(heard *what)
{
    ki_store_free(what->replay);
    ki_cond_fini(&what->changed);
    ki_mutex_fini(&what->mu);
}

int heard_events(const heard *what)
{
    return what->adds + what->updates + what->deletes;
}

static void expect(heard *what, int is_right, const char *wish, const ki_event *event)
{
    if (is_right)
        return;
    what->wrongs++;
    if (event == NULL)
        fprintf(stderr, "a handler expected: %s\n", wish);
    else
        fprintf(stderr, "a handler expected: %s; type %d, flags %x, %s at %.*s\n", wish,
                (int)event->change_type, event->flags, ki_object_key(event->object),
                KI_STR_ARGS(ki_object_resource_version(event->object)));
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void enter(heard *what)
{
    expect(what, atomic_fetch_add(&what->inside, 1) == 0, "one callback at a time", NULL);
    expect(what, what->releases == 0, "nothing after the release", NULL);
}

static void leave(heard *what, atomic_int *counter)
{
    what->inside--;
    ki_mutex_lock(&what->mu);
    (*counter)++;
    ki_cond_broadcast(&what->changed);
    ki_mutex_unlock(&what->mu);
}

static void wait_while_held(heard *what)
{
    ki_mutex_lock(&what->mu);
    while (what->is_held)
        ki_cond_wait(&what->changed, &what->mu);
    ki_mutex_unlock(&what->mu);
}

static int goes_back(const ki_object *known, const ki_object *object)
{
    int order = 0;
    return ki_resource_version_compare(ki_object_resource_version(object), ki_object_resource_version(known),
                                       &order) < 0 ||
           order < 0;
}

/* Retries once, because running out of memory is not the handler's fault. */
static int put(ki_store *store, const ki_object *object)
{
    int rc = ki_store_put(store, object);
    return rc == KI_ERR_NO_MEMORY ? ki_store_put(store, object) : rc;
}

static int drop(ki_store *store, ki_str key)
{
    int rc = ki_store_remove(store, key);
    return rc == KI_ERR_NO_MEMORY ? ki_store_remove(store, key) : rc;
}

static void replay(heard *what, const ki_event *event)
{
    ki_object *known = ki_store_get_key(what->replay, ki_object_key_str(event->object));
    if (event->change_type == KI_CHANGE_ADDED)
        expect(what, known == NULL, "no add of an existing object", event);
    else
        expect(what, known != NULL, "no update or delete of a missing object", event);
    expect(what, known == NULL || what->has_new_history || !goes_back(known, event->object),
           "no version that decreases", event);
    if (event->change_type != KI_CHANGE_DELETED)
        expect(what, put(what->replay, event->object) == 0, "memory", event);
    else if (known != NULL)
        expect(what, drop(what->replay, ki_object_key_str(known)) == 0, "memory", event);
    (void)ki_object_unref(known);
}

static void count_flags(heard *what, const ki_event *event)
{
    what->initial += (event->flags & KI_EVENT_INITIAL) != 0;
    what->resyncs += (event->flags & KI_EVENT_RESYNC) != 0;
    what->replaced += (event->flags & KI_EVENT_REPLACED) != 0;
    what->unknown += (event->flags & KI_EVENT_FINAL_STATE_UNKNOWN) != 0;
}

static void take(heard *what, const ki_event *event, atomic_int *counter)
{
    enter(what);
    replay(what, event);
    count_flags(what, event);
    wait_while_held(what);
    if (what->in_event != NULL)
        what->in_event(what, event);
    leave(what, counter);
}

static void on_add(const ki_event *event, void *user)
{
    heard *what = user;
    expect(what, event->change_type == KI_CHANGE_ADDED && event->old == NULL, "an add", event);
    take(what, event, &what->adds);
}

static void on_update(const ki_event *event, void *user)
{
    heard *what = user;
    expect(what, event->change_type == KI_CHANGE_UPDATED, "an update", event);
    take(what, event, &what->updates);
}

static void on_delete(const ki_event *event, void *user)
{
    heard *what = user;
    expect(what, event->change_type == KI_CHANGE_DELETED && event->old == NULL, "a delete", event);
    take(what, event, &what->deletes);
}

static void on_synced(void *user)
{
    heard *what = user;
    enter(what);
    if (what->in_synced != NULL)
        what->in_synced(what, NULL);
    leave(what, &what->synced);
}

static void on_batch_end(void *user)
{
    heard *what = user;
    enter(what);
    leave(what, &what->batch_ends);
}

static void on_release(void *user)
{
    heard *what = user;
    enter(what);
    if (what->in_release != NULL)
        what->in_release(what, NULL);
    leave(what, &what->releases);
}

ki_handler heard_handler(heard *what)
{
    return (ki_handler){.on_add = on_add,
                        .on_update = on_update,
                        .on_delete = on_delete,
                        .on_synced = on_synced,
                        .on_batch_end = on_batch_end,
                        .on_release = on_release,
                        .user = what};
}

/* ---- queries ----------------------------------------------------------------------------------------- */

int heard_wait(heard *what, atomic_int *counter, int at_least)
{
    ki_mutex_lock(&what->mu);
    int is_in_time = 1;
    while (*counter < at_least && is_in_time)
        is_in_time = ki_cond_wait_ms(&what->changed, &what->mu, HANG_MS);
    int is_there = *counter >= at_least;
    ki_mutex_unlock(&what->mu);
    return is_there;
}

void heard_hold(heard *what)
{
    ki_mutex_lock(&what->mu);
    what->is_held = 1;
    ki_mutex_unlock(&what->mu);
}

void heard_let_go(heard *what)
{
    ki_mutex_lock(&what->mu);
    what->is_held = 0;
    ki_cond_broadcast(&what->changed);
    ki_mutex_unlock(&what->mu);
}

typedef struct comparison {
    const ki_store *store;
    size_t common;
} comparison;

static int compare(const ki_object *object, void *user)
{
    comparison *c = user;
    ki_object *other = ki_store_get_key(c->store, ki_object_key_str(object));
    c->common +=
        other != NULL && ki_str_equal(ki_object_resource_version(object), ki_object_resource_version(other));
    (void)ki_object_unref(other);
    return 0;
}

size_t heard_differences(const heard *what, const ki_store *store)
{
    comparison c = {.store = store};
    if (ki_store_walk(what->replay, compare, &c) < 0)
        abort();
    return ki_store_count(what->replay) + ki_store_count(store) - 2 * c.common;
}
