/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a factory, and how its next start reports them.
 * The library starts its threads with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <kinformer/rest.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "informer/informer.h"
#include "support/failing_allocator.h"
#include "support/informer/factory_rig.h"
#include "support/patience.h"
#include "support/unit.h"

/* The factory creates, starts and waits for nothing, and reports the error every time. */
static void assert_refuses(const ki_factory_options *options, const char *text)
{
    factory_rig r;
    factory_rig_init_with(&r, options);
    for (int i = 0; i < 2; i++) {
        ki_error err = {0};
        assert_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
        assert_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
        assert_null(ki_factory_for_resource(r.factory, KI_STR("pods"), NULL));
        assert_null(ki_factory_for_resource(r.factory, KI_STR("pots"), NULL));
        assert_int_equal(ki_factory_start(r.factory, &err), KI_ERR_INVALID);
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_non_null(strstr(err.message, text));
        err = (ki_error){0};
        assert_int_equal(ki_factory_wait_for_sync(r.factory, 0, &err), KI_ERR_INVALID);
        assert_non_null(strstr(err.message, text));
        assert_int_equal(ki_factory_start(r.factory, NULL), KI_ERR_INVALID);
        assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 0);
        ki_factory_stop(r.factory);
    }
    assert_int_equal(local_source_lists(r.rig.source), 0);
    factory_rig_fini(&r);
}

static void a_factory_with_an_invalid_option_starts_nothing_and_says_why(void **state)
{
    (void)state;
    const ki_resource nameless = {.version = "v1", .kind = "Thing"};
    const ki_factory_resync resyncs[] = {
        {.resource = &KI_CORE_V1_NODES, .resync_ms = 1000}, {.resource = &nameless, .resync_ms = 1000}, {0}};
    assert_refuses(&(ki_factory_options){.informer = {.page_size = -7}}, "-7");
    assert_refuses(&(ki_factory_options){.informer = {.ns = "b", .label_selector = "a in ("}},
                   "label_selector");
    assert_refuses(&(ki_factory_options){.resync = resyncs}, "resource");
}

static void a_null_factory_is_harmless_and_its_start_fails(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_factory_new(NULL, NULL));
    assert_null(ki_factory_informer(NULL, &KI_CORE_V1_PODS, NULL));
    assert_null(ki_factory_for_resource(NULL, KI_STR("pods"), NULL));
    assert_int_equal(ki_factory_read_pending(NULL, NULL, 0), 0);
    ki_factory_stop(NULL);
    ki_factory_free(NULL);
    assert_int_equal(ki_factory_wait_for_sync(NULL, 0, &err), KI_ERR_INVALID);
    assert_int_equal(ki_factory_start(NULL, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "no factory"));
}

static void a_chain_of_calls_keeps_the_first_error(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.kubeconfig = "/nonexistent/config"}, &err);
    assert_null(client);
    ki_error first = err;
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    assert_null(ki_informer_add_handler(pods, &(ki_handler){0}, &err));
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, NULL, &err));
    assert_null(ki_feed_new(client, &KI_CORE_V1_PODS, &(ki_feed_options){0}, &err));
    assert_int_equal(ki_informer_start(pods, &err), KI_ERR_CONFIG);
    assert_int_equal(ki_informer_wait_for_sync(pods, 0, &err), KI_ERR_CONFIG);
    assert_int_equal(ki_rest_run(client, &(ki_rest_request){.verb = KI_REST_GET}, NULL, &err), KI_ERR_CONFIG);
    assert_int_equal(ki_factory_start(factory, &err), KI_ERR_CONFIG);
    assert_int_equal(ki_factory_wait_for_sync(factory, 0, &err), KI_ERR_CONFIG);
    assert_string_equal(err.message, first.message);
}

static void assert_start_reports(factory_rig *r, int code, const char *text)
{
    ki_error err = {0};
    assert_int_equal(ki_factory_start(r->factory, &err), code);
    assert_non_null(strstr(err.message, text));
    assert_int_equal(ki_factory_start(r->factory, &err), 0); /* reported once */
}

static void a_failed_setup_is_reported_by_the_next_start_and_the_others_run(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    assert_non_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
    assert_null(ki_factory_for_resource(r.factory, KI_STR("pots"), NULL));
    assert_null(ki_factory_for_resource(r.factory, KI_STR("nodse"), NULL));
    assert_start_reports(&r, KI_ERR_RESOURCE, "pots");
    assert_int_equal(ki_factory_wait_for_sync(r.factory, HANG_MS, NULL), 0);
    assert_null(ki_factory_informer(r.factory, NULL, NULL));
    assert_start_reports(&r, KI_ERR_INVALID, "no resource");
    assert_null(ki_factory_for_resource(r.factory, (ki_str){0}, NULL));
    assert_int_not_equal(ki_factory_start(r.factory, NULL), 0);
    assert_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &(ki_informer_options){.page_size = -7}));
    assert_start_reports(&r, KI_ERR_INVALID, "pods: invalid page size -7");
    assert_null(
        ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &(ki_informer_options){.label_selector = "a in ("}));
    assert_start_reports(&r, KI_ERR_INVALID, "pods: label_selector: expected");
    assert_null(ki_informer_add_handler(ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL), NULL, NULL));
    assert_start_reports(&r, KI_ERR_INVALID, "handler");
    factory_rig_fini(&r);
}

static void when_out_of_memory_setup_calls_fail_and_are_remembered(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *informer = NULL;
    for (size_t n = 1; informer == NULL; n++) {
        failing_allocator_fail_at(n);
        informer = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
        failing_allocator_fail_at(0);
        if (informer == NULL)
            assert_int_equal(ki_factory_start(r.factory, NULL), KI_ERR_NO_MEMORY);
    }
    factory_rig_sync(&r);
    ki_factory *factory = NULL;
    const ki_factory_resync resyncs[] = {{.resource = &KI_CORE_V1_PODS, .resync_ms = 1000}, {0}};
    for (size_t n = 1; factory == NULL; n++) {
        failing_allocator_fail_at(n);
        factory = ki_factory_new(r.rig.client, &(ki_factory_options){.resync = resyncs});
        failing_allocator_fail_at(0);
    }
    ki_factory_free(factory);
    factory_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_factory_is_harmless_and_its_start_fails),
        cmocka_unit_test(a_chain_of_calls_keeps_the_first_error),
        WITH_MEMORY_CHECK(a_factory_with_an_invalid_option_starts_nothing_and_says_why),
        WITH_MEMORY_CHECK(a_failed_setup_is_reported_by_the_next_start_and_the_others_run),
        WITH_MEMORY_CHECK(when_out_of_memory_setup_calls_fail_and_are_remembered),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
