/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in which each allocation fails in turn: everything the server has is received in the end. */
#include <stdio.h>
#include <string.h>

#include "support/decode/proto_pods.h"
#include "support/failing_allocator.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

static const struct {
    const char *version;
    const char *event;
} events[] = {
    {"11", EVENT("ADDED", POD("b", "11"))},
    {"12", EVENT("MODIFIED", POD("a", "12"))},
    {"13", BOOKMARK("13")},
    {"14", EVENT("DELETED", POD("b", "14"))},
};

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

/* ---- the same server with protobuf --------------------------------------------------------------------- */

static const struct {
    const char *type;
    proto_pod pod;
} proto_events[EVENTS] = {
    {"ADDED", {.name = "b", .version = "11"}},
    {"MODIFIED", {.name = "a", .version = "12"}},
    {"BOOKMARK", {.name = "", .version = "13"}},
    {"DELETED", {.name = "b", .version = "14"}},
};

static void give(scripted_source *source, proto_body body)
{
    if (source->answer != NULL)
        scripted_bytes(source, proto_body_str(&body));
    proto_body_free(&body);
}

static void answer_list(scripted_source *source, int is_second)
{
    const proto_pod pod = {.name = is_second ? "c" : "a", .version = is_second ? "6" : "5"};
    give(source, proto_pods_list("10", is_second ? "" : "t", &pod, 1));
    scripted_end(source);
}

static void answer_in_protobuf(scripted_source *source, const ki_list_options *options)
{
    scripted_content_type(source, PROTOBUF);
    if (!options->watch) {
        answer_list(source, options->continue_token.len > 0);
        return;
    }
    int is_newer = options->send_initial_events;
    if (is_newer) {
        give(source, proto_pods_event("ADDED", &(proto_pod){.name = "a", .version = "5"}));
        give(source, proto_pods_event("ADDED", &(proto_pod){.name = "c", .version = "6"}));
        give(source, proto_pods_event("BOOKMARK", &(proto_pod){.name = "", .version = "10", .ends_list = 1}));
    }
    for (size_t i = 0; i < EVENTS; i++) {
        ki_str version = ki_str_of(proto_events[i].pod.version);
        int order = 0;
        if (!is_newer)
            assert_int_equal(ki_resource_version_compare(version, options->resource_version, &order), 0);
        if (is_newer || order > 0)
            give(source, proto_pods_event(proto_events[i].type, &proto_events[i].pod));
    }
}

/* A server with two pages, a streamed list, and four events after version 10. */
static void answer(scripted_source *source, const ki_list_options *options, void *user)
{
    (void)user;
    if (options->wire == KI_WIRE_PROTOBUF) {
        answer_in_protobuf(source, options);
        return;
    }
    if (!options->watch && options->continue_token.len > 0) {
        scripted_whole(source, LIST("10", "", POD("c", "6")));
        return;
    }
    if (!options->watch) {
        scripted_whole(source, LIST("10", "t", POD("a", "5")));
        return;
    }
    if (options->send_initial_events) {
        scripted_body(source, EVENT("ADDED", POD("a", "5")) EVENT("ADDED", POD("c", "6")) END_OF_LIST("10"));
        if (source->answer == NULL)
            return;
    }
    int is_newer = options->send_initial_events;
    for (size_t i = 0; i < EVENTS && source->answer != NULL; i++) {
        ki_str version = ki_str_of(events[i].version);
        int order = 0;
        if (!is_newer)
            assert_int_equal(ki_resource_version_compare(version, options->resource_version, &order), 0);
        if (is_newer || order > 0)
            scripted_body(source, events[i].event);
    }
}

static int holds(const reflector_run *run, const char *line)
{
    return run->changes.text != NULL && strstr(run->changes.text, line) != NULL;
}

