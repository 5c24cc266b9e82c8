/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/correlator.h"

#include <stdio.h>

#include "support/controller/event_make.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

enum { MINUTE = 60 };

static event_scene scene;
static ki_correlator correlator;

static void begin(void)
{
    event_scene_init(&scene);
    ki_correlator_init(&correlator, &scene.hash);
}

static void end(void)
{
    ki_correlator_fini(&correlator);
}

/* Returns false for spam. The event of the write is already released. */
static bool take(const char *pod, const char *reason, const char *message, ki_event_write *out)
{
    ki_recorded *event = event_scene_make(&scene, pod, reason, message);
    *out = (ki_event_write){0};
    bool is_sent = ki_correlator_take(&correlator, event, scene.now_ns, scene.wall_ns + 1000, out);
    assert_int_equal(is_sent, out->event == event);
    ki_recorded_unref(out->event);
    ki_recorded_unref(event);
    return is_sent;
}

static ki_event_write sent(const char *pod, const char *reason, const char *message)
{
    ki_event_write write;
    assert_true(take(pod, reason, message, &write));
    return write;
}

static void the_first_event_is_created(void **state)
{
    (void)state;
    begin();
    ki_event_write write = sent("web", "Synced", "ok");
    assert_false(write.is_patch);
    assert_false(write.is_combined);
    assert_int_equal(write.count, 1);
    assert_int_equal(write.number, 101);
    assert_int_equal(write.first_wall_ns, 101);
    assert_int_equal(write.last_wall_ns, 101);
    end();
}

static void an_identical_event_patches_the_count_of_the_first(void **state)
{
    (void)state;
    begin();
    (void)sent("web", "Synced", "ok");
    ki_event_write write = {0};
    for (uint32_t count = 2; count < 6; count++) {
        event_scene_pass(&scene, MINUTE);
        write = sent("web", "Synced", "ok");
        assert_true(write.is_patch);
        assert_int_equal(write.count, count);
        assert_int_equal(write.number, 101);
        assert_int_equal(write.first_wall_ns, 101);
        assert_int_equal(write.last_wall_ns, 99 + count + 1);
    }
    end();
}

static void events_that_differ_are_created(void **state)
{
    (void)state;
    begin();
    assert_false(sent("web", "Synced", "ok").is_patch);
    assert_false(sent("web", "Synced", "not ok").is_patch);
    assert_false(sent("web", "Failed", "ok").is_patch);
    assert_false(sent("db", "Synced", "ok").is_patch);
    assert_true(sent("web", "Synced", "ok").is_patch);
    end();
}

static ki_event_write message_number(int i)
{
    char message[32];
    snprintf(message, sizeof(message), "message %d", i);
    return sent("web", "Failed", message);
}

static void from_the_tenth_message_on_similar_events_are_combined(void **state)
{
    (void)state;
    begin();
    for (int i = 1; i < 10; i++)
        assert_false(message_number(i).is_combined);
    ki_event_write first = message_number(10), second = message_number(11);
    assert_true(first.is_combined);
    assert_false(first.is_patch);
    assert_int_equal(first.number, 110);
    assert_int_equal(first.last_wall_ns, 1110); /* the time when it was combined */
    assert_true(second.is_combined);
    assert_true(second.is_patch);
    assert_int_equal(second.count, 2);
    assert_int_equal(second.number, first.number);
    assert_int_equal(second.first_wall_ns, first.first_wall_ns);
    assert_int_equal(second.last_wall_ns, 1111);
    /* Another reason is not similar. */
    assert_false(sent("web", "Synced", "message 11").is_combined);
    end();
}

static void nine_messages_keep_their_events_while_others_are_combined(void **state)
{
    (void)state;
    begin();
    for (int i = 1; i <= 12; i++)
        (void)message_number(i);
    ki_event_write write = message_number(3);
    assert_false(write.is_combined);
    assert_true(write.is_patch);
    assert_int_equal(write.count, 2);
    assert_int_equal(write.number, 103);
    assert_true(message_number(10).is_combined);
    end();
}

static void identical_events_are_never_combined(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 1; i <= 25; i++) {
        ki_event_write write = sent("web", "Synced", "ok");
        assert_false(write.is_combined);
        assert_int_equal(write.count, i);
    }
    end();
}

