/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory: an error and a retry, never a lost key. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/object_make.h"
#include "support/unit.h"

static ki_result done(ki_request *request, void *user)
{
    (void)request;
    (void)user;
    return ki_done();
}

static int set_up(controller_rig *rig, ki_error *err)
{
    ki_controller *c =
        ki_controller_new(rig->client, &(ki_controller_options){.name = "second", .reconcile = done}, err);
    if (c == NULL)
        return err->code;
    int watched = ki_controller_watch_owned(c, rig->informers[RIG_PODS], &KI_APPS_V1_DEPLOYMENTS, NULL);
    int rc = ki_controller_start(c, err);
    assert_int_equal(rc, watched); /* the start says what the set-up has met */
    failing_allocator_fail_at(0);
    assert_int_equal(ki_controller_start(c, err), 0);
    controller_rig_run(rig, 1);
    ki_controller_status status;
    ki_controller_read_status(c, &status);
    assert_int_equal(status.has_synced, watched != 0);
    ki_controller_free(c);
    return rc;
}

static void a_set_up_without_memory_fails_and_leaves_nothing(void **state)
{
    (void)state;
    controller_rig rig;
    bool was_tried = true;
    controller_rig_init(&rig, NULL);
    for (size_t n = 1; was_tried; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        int rc = set_up(&rig, &err);
        was_tried = failing_allocator_has_failed() || rc != 0;
        failing_allocator_fail_at(0);
        assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
        assert_true(n < 1000);
    }
    controller_rig_fini(&rig);
}

/* ---- working ----------------------------------------------------------------------------------------- */

static ki_object *written;

static ki_result come_back(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_HTTP, .retry_after_ms = 50, .message = "no"};
    if (ki_request_name(request).ptr[0] == 'w')
        (void)!ki_request_expect(request, rig->informers[RIG_PODS], written);
    if (++rig->pending_count > 40)
        return ki_done();
    return rig->pending_count % 2 == 0 ? ki_requeue_after(20) : ki_retry(&err);
}

static void begin_work(controller_rig *rig)
{
    ki_error err = {0};
    controller_rig_init(rig, &(ki_controller_options){.expect_timeout_ms = 100});
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
    for (int i = 0; i < 12; i++) {
        char key[8];
        snprintf(key, sizeof(key), "%c%d", i % 3 == 0 ? 'w' : 'k', i);
        assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
    }
}

static void whichever_allocation_fails_every_key_comes_back(void **state)
{
    (void)state;
    bool has_failed = true;
    size_t n = 0;
    written = object_make("{\"metadata\":{\"name\":\"w\",\"resourceVersion\":\"99\"}}", NULL);
    while (has_failed) {
        controller_rig rig;
        begin_work(&rig);
        rig.reconcile = come_back;
        failing_allocator_fail_at(++n);
        controller_rig_run(&rig, 200000);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        ki_controller_status status = controller_rig_status(&rig);
        assert_int_equal(status.queued + status.delayed + status.active, 0);
        assert_true(status.reconciles >= 52); /* 12 keys that are done, and 40 that were to come back */
        controller_rig_fini(&rig);
    }
    assert_true(n > 40);
    ki_object_unref(written);
}

/* ---- adding ------------------------------------------------------------------------------------------ */

enum { LONG = 200, MANY = 300 };

typedef struct mapped {
    int count;       /* keys of each object */
    bool is_without; /* memory, as far as keys are concerned */
    size_t reconciles[MANY];
    ki_str last;
} mapped;

static void map_many(const ki_object *object, ki_key_emit *emit, void *user)
{
    mapped *m = user;
    (void)object;
    for (int i = 0; i < m->count; i++) {
        char name[LONG + 8];
        snprintf(name, sizeof(name), "%0*d", LONG, i);
        if (m->is_without)
            failing_allocator_fail_at(1);
        ki_key_emit_key(emit, KI_STR("m"), ki_str_of(name));
        failing_allocator_fail_at(0);
    }
}

static mapped *counted;

static ki_result count_it(controller_rig *rig, ki_request *request)
{
    (void)rig;
    char number[8];
    ki_str name = ki_request_name(request);
    memcpy(number, name.ptr + LONG - 4, 4);
    number[4] = 0;
    int i = 0;
    assert_int_equal(sscanf(number, "%d", &i), 1);
    counted->reconciles[i]++;
    return ki_done();
}

static void begin_mapped(controller_rig *rig, mapped *m)
{
    ki_error err = {0};
    counted = m;
    controller_rig_init(rig, NULL);
    rig->reconcile = count_it;
    assert_int_equal(ki_controller_watch_mapped(rig->controller, rig->informers[RIG_PODS], map_many, m, NULL),
                     0);
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
    controller_rig_sync(rig, "", "");
}

static void assert_each(const mapped *m, size_t times)
{
    for (int i = 0; i < m->count; i++)
        assert_int_equal(m->reconciles[i], times);
}

static void keys_without_memory_are_added_when_there_is_some(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = 20, .is_without = true};
    begin_mapped(&rig, &m);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 99);
    assert_each(&m, 0);
    controller_rig_run(&rig, 1);
    assert_each(&m, 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void keys_that_found_no_place_are_found_in_the_store(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = MANY, .is_without = true};
    begin_mapped(&rig, &m);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 50);
    m.is_without = false;
    controller_rig_run(&rig, 100);
    assert_each(&m, 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void the_store_is_asked_until_there_is_memory(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = MANY, .is_without = true};
    begin_mapped(&rig, &m);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 5000);
    m.is_without = false;
    controller_rig_run(&rig, 200);
    for (int i = 0; i < MANY; i++)
        assert_true(m.reconciles[i] >= 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

/* Their half of the buffer is theirs, whatever came before. */
static void deletions_have_room_when_the_buffer_is_full(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = 0};
    begin_mapped(&rig, &m);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 0);
    m = (mapped){.count = MANY, .is_without = true};
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "y", 12, "")); /* fills what it may */
    controller_rig_run(&rig, 0);
    m.count = 70;
    controller_rig_event(&rig, RIG_PODS, "DELETED", rig_object("a", "x", 13, ""));
    controller_rig_run(&rig, 0);
    m.is_without = false;
    m.count = 0; /* so that the store knows nothing of them */
    controller_rig_run(&rig, 200);
    m.count = 70;
    assert_each(&m, 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_set_up_without_memory_fails_and_leaves_nothing),
        WITH_MEMORY_CHECK(whichever_allocation_fails_every_key_comes_back),
        WITH_MEMORY_CHECK(keys_without_memory_are_added_when_there_is_some),
        WITH_MEMORY_CHECK(keys_that_found_no_place_are_found_in_the_store),
        WITH_MEMORY_CHECK(the_store_is_asked_until_there_is_memory),
        WITH_MEMORY_CHECK(deletions_have_room_when_the_buffer_is_full),
    };
    return RUN_TESTS(tests);
}
