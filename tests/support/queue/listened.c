/* SPDX-License-Identifier: Apache-2.0 */
#include "support/queue/listened.h"
#include "support/queue/deliver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/alloc.h"

/* ---- the callbacks ------------------------------------------------------------------------------------ */

static void say(listened *l, const char *format, uint64_t a, uint64_t b)
{
    l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, format, a, b);
    assert_true(l->len < sizeof(l->text) - 8);
}

static void say_flags(listened *l, uint32_t flags)
{
    static const char letters[] = "isruc"; /* in the order of the flags */
    for (unsigned i = 0; i < 5; i++)
        if ((flags >> i & 1) != 0)
            l->text[l->len++] = letters[i];
    l->text[l->len++] = ' ';
    l->text[l->len] = 0;
}

static void on_add(const ki_event *event, void *user)
{
    say(user, "+%" PRIu64, object_version(event->object), 0);
    say_flags(user, event->flags);
}

static void on_update(const ki_event *event, void *user)
{
    say(user, "~%" PRIu64 ">%" PRIu64, event->old == NULL ? 0 : object_version(event->old),
        object_version(event->object));
    say_flags(user, event->flags);
}

void listened_on_delete(const ki_event *event, void *user)
{
    say(user, "-%" PRIu64, object_version(event->object), 0);
    say_flags(user, event->flags);
}

static void on_synced(void *user)
{
    say(user, "synced ", 0, 0);
}

static void on_batch_end(void *user)
{
    say(user, "; ", 0, 0);
}

/* ---- the listener ------------------------------------------------------------------------------------- */

ki_handler listened_handler(listened *l)
{
    return (ki_handler){.on_add = on_add,
                        .on_update = on_update,
                        .on_delete = listened_on_delete,
                        .on_synced = on_synced,
                        .on_batch_end = on_batch_end,
                        .user = l};
}

void listened_init(listened *l, const ki_handler *handler)
{
    ki_handler all = listened_handler(l);
    l->len = 0;
    l->text[0] = 0;
    assert_int_equal(ki_listener_init(&l->listener, handler == NULL ? &all : handler, ki_clock_real(), 1), 0);
}

void listened_init_tight(listened *l)
{
    ki_handler handler = listened_handler(l);
    handler.backlog_items_max = 1;
    listened_init(l, &handler);
}

void listened_fini(listened *l)
{
    ki_listener_fini(&l->listener);
}

void listened_deliver_all(ki_listener *listener)
{
    while (deliver_some(listener, 3) == 3)
        ;
}

void listened_expect(listened *l, const char *expected)
{
    listened_deliver_all(&l->listener);
    assert_string_equal(l->text, expected);
    ki_listener_stats stats = ki_listener_read_stats(&l->listener);
    assert_int_equal(stats.items, 0);
    assert_int_equal(stats.bytes, 0);
    listened_fini(l);
}

/* ---- what is pushed ----------------------------------------------------------------------------------- */

ki_object *listened_large_object(const char *name, uint64_t version, uint64_t uid, size_t more)
{
    size_t size = 256 + more;
    char *json = malloc(size);
    assert_non_null(json);
    int n = snprintf(json, size,
                     "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%" PRIu64
                     "\",\"resourceVersion\":\"%" PRIu64 "\"},\"more\":\"%0*d\"}",
                     name, uid, version, (int)more + 1, 0);
    ki_object *object = ki_object_new(NULL, (ki_str){json, (size_t)n}, NULL, NULL);
    assert_non_null(object);
    free(json);
    return object;
}

ki_object *listened_object(const char *name, uint64_t version, uint64_t uid)
{
    return listened_large_object(name, version, uid, 0);
}

void listened_push_failing(ki_listener *listener, ki_notification what, size_t n)
{
    ki_list one;
    ki_backlog_entry *entry = ki_backlog_entry_new();
    assert_non_null(entry);
    entry->what = what;
    ki_list_init(&one);
    ki_list_push_back(&one, &entry->node);
    failing_allocator_fail_at(n);
    ki_listener_push_all(listener, &one);
    failing_allocator_fail_at(0);
    assert_true(ki_list_is_empty(&one));
}

void listened_push(ki_listener *listener, ki_notification what)
{
    listened_push_failing(listener, what, 0);
}

void listened_begin(ki_listener *listener, ki_object *const *objects, size_t count)
{
    ki_object_list list = {0};
    size_t bytes = 0;
    if (count > 0) {
        list.objects = ki_calloc(count, sizeof(ki_object *));
        assert_non_null(list.objects);
    }
    for (; list.count < count; list.count++) {
        list.objects[list.count] = objects[list.count];
        bytes += ki_object_own_bytes(objects[list.count]);
    }
    ki_listener_begin(listener, &list, bytes);
    assert_null(list.objects);
    listened_push(listener, (ki_notification){0});
}

void listened_push_add(listened *l, const char *name, uint64_t version, uint32_t flags)
{
    listened_push(&l->listener,
                  (ki_notification){KI_CHANGE_ADDED, flags, listened_object(name, version, 1), NULL});
}

void listened_push_update(listened *l, const char *name, uint64_t old, uint64_t version)
{
    listened_push(&l->listener, (ki_notification){KI_CHANGE_UPDATED, 0, listened_object(name, version, 1),
                                                  listened_object(name, old, 1)});
}

void listened_push_delete(listened *l, const char *name, uint64_t version, uint32_t flags)
{
    listened_push(&l->listener,
                  (ki_notification){KI_CHANGE_DELETED, flags, listened_object(name, version, 1), NULL});
}
