/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of transforms, servers and programs. */
#include <kinformer/informer.h>
#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/reflector/scripted_source.h"
#include "support/store/objects.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- transforms and watch errors --------------------------------------------------------------------- */

typedef struct transformer {
    int calls;
    int fails_for_updates; /* updates of n1 newer than this version fail */
    int errors;
    ki_reason reason;
    char key[64];
    char message[KI_ERROR_MESSAGE_BYTES];
} transformer;

static int transform(const ki_object **object, void *user)
{
    transformer *t = user;
    t->calls++;
    int version = (int)object_version(*object);
    int is_n1 = ki_str_equal(ki_object_name(*object), ki_str_of("n1"));
    return is_n1 && t->fails_for_updates != 0 && version > t->fails_for_updates ? KI_ERR_TYPE : 0;
}

static void note_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    transformer *t = user;
    t->errors++;
    t->reason = error->reason;
    snprintf(t->key, sizeof(t->key), "%s", error->key);
    snprintf(t->message, sizeof(t->message), "%s", error->error->message);
}

static void a_failing_transform_keeps_the_last_good_version(void **state)
{
    (void)state;
    virtual_rig rig;
    transformer t = {0};
    ki_informer_status status;
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_set_transform(rig.informer, transform, &t), 0);
    assert_int_equal(ki_informer_set_error_handler(rig.informer, note_error, &t), 0);
    virtual_rig_sync(&rig);
    assert_true(t.calls >= 5);
    assert_int_equal(t.errors, 0);
    ki_object *good = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n1"));
    t.fails_for_updates = (int)sim_world_version(rig.world);
    sim_world_update(rig.world, 1);
    sim_world_update(rig.world, 2);
    virtual_rig_run(&rig, 10);
    ki_object *kept = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n1"));
    assert_ptr_equal(kept, good);
    assert_int_equal(t.errors, 1);
    assert_string_equal(t.key, "a/n1");
    assert_non_null(strstr(t.message, "transform"));
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(status.refused, 1);
    sim_server_cut_all(rig.server);
    sim_world_compact(rig.world);
    virtual_rig_run(&rig, 60 * 1000);
    assert_int_equal(ki_store_count(ki_informer_store(rig.informer)), 5);
    (void)ki_object_unref(kept);
    (void)ki_object_unref(good);
    virtual_rig_fini(&rig);
}

static int strip(const ki_object **object, void *user)
{
    (void)user;
    char json[512];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"%.*s\",\"name\":\"%.*s\",\"uid\":\"%.*s\","
                     "\"resourceVersion\":\"%.*s\"},\"stripped\":true}",
                     KI_STR_ARGS(ki_object_namespace(*object)), KI_STR_ARGS(ki_object_name(*object)),
                     KI_STR_ARGS(ki_object_uid(*object)), KI_STR_ARGS(ki_object_resource_version(*object)));
    *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    return *object == NULL ? KI_ERR_NO_MEMORY : 0;
}

static void a_transform_may_replace_the_object(void **state)
{
    (void)state;
    virtual_rig rig;
    int is_stripped = 0;
    virtual_rig_init(&rig, &(ki_informer_options){.transform = strip});
    virtual_rig_sync(&rig);
    virtual_rig_assert_equal(&rig);
    ki_object *object = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n1"));
    assert_int_equal(ki_object_get_bool(object, "/stripped", &is_stripped), 0);
    assert_int_equal(is_stripped, 1);
    (void)ki_object_unref(object);
    virtual_rig_fini(&rig);
}

static int take_from_store(const ki_object **object, void *user)
{
    ki_object *same = ki_store_get_key(user, ki_object_key_str(*object));
    if (ki_str_equal(ki_object_resource_version(same), ki_object_resource_version(*object)))
        *object = same;
    else
        (void)ki_object_unref(same);
    return 0;
}

/* Each informer marks its objects with the last list that contained them, and sweeps the others. A shared
 * object would get the marks of both. */