/* Returns whether the planned failure happened. */
static int run_once(size_t fail_at, const ki_informer_options *options)
{
    static reflector_run run;
    reflector_run_init(&run);
    run.informer.watch_list = options->watch_list;
    run.informer.transform = options->transform;
    run.informer.transform_user = options->transform_user;
    run.wire = options->wire;
    run.source.at_once = answer;
    failing_allocator_fail_at(fail_at);
    reflector_run_start(&run, "");
    reflector_run_wait_ms(&run, 20 * 1000);
    int has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    assert_int_equal(reflector_run_status(&run).phase, KI_PHASE_WATCHING);
    if (has_failed)
        expect_errors(&run, "NoMemory\n");
    else
        expect_errors(&run, "");
    assert_true(holds(&run, "d/a@5\n") && holds(&run, "d/c@6\n"));
    const char *rest = strstr(run.changes.text, "END ");
    assert_non_null(rest);
    rest = strchr(rest, '\n') + 1;
    assert_string_equal(rest, "ADDED d/b@11 11\nUPDATED d/a@12 12\nBOOKMARK 13\nDELETED d/b@14 14\n");
    reflector_run_fini(&run);
    return has_failed;
}

/* Returns the number of the first allocation that is never made. */
static size_t run_with_every_failure(const ki_informer_options *options)
{
    size_t n = 1;
    while (run_once(n, options))
        n++;
    return n;
}

static void pages_and_a_watch_survive_every_failure(void **state)
{
    (void)state;
    assert_true(run_with_every_failure(
                    &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER, .wire = KI_WIRE_JSON}) > 5);
}

static void a_streamed_list_survives_every_failure(void **state)
{
    (void)state;
    assert_true(run_with_every_failure(
                    &(ki_informer_options){.watch_list = KI_WATCH_LIST_AUTO, .wire = KI_WIRE_JSON}) > 5);
}

static void lists_and_watches_in_protobuf_survive_every_failure(void **state)
{
    (void)state;
    assert_true(run_with_every_failure(&(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER}) > 5);
    assert_true(run_with_every_failure(&(ki_informer_options){.watch_list = KI_WATCH_LIST_AUTO}) > 5);
}

/* All objects that the server sends. */
static const char *const pods[] = {POD("a", "5"), POD("c", "6"), POD("b", "11"), POD("a", "12"),
                                   POD("b", "14")};

enum { PODS = sizeof(pods) / sizeof(pods[0]) };

static int take_from_others(const ki_object **object, void *user)
{
    ki_object *const *others = user;
    for (size_t i = 0; i < PODS; i++)
        if (ki_str_equal(ki_object_key_str(others[i]), ki_object_key_str(*object)) &&
            ki_str_equal(ki_object_resource_version(others[i]), ki_object_resource_version(*object))) {
            *object = ki_object_ref(others[i]);
            return 0;
        }
    return KI_ERR_NOT_FOUND;
}

/* No object is refused and left out because its copy ran out of memory. */
static void copies_of_objects_that_a_transform_takes_from_others_survive_every_failure(void **state)
{
    (void)state;
    ki_object *others[PODS];
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .wire = KI_WIRE_JSON};
    size_t without = run_with_every_failure(&options);
    for (size_t i = 0; i < PODS; i++)
        others[i] = ki_object_new(NULL, ki_str_of(pods[i]), NULL, NULL);
    options.transform = take_from_others;
    options.transform_user = (void *)others;
    assert_int_equal(run_with_every_failure(&options), without + PODS);
    for (size_t i = 0; i < PODS; i++)
        (void)ki_object_unref(others[i]);
}

/* The body of an error is read as far as memory allows. */
static void an_error_survives_every_failure(void **state)
{
    (void)state;
    int has_failed = 1;
    for (size_t n = 1; has_failed; n++) {
        static reflector_run run;
        reflector_run_init(&run);
        reflector_run_start(&run, "");
        failing_allocator_fail_at(n);
        scripted_error(&run.source, 403, STATUS("403", "Forbidden"));
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        expect_errors(&run, "Forbidden 403\n");
        reflector_run_fini(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(pages_and_a_watch_survive_every_failure),
        WITH_MEMORY_CHECK(a_streamed_list_survives_every_failure),
        WITH_MEMORY_CHECK(lists_and_watches_in_protobuf_survive_every_failure),
        WITH_MEMORY_CHECK(copies_of_objects_that_a_transform_takes_from_others_survive_every_failure),
        WITH_MEMORY_CHECK(an_error_survives_every_failure),
    };
    return RUN_TESTS(tests);
}
