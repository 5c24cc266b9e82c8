/* SPDX-License-Identifier: Apache-2.0 */
/* Writers, watchers and readers of pages use one storage, each on its own thread. */
#include <stdio.h>
#include <string.h>

#include "apiserver/storage/watch.h"
#include "apiserver/verbs/verbs.h"
#include "support/unit.h"
#include "util/random.h"
#include "util/thread.h"

enum {
    WRITERS = 3,
    WATCHERS = 3,
    PAGERS = 2,
    KEYS = 20,
    STEPS = 400,
    EVENTS = 16,
    KEY_BYTES = 64,
    BODY_BYTES = 160
};

static struct ki_as_storage *storage;
static struct ki_as_resource *configmaps;
static _Atomic int writers_left;

/* ---- writers ------------------------------------------------------------------------------------------- */

struct writer {
    ki_thread thread;
    int number;
};

/* Creates, updates or deletes one of the writer's own keys, depending on its state. */
static void write_once(const struct writer *writer, ki_random *random, int step)
{
    char name[KEY_BYTES];
    char text[BODY_BYTES];
    struct ki_as_failure failure = {0};
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    (void)snprintf(name, sizeof(name), "w%d-%d", writer->number, (int)ki_random_below(random, KEYS));
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"labels\":{\"even\":\"%d\"}},\"data\":{\"step\":\"%d\"}}", step % 2,
                   step);
    struct ki_as_call call = {
        .storage = storage, .resource = configmaps, .ns = KI_STR("default"), .is_whole = true};
    call.name = ki_str_of(name);
    if (ki_random_below(random, 4) == 0) {
        (void)!ki_as_delete(&call, NULL, &object, &is_gone, &failure);
    } else {
        json_t *body = json_loads(text, 0, NULL);
        int rc = ki_as_update(&call, body, &object, NULL, &failure);
        assert_int_equal(rc, 0);
        json_decref(body);
    }
    ki_as_object_unref(object);
    ki_as_failure_fini(&failure);
}

static void write_all(void *user)
{
    struct writer *writer = user;
    ki_random random;
    ki_random_init(&random, (uint64_t)writer->number + 1);
    for (int step = 0; step < STEPS; step++)
        write_once(writer, &random, step);
    writers_left--;
}

/* ---- watchers ------------------------------------------------------------------------------------------ */

struct watcher {
    ki_thread thread;
    struct ki_as_watch *watch;
    struct ki_as_selector *selector;
    ki_mutex mu;
    ki_cond cond;
    bool is_woken; /* guarded by mu, like is_ending */
    bool is_ending;
    uint64_t versions[WRITERS][KEYS]; /* of the objects that exist; 0: no object */
    uint64_t last;
};

static void wake(void *user)
{
    struct watcher *watcher = user;
    ki_mutex_lock(&watcher->mu);
    watcher->is_woken = true;
    ki_cond_signal(&watcher->cond);
    ki_mutex_unlock(&watcher->mu);
}

static void see(struct watcher *watcher, const struct ki_as_event *event)
{
    int writer = 0;
    int key = 0;
    char name[KEY_BYTES];
    (void)snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(event->object->name));
    assert_int_equal(sscanf(name, "w%d-%d", &writer, &key), 2);
    assert_true(event->version > watcher->last);
    watcher->last = event->version;
    uint64_t *version = &watcher->versions[writer][key];
    assert_int_equal(event->type == KI_AS_ADDED, *version == 0);
    *version = event->type == KI_AS_DELETED ? 0 : event->version;
    if (event->type != KI_AS_DELETED)
        assert_int_equal(event->object->version, event->version);
}

static bool take_all(struct watcher *watcher)
{
    struct ki_as_event events[EVENTS];
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    uint64_t version = 0;
    size_t count = 0;
    while ((count = ki_as_watch_take(watcher->watch, events, EVENTS, &version, &end)) > 0)
        for (size_t i = 0; i < count; i++) {
            see(watcher, &events[i]);
            ki_as_object_unref(events[i].object);
        }
    assert_int_equal(end, KI_AS_WATCH_OPEN);
    ki_mutex_lock(&watcher->mu);
    while (!watcher->is_woken && !watcher->is_ending)
        ki_cond_wait(&watcher->cond, &watcher->mu);
    bool goes_on = watcher->is_woken;
    watcher->is_woken = false;
    ki_mutex_unlock(&watcher->mu);
    return goes_on;
}