static void an_object_that_a_transform_takes_from_another_informer_is_copied(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_list_watch source = sim_server_list_watch(rig.server);
    const ki_store *others = ki_informer_store(rig.informer);
    ki_informer *informer = ki_informer_new(rig.client, &KI_CORE_V1_PODS,
                                            &(ki_informer_options){.list_watch = &source,
                                                                   .transform = take_from_store,
                                                                   .transform_user = (void *)others},
                                            NULL);
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    virtual_rig_run(&rig, 10 * 1000);
    ki_object *theirs = ki_store_get(others, KI_STR("a"), KI_STR("n1"));
    ki_object *ours = ki_store_get(ki_informer_store(informer), KI_STR("a"), KI_STR("n1"));
    assert_int_equal(ki_object_equal(ours, theirs), 1);
    (void)ki_object_unref(ours);
    (void)ki_object_unref(theirs);
    ki_informer_stop(rig.informer);
    for (int i = 0; i < 3; i++) { /* only the second informer lists */
        sim_world_update(rig.world, 0);
        sim_world_compact(rig.world);
        sim_server_cut_all(rig.server);
        virtual_rig_run(&rig, 60 * 1000);
    }
    sim_world_delete(rig.world, 1);
    sim_world_compact(rig.world);
    virtual_rig_sync(&rig);
    virtual_rig_run(&rig, 60 * 1000);
    virtual_rig_assert_equal(&rig);
    ki_informer_free(informer);
    virtual_rig_fini(&rig);
}

static void the_watch_error_handler_is_called_for_failures(void **state)
{
    (void)state;
    virtual_rig rig;
    transformer t = {0};
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_set_error_handler(rig.informer, note_error, &t), 0);
    sim_server_set_faults(rig.server, &(sim_faults){.http_500 = 1});
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    virtual_rig_run(&rig, 100);
    assert_int_equal(t.errors, 1);
    assert_int_equal(t.reason, KI_REASON_SERVER_ERROR);
    assert_string_equal(t.key, "");
    sim_server_set_faults(rig.server, &(sim_faults){0});
    virtual_rig_run(&rig, 10000);
    assert_int_equal(ki_informer_has_synced(rig.informer), 1);
    assert_int_equal(t.errors, 1);
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 10);
    assert_int_equal(t.errors, 2);
    assert_int_equal(t.reason, KI_REASON_CONNECTION_LOST);
    virtual_rig_fini(&rig);
}

static void list_a_long_name(scripted_source *source, const ki_list_options *options, void *user)
{
    static const char body[] =
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},"
        "\"items\":[{\"metadata\":{\"name\":\"short\",\"resourceVersion\":\"5\"}},"
        "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"6\"}}]}";
    char name[KI_KEY_BYTES + 2] = "";
    char text[sizeof(body) + sizeof(name)];
    (void)user;
    if (options->watch)
        return;
    memset(name, 'a', sizeof(name) - 1);
    snprintf(text, sizeof(text), body, name);
    scripted_whole(source, text);
}

static void an_object_whose_key_is_too_long_is_refused_and_reported(void **state)
{
    (void)state;
    scripted_source source;
    transformer t = {0};
    ki_informer_status status;
    scripted_source_init(&source);
    source.at_once = list_a_long_name;
    ki_list_watch list_watch = scripted_source_list_watch(&source);
    list_watch.no_watch_list = 1;
    ki_client *client =
        ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL);
    ki_informer *informer =
        ki_informer_new(client, &KI_CORE_V1_PODS, &(ki_informer_options){.list_watch = &list_watch}, NULL);
    assert_int_equal(ki_informer_set_error_handler(informer, note_error, &t), 0);
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(informer, HANG_MS, NULL), 0);
    ki_informer_read_status(informer, &status);
    assert_int_equal(status.objects, 1);
    assert_int_equal(status.refused, 1);
    assert_int_equal(t.errors, 1);
    assert_non_null(strstr(t.message, "1025 bytes"));
    ki_informer_free(informer);
    ki_client_free(client);
    scripted_source_fini(&source);
}

