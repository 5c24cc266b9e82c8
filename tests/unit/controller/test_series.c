/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/series.h"

#include <stdio.h>

#include "controller/correlator.h"
#include "support/controller/event_make.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

enum { MINUTE = 60 };

static event_scene scene;
static ki_series series;

static void begin(void)
{
    event_scene_init(&scene);
    ki_series_init(&series, &scene.hash);
}

static void end(void)
{
    ki_series_fini(&series);
}

/* Returns false if the event was only counted. The event of the write is already released. */
static bool take(const char *pod, const char *reason, const char *message, ki_event_write *out)
{
    ki_recorded *event = event_scene_make(&scene, pod, reason, message);
    *out = (ki_event_write){0};
    bool is_sent = ki_series_take(&series, event, scene.now_ns, scene.wall_ns, out);
    assert_int_equal(is_sent, out->event != NULL);
    ki_recorded_unref(out->event);
    ki_recorded_unref(event);
    return is_sent;
}

static bool due(bool is_last, ki_event_write *out)
{
    *out = (ki_event_write){0};
    bool is_due = ki_series_due(&series, scene.now_ns, is_last, out);
    assert_int_equal(is_due, out->event != NULL);
    ki_recorded_unref(out->event);
    return is_due;
}

static void the_first_event_is_created_without_a_series(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    assert_true(take("web", "A", "m", &write));
    assert_false(write.is_patch);
    assert_int_equal(write.count, 0);
    assert_int_equal(write.number, 101);
    assert_int_equal(write.first_wall_ns, 101);
    end();
}

static void the_second_event_starts_a_series_and_others_are_counted(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    assert_true(take("web", "A", "m", &write));
    assert_true(take("web", "A", "another message", &write));
    assert_true(write.is_patch);
    assert_int_equal(write.count, 2);
    assert_int_equal(write.number, 101);
    assert_int_equal(write.first_wall_ns, 101);
    assert_int_equal(write.last_wall_ns, 102);
    assert_false(take("web", "A", "m", &write));
    assert_true(take("web", "B", "m", &write));
    assert_false(write.is_patch);
    assert_true(take("db", "A", "m", &write));
    end();
}

static void another_version_of_the_object_is_not_isomorphic(void **state)
{
    (void)state;
    begin();
    ki_event_write write = {0};
    assert_true(take("web", "A", "m", &write));
    ki_object *pod = event_make_pod("web", "2");
    ki_recorded *event = ki_recorded_new(&(ki_record){.object = pod, .reason = KI_STR("A")}, 10);
    assert_true(ki_series_take(&series, event, scene.now_ns, scene.wall_ns, &write));
    assert_false(write.is_patch);
    ki_recorded_unref(write.event);
    ki_recorded_unref(event);
    ki_object_unref(pod);
    end();
}

static void a_series_is_written_every_30_minutes(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    (void)take("web", "A", "m", &write);
    (void)take("web", "A", "m", &write);
    uint64_t written_ns = scene.now_ns;
    for (int i = 0; i < 29; i++) {
        event_scene_pass(&scene, MINUTE);
        assert_false(take("web", "A", "m", &write));
        assert_false(due(false, &write));
    }
    event_scene_pass(&scene, MINUTE - 1);
    assert_false(due(false, &write));
    assert_int_equal(ki_series_next_ns(&series), written_ns + 30 * MINUTE * KI_NS_PER_S);
    event_scene_pass(&scene, 1);
    assert_true(due(false, &write));
    assert_true(write.is_patch);
    assert_int_equal(write.count, 31);
    assert_int_equal(write.last_wall_ns, 131);
    assert_false(due(false, &write));
    end();
}

static void after_six_minutes_of_silence_the_last_count_is_written(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    for (int i = 0; i < 5; i++)
        (void)take("web", "A", "m", &write);
    assert_int_equal(ki_series_next_ns(&series), scene.now_ns + 6 * MINUTE * KI_NS_PER_S);
    event_scene_pass(&scene, 6 * MINUTE - 1);
    assert_false(due(false, &write));
    event_scene_pass(&scene, 1);
    assert_true(due(false, &write));
    assert_true(write.is_patch);
    assert_int_equal(write.count, 5);
    assert_false(due(false, &write));
    assert_int_equal(ki_series_next_ns(&series), UINT64_MAX);
    assert_true(take("web", "A", "m", &write)); /* a new event */
    assert_false(write.is_patch);
    end();
}

static void a_series_that_the_server_knows_ends_without_a_write(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    (void)take("single", "A", "m", &write);
    (void)take("web", "A", "m", &write);
    (void)take("web", "A", "m", &write);
    event_scene_pass(&scene, 6 * MINUTE);
    assert_false(due(false, &write));
    assert_int_equal(series.entries.map.count, 0);
    end();
}

static void at_the_end_all_counts_are_written(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    for (int i = 0; i < 3; i++) {
        (void)take("a", "A", "m", &write);
        (void)take("b", "A", "m", &write);
    }
    (void)take("c", "A", "m", &write);
    assert_false(due(false, &write));
    assert_true(due(true, &write));
    assert_int_equal(write.count, 3);
    assert_true(due(true, &write));
    assert_int_equal(write.count, 3);
    assert_false(due(true, &write));
    end();
}

static void only_the_4096_most_recently_observed_series_are_known(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    char pod[32];
    (void)take("first", "A", "m", &write);
    (void)take("first", "A", "m", &write);
    (void)take("second", "A", "m", &write);
    (void)take("second", "A", "m", &write);
    for (int i = 0; i < KI_CORRELATOR_KEYS - 2; i++) {
        snprintf(pod, sizeof(pod), "pod-%d", i);
        (void)take(pod, "A", "m", &write);
    }
    assert_false(take("first", "A", "m", &write));
    (void)take("new", "A", "m", &write);
    assert_false(take("first", "A", "m", &write));
    assert_true(take("second", "A", "m", &write));
    assert_false(write.is_patch);
    end();
}

static void when_out_of_memory_an_event_is_created(void **state)
{
    (void)state;
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        begin();
        ki_recorded *event = event_make("web", "A", "m", 1);
        ki_event_write write = {0};
        failing_allocator_fail_at(n);
        assert_true(ki_series_take(&series, event, scene.now_ns, 1, &write));
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_false(write.is_patch);
        ki_recorded_unref(write.event);
        ki_recorded_unref(event);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_first_event_is_created_without_a_series),
        WITH_MEMORY_CHECK(the_second_event_starts_a_series_and_others_are_counted),
        WITH_MEMORY_CHECK(another_version_of_the_object_is_not_isomorphic),
        WITH_MEMORY_CHECK(a_series_is_written_every_30_minutes),
        WITH_MEMORY_CHECK(after_six_minutes_of_silence_the_last_count_is_written),
        WITH_MEMORY_CHECK(a_series_that_the_server_knows_ends_without_a_write),
        WITH_MEMORY_CHECK(at_the_end_all_counts_are_written),
        WITH_MEMORY_CHECK(only_the_4096_most_recently_observed_series_are_known),
        WITH_MEMORY_CHECK(when_out_of_memory_an_event_is_created),
    };
    return RUN_TESTS(tests);
}
