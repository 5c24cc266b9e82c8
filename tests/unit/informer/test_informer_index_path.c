/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of an informer whose projection drops the fields they need: paths are kept,
 * and for functions a warning is logged. */
#include <kinformer/feed.h>
#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/feed_rig.h"
#include "support/informer/informer_rig.h"
#include "support/last_record.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

static last_record logged;

static size_t count_values(const ki_store *store, const char *index)
{
    ki_str_list values = {0};
    assert_int_equal(ki_store_list_values(store, index, &values), 0);
    size_t count = values.count;
    ki_str_list_fini(&values);
    return count;
}

static size_t values_of(virtual_rig *rig, const char *index)
{
    return count_values(ki_informer_store(rig->informer), index);
}

static const char *const only_names[] = {"/metadata/name", NULL};

/* ---- before the start --------------------------------------------------------------------------------- */

static void a_path_is_kept_from_the_first_object(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = only_names});
    assert_int_equal(ki_informer_add_index_path(rig.informer, "value", "/spec/value"), 0);
    assert_int_equal(ki_informer_add_index_path(rig.informer, "app", KI_PATH_LABEL("app")), 0);
    virtual_rig_sync(&rig);
    assert_int_equal(values_of(&rig, "value"), 5);
    assert_true(values_of(&rig, "app") > 0);
    ki_object_list all = {0};
    assert_int_equal(ki_store_list(ki_informer_store(rig.informer), &all), 0);
    for (size_t i = 0; i < all.count; i++) {
        assert_int_equal(ki_object_string(all.objects[i], "/metadata/uid").len, 0); /* nothing else is kept */
        assert_true(ki_object_string(all.objects[i], "/metadata/name").len > 0);
    }
    ki_object_list_fini(&all);
    virtual_rig_fini(&rig);
}

static void a_path_below_a_dropped_one_is_kept(void **state)
{
    (void)state;
    static const char *const drop[] = {"/spec", "/metadata/labels", NULL};
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.drop = drop});
    assert_int_equal(ki_informer_add_index_path(rig.informer, "value", "/spec/value"), 0);
    virtual_rig_sync(&rig);
    assert_int_equal(values_of(&rig, "value"), 5);
    ki_object *object = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n0"));
    assert_int_equal(ki_object_labels(object).raw.len, 0);
    assert_true(ki_object_string(object, "/metadata/uid").len > 0); /* everything else is kept as before */
    (void)ki_object_unref(object);
    virtual_rig_fini(&rig);
}

static void an_explicitly_dropped_path_fails_the_start(void **state)
{
    (void)state;
    static const char *const drop[] = {"/spec/value", NULL};
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, &(ki_informer_options){.drop = drop});
    assert_int_equal(ki_informer_add_index_path(rig.informer, "value", "/spec/value"), KI_ERR_INVALID);
    assert_int_equal(ki_informer_start(rig.informer, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "\"/spec/value\""));
    virtual_rig_sync(&rig); /* reported once; the projection is unchanged */
    ki_object *object = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n0"));
    assert_int_equal(ki_object_find(object, "/spec/value").raw.len, 0);
    (void)ki_object_unref(object);
    virtual_rig_fini(&rig);
}

static void a_malformed_path_fails_the_start(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_add_index_path(rig.informer, "ip", "status.podIP"), KI_ERR_INVALID);
    assert_int_equal(ki_informer_add_index_path(rig.informer, "later", NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_start(rig.informer, &err), KI_ERR_INVALID);
    assert_string_equal(err.message,
                        "pods: adding the index \"ip\": index path \"status.podIP\": a path must begin "
                        "with /");
    assert_int_equal(ki_informer_add_index_path(NULL, "ip", "/a"), KI_ERR_INVALID);
    virtual_rig_fini(&rig);
}

/* ---- after the start ---------------------------------------------------------------------------------- */

static void after_the_start_a_dropped_path_is_refused_and_named(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = only_names});
    virtual_rig_sync(&rig);
    last_record_begin(&logged);
    assert_int_equal(ki_informer_add_index_path(rig.informer, "value", "/spec/value"), KI_ERR_INVALID);
    last_record_end();
    assert_non_null(strstr(logged.message, "\"/spec/value\""));
    assert_non_null(strstr(logged.message, "\"value\""));
    assert_int_equal(ki_informer_add_index_path(rig.informer, "name", "/metadata/name"), 0);
    assert_int_equal(values_of(&rig, "name"), 5);
    virtual_rig_fini(&rig);
}

static void when_out_of_memory_the_projection_is_unchanged(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = only_names});
    int rc = KI_ERR_NO_MEMORY;
    for (size_t n = 1; rc == KI_ERR_NO_MEMORY; n++) {
        failing_allocator_fail_at(n);
        rc = ki_informer_add_index_path(rig.informer, "value", "/spec/value");
        failing_allocator_fail_at(0);
        assert_true(n < 1000);
    }
    assert_int_equal(rc, 0);
    ki_error err = {0};
    assert_int_equal(ki_informer_start(rig.informer, &err),
                     KI_ERR_NO_MEMORY); /* the error of the first attempt */
    virtual_rig_sync(&rig);
    assert_int_equal(values_of(&rig, "value"), 5);
    virtual_rig_fini(&rig);
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static int by_value(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)user;
    ki_str text = ki_object_string(object, "/spec/value");
    return text.len == 0 ? 0 : ki_index_emit_value(emit, text);
}