static void watch_all(void *user)
{
    while (take_all(user))
        continue;
}

static void watcher_start(struct watcher *watcher, int number)
{
    *watcher = (struct watcher){0};
    ki_mutex_init(&watcher->mu);
    ki_cond_init(&watcher->cond);
    struct ki_as_failure failure = {0};
    struct ki_as_selector *taken = NULL;
    ki_str labels = ki_str_of(number == 0 ? "" : "even=0");
    assert_int_equal(ki_as_selector_parse(labels, KI_STR(""), configmaps, &taken, &failure), 0);
    assert_int_equal(ki_as_selector_parse(labels, KI_STR(""), configmaps, &watcher->selector, &failure), 0);
    struct ki_as_watch_options options = {
        .resource = configmaps, .selector = taken, .wake = wake, .user = watcher};
    ki_as_storage_lock(storage);
    options.after = ki_as_storage_version(storage);
    ki_as_storage_unlock(storage);
    assert_int_equal(ki_as_watch_open(storage, &options, &watcher->watch), 0);
    assert_int_equal(
        ki_thread_start(&watcher->thread, &(ki_thread_options){"watcher", watch_all, watcher, 0}, NULL), 0);
}

/* The events have reported exactly the objects that exist and match. */
static void watcher_finish(struct watcher *watcher)
{
    ki_mutex_lock(&watcher->mu);
    watcher->is_ending = true;
    ki_cond_signal(&watcher->cond);
    ki_mutex_unlock(&watcher->mu);
    ki_thread_join(&watcher->thread);
    ki_as_storage_lock(storage);
    const struct ki_as_collection *collection = ki_as_storage_collection(storage, configmaps);
    for (int writer = 0; writer < WRITERS; writer++)
        for (int key = 0; key < KEYS; key++) {
            char name[KEY_BYTES];
            (void)snprintf(name, sizeof(name), "w%d-%d", writer, key);
            const struct ki_as_object *object =
                ki_as_collection_find(collection, KI_STR("default"), ki_str_of(name));
            if (object != NULL && !ki_as_selector_matches(watcher->selector, object))
                object = NULL;
            assert_int_equal(watcher->versions[writer][key], object == NULL ? 0 : object->version);
        }
    ki_as_storage_unlock(storage);
    ki_as_watch_close(watcher->watch);
    ki_as_selector_free(watcher->selector);
    ki_cond_fini(&watcher->cond);
    ki_mutex_fini(&watcher->mu);
}

/* ---- pages --------------------------------------------------------------------------------------------- */

/* The pages of one list are in order, contain nothing newer than the list's version, and add up to the count
 * that the first page reported. */
static void list_once(void)
{
    char after[KEY_BYTES] = "";
    size_t left = 0;
    uint64_t version = 0;
    for (bool is_more = true; is_more;) {
        struct ki_as_page page = {0};
        struct ki_as_failure failure = {0};
        struct ki_as_page_request request = {.version = version, .after = ki_str_of(after), .limit = 7};
        ki_as_storage_lock(storage);
        int rc = ki_as_storage_page(storage, ki_as_storage_collection(storage, configmaps), &request, &page,
                                    &failure);
        ki_as_storage_unlock(storage);
        assert_int_equal(rc, 0);
        if (version != 0)
            assert_int_equal(page.count + page.remaining, left);
        for (size_t i = 0; i < page.count; i++) {
            char key[KEY_BYTES];
            (void)snprintf(key, sizeof(key), "%.*s/%.*s", KI_STR_ARGS(page.objects[i]->ns),
                           KI_STR_ARGS(page.objects[i]->name));
            assert_true(strcmp(key, after) > 0);
            assert_true(page.objects[i]->version <= page.version);
            memcpy(after, key, sizeof(after));
        }
        version = page.version;
        left = page.remaining;
        is_more = page.is_more;
        ki_as_page_fini(&page);
    }
}

static void list_all(void *user)
{
    (void)user;
    while (writers_left > 0)
        list_once();
    list_once();
}

