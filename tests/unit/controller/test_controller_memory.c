/* SPDX-License-Identifier: Apache-2.0 */
/* Running out of memory: an error and a retry, never a lost key. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/store/object_make.h"
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
    assert_int_equal(rc, watched); /* the start reports the error of the setup */
    failing_allocator_fail_at(0);
    assert_int_equal(ki_controller_start(c, err), 0);
    controller_rig_run(rig, 1);
    ki_controller_status status;
    ki_controller_read_status(c, &status);
    assert_int_equal(status.has_synced, watched != 0);
    ki_controller_free(c);
    return rc;
}

static void a_setup_that_runs_out_of_memory_fails_and_leaves_nothing(void **state)
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

/* ---- reconciling ------------------------------------------------------------------------------------- */

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
        char key[16];
        snprintf(key, sizeof(key), "%c%d", i % 3 == 0 ? 'w' : 'k', i);
        assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
    }
}

static void every_key_is_retried_whichever_allocation_fails(void **state)
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
        assert_true(status.reconciles >= 52); /* 12 keys that are done, and 40 that are retried */
        controller_rig_fini(&rig);
    }
    assert_true(n > 40);
    ki_object_unref(written);
}

/* ---- adding keys ------------------------------------------------------------------------------------- */

enum { LONG = 200, MANY = 300 };

typedef struct mapped {
    int count;       /* keys per object */
    bool is_without; /* allocations of keys fail */
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

static void begin_mapped_with(controller_rig *rig, mapped *m, ki_map_cb map)
{
    ki_error err = {0};
    counted = m;
    controller_rig_init(rig, NULL);
    rig->reconcile = count_it;
    assert_int_equal(ki_controller_watch_mapped(rig->controller, rig->informers[RIG_PODS], NULL, map, m), 0);
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
    controller_rig_sync(rig, "", "");
}

static void begin_mapped(controller_rig *rig, mapped *m)
{
    begin_mapped_with(rig, m, map_many);
}

static void assert_each(const mapped *m, size_t times)
{
    for (int i = 0; i < m->count; i++)
        assert_int_equal(m->reconciles[i], times);
}

static void keys_that_run_out_of_memory_are_added_later(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = 20, .is_without = true};
    begin_mapped(&rig, &m);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 50);
    m.is_without = false;
    controller_rig_run(&rig, 49);
    assert_each(&m, 0);
    controller_rig_run(&rig, 1);
    assert_each(&m, 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void an_event_is_kept_until_there_is_memory(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = MANY, .is_without = true};
    begin_mapped(&rig, &m);
    for (int i = 0; i < 2; i++) { /* memory may run out again */
        m.is_without = true;
        controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", i == 0 ? "x" : "y", 11 + i, ""));
        controller_rig_run(&rig, 5000);
        assert_each(&m, (size_t)i);
        m.is_without = false;
        controller_rig_run(&rig, 200);
        assert_each(&m, (size_t)i + 1);
    }
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void emit_number(ki_str digits, ki_key_emit *emit, const mapped *m)
{
    char number[16];
    char name[LONG + 8];
    snprintf(number, sizeof(number), "%.*s", (int)digits.len, digits.ptr);
    snprintf(name, sizeof(name), "%0*d", LONG, (int)strtol(number, NULL, 10));
    if (m->is_without)
        failing_allocator_fail_at(1);
    ki_key_emit_key(emit, KI_STR("m"), ki_str_of(name));
    failing_allocator_fail_at(0);
}

static void map_name(const ki_object *object, ki_key_emit *emit, void *user)
{
    ki_str name = ki_object_name(object);
    emit_number((ki_str){name.ptr + 1, name.len - 1}, emit, user);
}

static void numbered_event(controller_rig *rig, const char *type, int number, int version)
{
    char name[16];
    snprintf(name, sizeof(name), "n%d", number);
    controller_rig_event(rig, RIG_PODS, type, rig_object("a", name, version, ""));
}

/* Only the events know about deleted objects. Their keys alone are larger than any buffer. */
static void no_deletion_is_lost_even_if_there_are_many(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = MANY};
    begin_mapped_with(&rig, &m, map_name);
    for (int i = 0; i < MANY; i++)
        numbered_event(&rig, "ADDED", i, 11 + i);
    controller_rig_run(&rig, 1000);
    assert_each(&m, 1);
    m.is_without = true;
    for (int i = 0; i < MANY; i++)
        numbered_event(&rig, "DELETED", i, 11 + MANY + i);
    controller_rig_run(&rig, 1000);
    assert_each(&m, 1);
    m.is_without = false;
    controller_rig_run(&rig, 1000);
    assert_each(&m, 2);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void map_label(const ki_object *object, ki_key_emit *emit, void *user)
{
    ki_str label;
    assert_int_equal(ki_object_label(object, KI_STR("n"), &label), 0);
    emit_number(label, emit, user);
}

static void the_old_object_of_an_update_is_also_kept(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = 2};
    begin_mapped_with(&rig, &m, map_label);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ",\"labels\":{\"n\":\"0\"}"));
    controller_rig_run(&rig, 0);
    m.is_without = true;
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "x", 12, ",\"labels\":{\"n\":\"1\"}"));
    controller_rig_run(&rig, 500);
    m.is_without = false;
    m.reconciles[0] = 0;
    controller_rig_run(&rig, 200);
    assert_each(&m, 1);
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void other_informers_continue_while_one_waits_for_memory(void **state)
{
    (void)state;
    controller_rig rig;
    mapped m = {.count = 1, .is_without = true};
    begin_mapped(&rig, &m);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_DEPLOYMENTS], NULL), 0);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "x", 11, ""));
    controller_rig_run(&rig, 50);
    rig.reconcile = NULL;
    controller_rig_event(&rig, RIG_DEPLOYMENTS, "ADDED", rig_object("a", "d", 12, ""));
    controller_rig_run(&rig, 10);
    RIG_EXPECT(&rig, "a/d ");
    assert_each(&m, 0);
    controller_rig_fini(&rig); /* frees the kept event */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_setup_that_runs_out_of_memory_fails_and_leaves_nothing),
        WITH_MEMORY_CHECK(every_key_is_retried_whichever_allocation_fails),
        WITH_MEMORY_CHECK(keys_that_run_out_of_memory_are_added_later),
        WITH_MEMORY_CHECK(an_event_is_kept_until_there_is_memory),
        WITH_MEMORY_CHECK(no_deletion_is_lost_even_if_there_are_many),
        WITH_MEMORY_CHECK(the_old_object_of_an_update_is_also_kept),
        WITH_MEMORY_CHECK(other_informers_continue_while_one_waits_for_memory),
    };
    return RUN_TESTS(tests);
}