static int by_label(const ki_object *object, ki_index_emit *emit, void *user)
{
    return ki_index_emit_value(
        emit, ki_object_label_or(object, ki_str_of(user == NULL ? "app" : "tier"), KI_STR("")));
}

/* Reads a field of another object, which was created without a projection. */
static int by_other(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    return ki_index_emit_value(emit, ki_object_string(user, "/status/phase")); /* dropped by this informer */
}

static void a_function_that_reads_a_dropped_field_is_logged_once(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = only_names});
    assert_int_equal(ki_informer_add_index(rig.informer, "value", by_value, NULL), 0);
    last_record_begin(&logged);
    virtual_rig_sync(&rig);
    for (int i = 0; i < 5; i++)
        sim_world_update(rig.world, 0);
    virtual_rig_run(&rig, 10 * 1000);
    last_record_end();
    assert_int_equal(logged.count, 1);
    assert_non_null(strstr(logged.message, "/spec/value"));
    virtual_rig_fini(&rig);
}

static void a_function_added_later_is_logged_at_once(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = only_names});
    virtual_rig_sync(&rig);
    last_record_begin(&logged);
    assert_int_equal(ki_informer_add_index(rig.informer, "app", by_label, NULL), 0);
    assert_int_equal(logged.count, 1);
    assert_non_null(strstr(logged.message, "/metadata/labels"));
    assert_int_equal(ki_informer_add_index(rig.informer, "value", by_value, NULL), 0);
    last_record_end();
    assert_int_equal(logged.count, 2);
    virtual_rig_fini(&rig);
}

static void a_dropped_label_beside_a_kept_one_is_noticed(void **state)
{
    (void)state;
    static const char *const keep[] = {KI_PATH_LABEL("app"), NULL};
    virtual_rig rig;
    virtual_rig_init(&rig, &(ki_informer_options){.keep = keep});
    virtual_rig_sync(&rig);
    last_record_begin(&logged);
    assert_int_equal(ki_informer_add_index(rig.informer, "app", by_label, NULL), 0);
    assert_int_equal(logged.count, 0);
    assert_int_equal(ki_informer_add_index(rig.informer, "tier", by_label, &rig), 0);
    last_record_end();
    assert_int_equal(logged.count, 1);
    assert_non_null(strstr(logged.message, "label:tier"));
    virtual_rig_fini(&rig);
}

static void a_missing_field_that_is_not_dropped_is_not_logged(void **state)
{
    (void)state;
    static const char *const keep[] = {"/spec/value", "/metadata/labels/tier", NULL};
    virtual_rig rig;
    ki_object *other = ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"n\"}}"), NULL, NULL);
    virtual_rig_init(&rig, &(ki_informer_options){.keep = keep});
    virtual_rig_sync(&rig);
    last_record_begin(&logged);
    assert_int_equal(ki_informer_add_index(rig.informer, "value", by_value, NULL), 0);
    assert_int_equal(ki_informer_add_index(rig.informer, "tier", by_label, &rig), 0);
    assert_int_equal(ki_informer_add_index(rig.informer, "other", by_other, other), 0);
    last_record_end();
    assert_int_equal(logged.count, 0);
    virtual_rig_fini(&rig);
    (void)ki_object_unref(other);
}

/* ---- feeds -------------------------------------------------------------------------------------------- */

static void a_feed_keeps_the_paths_of_its_store(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 1);
    assert_true(feed_rig_make_client(&r));
    r.store = ki_store_new(NULL, NULL);
    assert_int_equal(ki_store_add_index_path(r.store, "value", "/spec/value"), 0);
    feed_rig_make_feed(&r, (ki_feed_options){.informer = {.keep = only_names}, .store = r.store});
    assert_non_null(r.feed);
    feed_rig_start(&r);
    feed_rig_run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    assert_true(count_values(r.store, "value") > 0);
    last_record_begin(&logged);
    assert_int_equal(ki_store_add_index_path(r.store, "app", KI_PATH_LABEL("app")), KI_ERR_INVALID);
    last_record_end();
    assert_non_null(strstr(logged.message, "\"label:app\""));
    feed_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_path_is_kept_from_the_first_object),
        WITH_MEMORY_CHECK(a_path_below_a_dropped_one_is_kept),
        WITH_MEMORY_CHECK(an_explicitly_dropped_path_fails_the_start),
        WITH_MEMORY_CHECK(a_malformed_path_fails_the_start),
        WITH_MEMORY_CHECK(after_the_start_a_dropped_path_is_refused_and_named),
        WITH_MEMORY_CHECK(when_out_of_memory_the_projection_is_unchanged),
        WITH_MEMORY_CHECK(a_function_that_reads_a_dropped_field_is_logged_once),
        WITH_MEMORY_CHECK(a_function_added_later_is_logged_at_once),
        WITH_MEMORY_CHECK(a_dropped_label_beside_a_kept_one_is_noticed),
        WITH_MEMORY_CHECK(a_missing_field_that_is_not_dropped_is_not_logged),
        WITH_MEMORY_CHECK(a_feed_keeps_the_paths_of_its_store),
    };
    return RUN_TESTS(tests);
}
