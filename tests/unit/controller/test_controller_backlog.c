/* SPDX-License-Identifier: Apache-2.0 */
/* Events that wait for a controller: a limit must not hide an owner that an object had meanwhile. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* A key of this length does not fit into the memory that is left; all else that a change needs does. The
 * updates are larger than the default limit of a backlog, which counts the object and the old one. */
enum { LONG = 250, LEFT_BYTES = 240, UPDATES = 48, UPDATE_BYTES = 1 << 20, DEFAULT_LIMIT_BYTES = 64 << 20 };

static const char *long_name(void)
{
    static char name[LONG + 1];
    memset(name, 'l', LONG);
    return name;
}

static void owned_event(controller_rig *rig, const char *type, int version, const char *owner)
{
    controller_rig_event(rig, RIG_PODS, type, rig_owned("a", "p", version, "apps/v1", "Deployment", owner));
}

static void large_update(controller_rig *rig, int version)
{
    size_t size = UPDATE_BYTES + 256;
    char *text = malloc(size);
    assert_non_null(text);
    int n =
        snprintf(text, size,
                 "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"large\","
                 "\"resourceVersion\":\"%d\",\"annotations\":{\"a\":\"",
                 version);
    memset(text + n, 'x', UPDATE_BYTES);
    snprintf(text + n + UPDATE_BYTES, size - (size_t)n - UPDATE_BYTES, "\"}}}}\n");
    scripted_body(&rig->sources[RIG_PODS], text);
    free(text);
}

/* The key of an event cannot be added, so the events after it wait until time passes. */
static void let_events_wait(controller_rig *rig)
{
    owned_event(rig, "ADDED", 11, long_name());
    failing_allocator_limit(LEFT_BYTES);
    controller_rig_run(rig, 0);
    failing_allocator_limit(SIZE_MAX);
    RIG_EXPECT(rig, "");
    owned_event(rig, "MODIFIED", 12, "before");
    owned_event(rig, "MODIFIED", 13, "after");
    for (int i = 0; i < UPDATES; i++) {
        large_update(rig, 14 + i);
        controller_rig_run(rig, 0);
    }
    RIG_EXPECT(rig, "");
    double bytes = controller_rig_metric(rig, "informer_listener_backlog_bytes",
                                         "name=pods,group=,version=v1,resource=pods,handler=test");
    assert_true(bytes > DEFAULT_LIMIT_BYTES);
}

static void expect_each_owner(controller_rig *rig)
{
    controller_rig_run(rig, 1000);
    assert_non_null(strstr(rig->calls.text, long_name()));
    assert_non_null(strstr(rig->calls.text, "a/before "));
    assert_non_null(strstr(rig->calls.text, "a/after "));
    text_log_clear(&rig->calls);
}

static void begin(controller_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
    controller_rig_sync(rig, "", rig_object("a", "large", 5, ""));
}

static void no_owner_is_missed_however_many_events_wait(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_owned(rig.controller, rig.informers[RIG_PODS], &KI_APPS_V1_DEPLOYMENTS, NULL), 0);
    begin(&rig);
    let_events_wait(&rig);
    expect_each_owner(&rig);
    controller_rig_fini(&rig);
}

static void map_owner(const ki_object *object, ki_key_emit *emit, void *user)
{
    ki_owner owner;
    (void)user;
    if (ki_object_controller(object, &owner) == 0)
        ki_key_emit_key(emit, ki_object_namespace(object), owner.name);
}

static void no_mapped_key_is_missed_however_many_events_wait(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_mapped(rig.controller, rig.informers[RIG_PODS], NULL, map_owner, NULL), 0);
    begin(&rig);
    let_events_wait(&rig);
    expect_each_owner(&rig);
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(no_owner_is_missed_however_many_events_wait),
        WITH_MEMORY_CHECK(no_mapped_key_is_missed_however_many_events_wait),
    };
    return RUN_TESTS(tests);
}
