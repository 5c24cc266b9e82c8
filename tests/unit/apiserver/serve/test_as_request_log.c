/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/request_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

static int setup(void **state)
{
    *state = ki_as_request_log_new();
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    ki_as_request_log_free(*state);
    return 0;
}

static void add(struct ki_as_request_log *log, const char *path)
{
    ki_as_request_log_add(
        log, &(struct ki_as_request_note){
                 .status = 200,
                 .texts = {[KI_AS_REQUEST_METHOD] = KI_STR("GET"), [KI_AS_REQUEST_PATH] = ki_str_of(path)}});
}

struct seen {
    size_t count;
    uint64_t first;
    uint64_t last;
    char path[4096];                   /* of the last entry */
    struct ki_as_request_log *adds_to; /* NULL: nothing is added during the read */
};

static void see(const ki_apiserver_request *request, void *user)
{
    struct seen *seen = user;
    if (seen->count++ == 0)
        seen->first = request->number;
    else
        assert_int_equal(request->number, seen->last + 1);
    seen->last = request->number;
    snprintf(seen->path, sizeof(seen->path), "%s", request->path);
    if (seen->adds_to != NULL)
        add(seen->adds_to, "/late");
}

static void entries_are_numbered_from_one_and_read_in_order(void **state)
{
    struct seen seen = {0};
    assert_int_equal(ki_as_request_log_read(*state, 0, see, &seen), 0);
    assert_int_equal(seen.count, 0);
    add(*state, "/a");
    add(*state, "/b");
    assert_int_equal(ki_as_request_log_read(*state, 0, see, &seen), 2);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.first, 1);
    assert_string_equal(seen.path, "/b");
}

static void a_reader_continues_where_it_stopped(void **state)
{
    struct seen seen = {0};
    add(*state, "/a");
    uint64_t since = ki_as_request_log_read(*state, 0, see, &seen);
    add(*state, "/b");
    seen = (struct seen){0};
    assert_int_equal(ki_as_request_log_read(*state, since, see, &seen), 2);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.path, "/b");
    seen = (struct seen){0};
    assert_int_equal(ki_as_request_log_read(*state, UINT64_MAX, see, &seen), 2);
    assert_int_equal(seen.count, 0);
}

static void the_oldest_entries_are_forgotten(void **state)
{
    struct seen seen = {0};
    enum { MORE = 7 };
    for (size_t i = 0; i < KI_AS_REQUESTS_MAX + MORE; i++)
        add(*state, "/a");
    assert_int_equal(ki_as_request_log_read(*state, 3, see, &seen), KI_AS_REQUESTS_MAX + MORE);
    assert_int_equal(seen.count, KI_AS_REQUESTS_MAX);
    assert_int_equal(seen.first, MORE + 1);
}

static void entries_added_during_a_read_are_for_the_next_one(void **state)
{
    struct seen seen = {.adds_to = *state};
    add(*state, "/a");
    assert_int_equal(ki_as_request_log_read(*state, 0, see, &seen), 1);
    assert_int_equal(seen.count, 1);
    seen = (struct seen){0};
    assert_int_equal(ki_as_request_log_read(*state, 1, see, &seen), 2);
    assert_string_equal(seen.path, "/late");
}

static void texts_are_truncated_and_have_only_printable_bytes(void **state)
{
    struct seen seen = {0};
    char path[3000];
    memset(path, 'x', sizeof(path));
    memcpy(path, "/\n\xff\"", 4);
    path[sizeof(path) - 1] = 0;
    add(*state, path);
    (void)ki_as_request_log_read(*state, 0, see, &seen);
    assert_int_equal(strlen(seen.path), 2048);
    assert_memory_equal(seen.path, "/??\"x", 5);
}

static void a_line_has_the_time_in_microseconds(void **state)
{
    (void)state;
    ki_apiserver_request request = {.number = 7,
                                    .time_us = 1763395200000042,
                                    .took_us = 5,
                                    .version = 12,
                                    .method = "PUT",
                                    .path = "/a?b=c",
                                    .user_agent = "\"",
                                    .remote = "127.0.0.1:1",
                                    .user_name = "admin",
                                    .group = "apps",
                                    .resource = "deployments",
                                    .ns = "default",
                                    .name = "d",
                                    .subresource = "status",
                                    .fault = "",
                                    .http_status = 409};
    json_t *tree = ki_as_request_json(&request);
    char *text = json_dumps(tree, JSON_COMPACT);
    assert_string_equal(text, "{\"number\":7,\"time\":\"2025-11-17T16:00:00.000042Z\",\"tookMicros\":5,"
                              "\"status\":409,\"method\":\"PUT\",\"path\":\"/a?b=c\",\"userAgent\":\"\\\"\","
                              "\"remote\":\"127.0.0.1:1\",\"user\":\"admin\",\"group\":\"apps\","
                              "\"resource\":\"deployments\",\"namespace\":\"default\",\"name\":\"d\","
                              "\"subresource\":\"status\",\"resourceVersion\":\"12\"}");
    free(text);
    json_decref(tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_are_numbered_from_one_and_read_in_order),
        TEST(a_reader_continues_where_it_stopped),
        TEST(the_oldest_entries_are_forgotten),
        TEST(entries_added_during_a_read_are_for_the_next_one),
        TEST(texts_are_truncated_and_have_only_printable_bytes),
        cmocka_unit_test(a_line_has_the_time_in_microseconds),
    };
    return RUN_TESTS(tests);
}
