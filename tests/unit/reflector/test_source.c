/* SPDX-License-Identifier: Apache-2.0 */
/* Which source is used, and whether it streams lists. */
#include "reflector/source.h"

#include <kinformer/resources.h>
#include <string.h>

#include "client/client.h"
#include "support/failing_allocator.h"
#include "support/reflector/silent_source.h"
#include "support/unit.h"

static void release(void *user)
{
    (*(int *)user)++;
}

static ki_client *new_client(const ki_client_options *options)
{
    ki_error err = {0};
    ki_client *client = ki_client_new(options, &err);
    assert_non_null(client);
    return client;
}

static int streams_none(const ki_client *client, ki_watch_list choice)
{
    ki_error err = {0};
    ki_list_watch source = {0};
    ki_informer_options options = {.ns = "", .watch_list = (ki_watch_list)choice};
    assert_int_equal(ki_source_open(client, &KI_CORE_V1_PODS, &options, &source, &err), 0);
    source.release(source.user);
    return source.no_watch_list;
}

static void a_cluster_streams_lists_but_with_http2_only_if_required(void **state)
{
    (void)state;
    for (int http2 = 0; http2 <= 1; http2++) {
        ki_error err = {0};
        ki_config config = {.server = "https://127.0.0.1:1"};
        ki_client *client = new_client(&(ki_client_options){.no_cluster = 1, .mode = KI_MODE_EVENT_LOOP});
        assert_int_equal(ki_client_connect(client, &config, &(ki_http_options){.use_http2 = http2}, &err), 0);
        assert_int_equal(streams_none(client, KI_WATCH_LIST_AUTO), http2);
        assert_int_equal(streams_none(client, KI_WATCH_LIST_ALWAYS), 0);
        ki_client_free(client);
    }
}

static void expect_refusal(const ki_error *err)
{
    assert_int_equal(err->code, KI_ERR_INVALID);
    assert_non_null(strstr(err->message, "KI_WATCH_LIST_ALWAYS"));
    assert_non_null(strstr(err->message, "no_watch_list"));
}

static void a_source_without_streamed_lists_is_refused_if_they_are_required(void **state)
{
    (void)state;
    int releases = 0;
    ki_error err = {0};
    ki_list_watch source = {.begin = silent_begin,
                            .cancel = silent_ignore,
                            .resume = silent_ignore,
                            .release = release,
                            .user = &releases,
                            .no_watch_list = 1};
    ki_informer_options options = {.list_watch = &source, .watch_list = KI_WATCH_LIST_ALWAYS};
    ki_client *client = new_client(&(ki_client_options){.no_cluster = 1, .mode = KI_MODE_EVENT_LOOP});
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, &options, &err));
    expect_refusal(&err);
    assert_int_equal(releases, 0);
    options.watch_list = KI_WATCH_LIST_AUTO;
    ki_informer_free(ki_informer_new(client, &KI_CORE_V1_PODS, &options, &err));
    assert_int_equal(releases, 1);
    ki_client_free(client);
}

static int open_source(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                       ki_error *err, void *user)
{
    (void)resource;
    (void)ns;
    (void)err;
    *out_list_watch = (ki_list_watch){.begin = silent_begin,
                                      .cancel = silent_ignore,
                                      .resume = silent_ignore,
                                      .release = release,
                                      .user = user,
                                      .no_watch_list = 1};
    return 0;
}

static void a_source_opened_by_the_client_is_released_if_it_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_ALWAYS};
    int releases = 0;
    ki_client *client = new_client(
        &(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .source = open_source, .source_user = &releases});
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, &options, &err));
    expect_refusal(&err);
    assert_int_equal(releases, 1);
    ki_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_cluster_streams_lists_but_with_http2_only_if_required),
        WITH_MEMORY_CHECK(a_source_without_streamed_lists_is_refused_if_they_are_required),
        WITH_MEMORY_CHECK(a_source_opened_by_the_client_is_released_if_it_is_refused),
    };
    return RUN_TESTS(tests);
}
