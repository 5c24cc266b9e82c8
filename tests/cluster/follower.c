/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/follower.h"

#include <stdlib.h>

#include "cluster/cluster.h"
#include "support/aside.h"
#include "support/store/store_check.h"
#include "support/unit.h"
#include "util/clock.h"

enum { CONVERGE_MS = 90 * 1000, WAIT_MS = 30 * 1000, LOOK_MS = 20, ASK_MS = 200 };

void follower_init(follower *f, ki_client *client, const ki_resource *resource,
                   const ki_informer_options *options)
{
    ki_informer_options used = options != NULL ? *options : (ki_informer_options){0};
    ki_error err = {0};
    if (used.backoff_ms == 0) {
        used.backoff_ms = 50;
        used.backoff_max_ms = 1000;
    }
    *f = (follower){.heard = malloc(sizeof(heard))};
    assert_non_null(f->heard);
    heard_init(f->heard);
    f->informer = ki_informer_new(client, resource, &used, &err);
    if (f->informer == NULL)
        fail_msg("%s", err.message);
}

static void start(follower *f, const char *asked, const ki_handler *handler)
{
    ki_error err = {0};
    f->asked = asked;
    assert_non_null(ki_informer_add_handler(f->informer, handler, NULL));
    if (ki_informer_start(f->informer, &err) < 0)
        fail_msg("%s", err.message);
}

void follower_start(follower *f, const char *asked)
{
    ki_handler handler = heard_handler(f->heard);
    start(f, asked, &handler);
}

void follower_start_held(follower *f, const char *asked, size_t backlog)
{
    ki_handler handler = heard_handler(f->heard);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = backlog;
    heard_hold(f->heard);
    start(f, asked, &handler);
}

void follower_sync(follower *f)
{
    ki_error err = {0};
    if (ki_informer_wait_for_sync(f->informer, WAIT_MS, &err) < 0)
        fail_msg("%s: %s", f->asked, err.message);
}

ki_informer_status follower_status(const follower *f)
{
    ki_informer_status status;
    ki_informer_read_status(f->informer, &status);
    return status;
}

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

void follower_wait(follower *f, follower_is is_so, const char *what)
{
    uint64_t deadline_ms = now_ms() + WAIT_MS;
    while (!is_so(f)) {
        ki_informer_status status = follower_status(f);
        if (now_ms() > deadline_ms)
            fail_msg("%s: timed out waiting for %s; %s, %s", f->asked, what, ki_phase_name(status.phase),
                     status.message);
        aside_pause(LOOK_MS);
    }
}

int follower_has(const follower *f, const char *ns, const char *name)
{
    ki_object *object = ki_store_get(ki_informer_store(f->informer), ki_str_of(ns), ki_str_of(name));
    ki_object_unref(object);
    return object != NULL;
}

/* ---- comparison with kubectl --------------------------------------------------------------------------- */

/* Items of a list have neither; kubectl adds them. */
static void forget_type(json_t *object)
{
    (void)json_object_del(object, "kind");
    (void)json_object_del(object, "apiVersion");
}

static int is_same(const ki_object *object, json_t *said)
{
    ki_str text = ki_object_json(object);
    json_t *has = json_loadb(text.ptr, text.len, 0, NULL);
    json_t *metadata = json_object_get(said, "metadata");
    const char *uid = json_string_value(json_object_get(metadata, "uid"));
    const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
    forget_type(has);
    forget_type(said);
    int is_equal = ki_str_equal(ki_object_uid(object), ki_str_of(uid)) &&
                   ki_str_equal(ki_object_resource_version(object), ki_str_of(version)) &&
                   json_equal(has, said);
    json_decref(has);
    return is_equal;
}

/* The number of objects that differ between kubectl and the store; -1 if kubectl gets no response. */
static int differences(const follower *f)
{
    json_t *said = cluster_read("kubectl --request-timeout 10s get %s -o json 2>/dev/null", f->asked);
    json_t *items = json_object_get(said, "items");
    if (!json_is_array(items)) {
        json_decref(said);
        return -1;
    }
    const ki_store *store = ki_informer_store(f->informer);
    size_t common = 0, i;
    json_t *item;
    json_array_foreach(items, i, item)
    {
        json_t *metadata = json_object_get(item, "metadata");
        ki_object *object =
            ki_store_get(store, ki_str_of(json_string_value(json_object_get(metadata, "namespace"))),
                         ki_str_of(json_string_value(json_object_get(metadata, "name"))));
        common += object != NULL && is_same(object, item);
        ki_object_unref(object);
    }
    int different = (int)(json_array_size(items) + ki_store_count(store) - 2 * common);
    json_decref(said);
    return different;
}

void follower_converge(follower *f)
{
    uint64_t deadline_ms = now_ms() + CONVERGE_MS;
    const ki_store *store = ki_informer_store(f->informer);
    for (;;) {
        int different = differences(f);
        if (different == 0 && heard_differences(f->heard, store) == 0)
            return;
        if (now_ms() > deadline_ms) {
            ki_informer_status status = follower_status(f);
            fail_msg("%s: %d differences from kubectl (%zu in the store), %zu from the handler; %s, %s",
                     f->asked, different, ki_store_count(store), heard_differences(f->heard, store),
                     ki_phase_name(status.phase), status.message);
        }
        aside_pause(ASK_MS);
    }
}

void follower_fini(follower *f)
{
    ki_error err = {0};
    follower_converge(f);
    if (store_check(ki_informer_store(f->informer), &err) < 0)
        fail_msg("%s: %s", f->asked, err.message);
    assert_int_equal(follower_status(f).refused, 0);
    ki_informer_free(f->informer);
    assert_int_equal(f->heard->wrongs, 0);
    assert_int_equal(f->heard->synced, 1);
    assert_int_equal(f->heard->releases, 1);
    heard_fini(f->heard);
    free(f->heard);
    f->informer = NULL;
}