static void transform_and_watch_error_handler_must_be_set_before_the_start(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_informer_set_transform(rig.informer, transform, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_set_error_handler(rig.informer, note_error, NULL), KI_ERR_INVALID);
    ki_informer_stop(rig.informer);
    assert_int_equal(ki_informer_set_transform(rig.informer, transform, NULL), KI_ERR_INVALID);
    virtual_rig_fini(&rig);
}

/* ---- wrong use --------------------------------------------------------------------------------------- */

static void a_null_informer_is_harmless(void **state)
{
    (void)state;
    ki_error err = {0};
    char version[8] = "x";
    ki_informer_status status = {.objects = 7};
    assert_int_equal(ki_informer_start(NULL, &err), KI_ERR_INVALID);
    assert_true(err.message[0] != 0);
    ki_informer_stop(NULL);
    ki_informer_retry_now(NULL);
    ki_informer_free(NULL);
    assert_int_equal(ki_informer_has_synced(NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(NULL, 0, &err), KI_ERR_INVALID);
    assert_int_equal(ki_informer_wait_for_version(NULL, ki_str_of("1"), 0, &err), KI_ERR_INVALID);
    assert_int_equal(ki_informer_last_resource_version(NULL, version, sizeof(version)), 0);
    assert_string_equal(version, "");
    assert_true(ki_informer_age_ms(NULL) == UINT64_MAX);
    assert_null(ki_informer_store(NULL));
    assert_null(ki_informer_resource(NULL));
    assert_null(ki_informer_add_handler(NULL, &(ki_handler){0}, NULL));
    assert_int_equal(ki_informer_add_index(NULL, "name", store_name_index, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_set_transform(NULL, transform, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_set_error_handler(NULL, note_error, NULL), KI_ERR_INVALID);
    ki_informer_read_status(NULL, &status);
    assert_int_equal(status.objects, 0);
    ki_registration_remove(NULL);
    assert_int_equal(ki_registration_remove_and_wait(NULL), 0);
    assert_int_equal(ki_registration_has_synced(NULL), 0);
    ki_registration_read_stats(NULL, NULL);
}

static void an_error_of_the_setup_is_reported_by_the_next_start(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    assert_null(ki_informer_add_handler(rig.informer, NULL, NULL));
    assert_null(ki_informer_add_handler(rig.informer, &(ki_handler){.overflow = (ki_overflow)9}, NULL));
    assert_true(ki_informer_add_index(rig.informer, KI_INDEX_NAMESPACE, store_name_index, NULL) < 0);
    assert_int_equal(ki_informer_start(rig.informer, &err), KI_ERR_INVALID);
    assert_string_equal(err.message,
                        "pods: adding a handler: the handler is NULL"); /* the first of three errors */
    assert_int_equal(ki_informer_has_synced(rig.informer), 0);
    virtual_rig_sync(&rig);
    virtual_rig_fini(&rig);
}

static void the_error_of_an_index_says_what_is_missing(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_add_index(rig.informer, "node", NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_start(rig.informer, &err), KI_ERR_INVALID);
    assert_string_equal(err.message, "pods: adding the index \"node\": there is no function");
    assert_int_equal(ki_informer_add_index(rig.informer, NULL, store_name_index, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_start(rig.informer, &err), KI_ERR_INVALID);
    assert_string_equal(err.message, "pods: adding the index \"\": there is no name");
    virtual_rig_fini(&rig);
}

static int errors_logged;

static void count_errors(const ki_log_record *record, void *user)
{
    (void)user;
    errors_logged += strstr(record->message, "adding a handler: its overflow") != NULL;
}

static int releases;

static void count_release(void *user)
{
    (void)user;
    releases++;
}

/* The caller and the log get the reason for the refusal. The handler is not released: the caller still owns
 * what `user` points to. */
static void a_handler_refused_by_a_running_informer_does_not_fail_the_next_start(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    errors_logged = 0;
    ki_set_log(count_errors, KI_LOG_ERROR, NULL);
    ki_error err = {0};
    releases = 0;
    ki_handler refused = {.overflow = 9, .on_release = count_release};
    assert_null(ki_informer_add_handler(rig.informer, &refused, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_string_equal(err.message, "pods: adding a handler: its overflow is not a ki_overflow");
    assert_null(ki_informer_add_handler(rig.informer, &(ki_handler){.resync_ms = 1000}, &err));
    assert_non_null(strstr(err.message, "its resync_ms has no effect, since the informer has none"));
    assert_null(ki_informer_add_handler(rig.informer, NULL, NULL));
    assert_null(ki_informer_add_handler(NULL, &(ki_handler){0}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    assert_int_equal(errors_logged, 1);
    ki_informer_stop(rig.informer);
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    virtual_rig_fini(&rig);
    assert_int_equal(releases, 0);
}

/* The error is reported to the caller who adds the index, not to the next start. */
static void an_index_refused_by_a_running_informer_does_not_fail_the_next_start(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    assert_true(ki_informer_add_index(rig.informer, KI_INDEX_NAMESPACE, store_name_index, NULL) < 0);
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    ki_informer_stop(rig.informer);
    assert_true(ki_informer_add_index(rig.informer, KI_INDEX_NAMESPACE, store_name_index, NULL) < 0);
    virtual_rig_sync(&rig);
    virtual_rig_fini(&rig);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    const ki_informer_options wrong[] = {
        {.list_watch = &rig.source, .watch_list = 3},
        {.list_watch = &rig.source, .page_size = -2},
        {.list_watch = &(ki_list_watch){0}},
        {0}, /* neither the client nor the informer has a source */
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_null(ki_informer_new(rig.client, &KI_CORE_V1_PODS, &wrong[i], &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_true(err.message[0] != 0);
    }
    ki_error err = {0};
    assert_null(ki_informer_new(NULL, &KI_CORE_V1_PODS, NULL, &err));
    assert_null(ki_informer_new(rig.client, NULL, NULL, &err));
    virtual_rig_fini(&rig);
}

static void when_out_of_memory_no_informer_is_created_and_the_caller_keeps_the_source(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    ki_list_watch source = rig.source;
    source.release = count_release;
    releases = 0;
    ki_informer *informer = NULL;
    for (size_t n = 1; informer == NULL; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        informer = ki_informer_new(rig.client, &KI_CORE_V1_PODS,
                                   &(ki_informer_options){.list_watch = &source}, &err);
        assert_true(informer != NULL || err.code == KI_ERR_NO_MEMORY);
        assert_int_equal(releases, 0);
    }
    failing_allocator_fail_at(0);
    ki_informer_free(informer);
    assert_int_equal(releases, 1);
    virtual_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_failing_transform_keeps_the_last_good_version),
        WITH_MEMORY_CHECK(a_transform_may_replace_the_object),
        WITH_MEMORY_CHECK(an_object_that_a_transform_takes_from_another_informer_is_copied),
        WITH_MEMORY_CHECK(the_watch_error_handler_is_called_for_failures),
        WITH_MEMORY_CHECK(an_object_whose_key_is_too_long_is_refused_and_reported),
        WITH_MEMORY_CHECK(transform_and_watch_error_handler_must_be_set_before_the_start),
        cmocka_unit_test(a_null_informer_is_harmless),
        WITH_MEMORY_CHECK(an_error_of_the_setup_is_reported_by_the_next_start),
        WITH_MEMORY_CHECK(the_error_of_an_index_says_what_is_missing),
        WITH_MEMORY_CHECK(an_index_refused_by_a_running_informer_does_not_fail_the_next_start),
        WITH_MEMORY_CHECK(a_handler_refused_by_a_running_informer_does_not_fail_the_next_start),
        WITH_MEMORY_CHECK(invalid_options_are_refused),
        WITH_MEMORY_CHECK(when_out_of_memory_no_informer_is_created_and_the_caller_keeps_the_source),
    };
    return RUN_TESTS(tests);
}