static void watches_and_pages_agree_with_writers(void **state)
{
    (void)state;
    static struct writer writers[WRITERS];
    static struct watcher watchers[WATCHERS];
    static ki_thread pagers[PAGERS];
    struct ki_as_failure failure = {0};
    storage = ki_as_storage_new(&(struct ki_as_storage_options){.history_events_max = 10000, .seed = 1});
    assert_int_equal(ki_as_seed(storage, &failure), 0);
    ki_as_storage_lock(storage);
    configmaps = ki_as_resources_find(ki_as_storage_resources(storage), KI_STR(""), KI_STR("v1"),
                                      KI_STR("configmaps"));
    ki_as_storage_unlock(storage);
    writers_left = WRITERS;
    for (int i = 0; i < WATCHERS; i++)
        watcher_start(&watchers[i], i);
    for (int i = 0; i < WRITERS; i++) {
        writers[i].number = i;
        assert_int_equal(ki_thread_start(&writers[i].thread,
                                         &(ki_thread_options){"writer", write_all, &writers[i], 0}, NULL),
                         0);
    }
    for (int i = 0; i < PAGERS; i++)
        assert_int_equal(ki_thread_start(&pagers[i], &(ki_thread_options){"pager", list_all, NULL, 0}, NULL),
                         0);
    for (int i = 0; i < WRITERS; i++)
        ki_thread_join(&writers[i].thread);
    for (int i = 0; i < PAGERS; i++)
        ki_thread_join(&pagers[i]);
    for (int i = 0; i < WATCHERS; i++)
        watcher_finish(&watchers[i]);
    ki_as_storage_free(storage);
}

/* Watches are opened and closed while changes wake them. */
static void open_and_close(void *user)
{
    static const struct ki_as_watch_options none;
    struct watcher *watcher = user;
    while (writers_left > 0) {
        struct ki_as_watch_options options = none;
        struct ki_as_event events[EVENTS];
        enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
        struct ki_as_watch *watch = NULL;
        uint64_t version = 0;
        options.resource = configmaps;
        options.wake = wake;
        options.user = watcher;
        ki_as_storage_lock(storage);
        options.after = ki_as_storage_version(storage);
        ki_as_storage_unlock(storage);
        assert_int_equal(ki_as_watch_open(storage, &options, &watch), 0);
        size_t count = ki_as_watch_take(watch, events, EVENTS, &version, &end);
        for (size_t i = 0; i < count; i++)
            ki_as_object_unref(events[i].object);
        ki_as_watch_close(watch);
    }
}

static void watches_may_be_closed_while_they_are_woken(void **state)
{
    (void)state;
    static struct writer writer;
    static struct watcher watchers[WATCHERS];
    struct ki_as_failure failure = {0};
    storage = ki_as_storage_new(&(struct ki_as_storage_options){.history_events_max = 50, .seed = 1});
    assert_int_equal(ki_as_seed(storage, &failure), 0);
    ki_as_storage_lock(storage);
    configmaps = ki_as_resources_find(ki_as_storage_resources(storage), KI_STR(""), KI_STR("v1"),
                                      KI_STR("configmaps"));
    ki_as_storage_unlock(storage);
    writers_left = 1;
    for (int i = 0; i < WATCHERS; i++) {
        ki_mutex_init(&watchers[i].mu);
        ki_cond_init(&watchers[i].cond);
        assert_int_equal(ki_thread_start(&watchers[i].thread,
                                         &(ki_thread_options){"watcher", open_and_close, &watchers[i], 0},
                                         NULL),
                         0);
    }
    assert_int_equal(
        ki_thread_start(&writer.thread, &(ki_thread_options){"writer", write_all, &writer, 0}, NULL), 0);
    ki_thread_join(&writer.thread);
    for (int i = 0; i < WATCHERS; i++) {
        ki_thread_join(&watchers[i].thread);
        ki_cond_fini(&watchers[i].cond);
        ki_mutex_fini(&watchers[i].mu);
    }
    ki_as_storage_free(storage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_and_pages_agree_with_writers),
        cmocka_unit_test(watches_may_be_closed_while_they_are_woken),
    };
    return RUN_TESTS(tests);
}