static void after_ten_minutes_without_a_similar_event_messages_count_from_zero(void **state)
{
    (void)state;
    begin();
    for (int i = 1; i <= 9; i++)
        (void)message_number(i);
    event_scene_pass(&scene, 10 * MINUTE); /* exactly the interval */
    assert_true(message_number(10).is_combined);
    event_scene_pass(&scene, 10 * MINUTE + 1);
    ki_event_write write = message_number(11);
    assert_false(write.is_combined);
    assert_false(write.is_patch);
    end();
}

static void a_combined_event_continues_after_a_pause(void **state)
{
    (void)state;
    begin();
    for (int i = 1; i <= 10; i++)
        (void)message_number(i);
    event_scene_pass(&scene, 3 * 3600);
    for (int i = 11; i <= 19; i++)
        assert_false(message_number(i).is_combined);
    ki_event_write write = message_number(20);
    assert_true(write.is_combined);
    assert_true(write.is_patch);
    assert_int_equal(write.count, 2);
    end();
}

static void after_25_events_about_an_object_there_is_one_in_five_minutes(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    for (int i = 0; i < 25; i++)
        assert_true(take("web", i % 2 == 0 ? "A" : "B", "m", &write));
    assert_false(take("web", "A", "m", &write));
    assert_true(take("db", "A", "m", &write)); /* another object has its own limit of 25 */
    event_scene_pass(&scene, 5 * MINUTE - 1);
    assert_false(take("web", "A", "m", &write));
    event_scene_pass(&scene, 1);
    assert_true(take("web", "A", "m", &write));
    assert_false(take("web", "A", "m", &write));
    event_scene_pass(&scene, 2 * 5 * MINUTE);
    assert_true(take("web", "A", "m", &write));
    assert_true(take("web", "A", "m", &write));
    assert_false(take("web", "A", "m", &write));
    end();
}

static void dropped_events_are_included_in_the_next_count(void **state)
{
    (void)state;
    begin();
    ki_event_write write;
    for (int i = 0; i < 25; i++)
        assert_true(take("web", "A", "m", &write));
    for (int i = 0; i < 10; i++)
        assert_false(take("web", "A", "m", &write));
    event_scene_pass(&scene, 5 * MINUTE);
    assert_int_equal(sent("web", "A", "m").count, 36);
    end();
}

static void only_the_4096_most_recently_used_keys_are_known(void **state)
{
    (void)state;
    begin();
    char pod[32];
    (void)sent("first", "A", "m");
    (void)sent("second", "A", "m");
    for (int i = 0; i < KI_CORRELATOR_KEYS - 2; i++) {
        snprintf(pod, sizeof(pod), "pod-%d", i);
        (void)sent(pod, "A", "m");
    }
    assert_int_equal(sent("first", "A", "m").count, 2); /* used again */
    assert_int_equal(sent("new", "A", "m").count, 1);
    assert_int_equal(sent("first", "A", "m").count, 3);
    assert_int_equal(sent("second", "A", "m").count, 1); /* forgotten */
    end();
}

static void when_out_of_memory_an_event_is_sent_as_new(void **state)
{
    (void)state;
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        begin();
        ki_recorded *event = event_make("web", "A", "m", 1);
        ki_event_write write = {0};
        failing_allocator_fail_at(n);
        assert_true(ki_correlator_take(&correlator, event, scene.now_ns, 1, &write));
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(write.count, 1);
        assert_false(write.is_patch);
        ki_recorded_unref(write.event);
        ki_recorded_unref(event);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_first_event_is_created),
        WITH_MEMORY_CHECK(an_identical_event_patches_the_count_of_the_first),
        WITH_MEMORY_CHECK(events_that_differ_are_created),
        WITH_MEMORY_CHECK(from_the_tenth_message_on_similar_events_are_combined),
        WITH_MEMORY_CHECK(nine_messages_keep_their_events_while_others_are_combined),
        WITH_MEMORY_CHECK(identical_events_are_never_combined),
        WITH_MEMORY_CHECK(after_ten_minutes_without_a_similar_event_messages_count_from_zero),
        WITH_MEMORY_CHECK(a_combined_event_continues_after_a_pause),
        WITH_MEMORY_CHECK(after_25_events_about_an_object_there_is_one_in_five_minutes),
        WITH_MEMORY_CHECK(dropped_events_are_included_in_the_next_count),
        WITH_MEMORY_CHECK(only_the_4096_most_recently_used_keys_are_known),
        WITH_MEMORY_CHECK(when_out_of_memory_an_event_is_sent_as_new),
    };
    return RUN_TESTS(tests);
}
