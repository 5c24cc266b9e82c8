/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/recorded.h"

#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/event_make.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

#define EXPECT_PART(event, part, text)                                                                       \
    assert_true(ki_str_equal((event)->parts[KI_RECORDED_##part], KI_STR(text)))

static ki_recorded *record(ki_record r, size_t message_bytes_max)
{
    ki_object *pod = event_make_pod("web", "7");
    r.object = pod;
    ki_recorded *event = ki_recorded_new(&r, message_bytes_max);
    assert_non_null(event);
    ki_object_unref(pod);
    return event;
}

static void everything_about_the_object_is_copied(void **state)
{
    (void)state;
    ki_object *other = event_make_pod("other", "8");
    ki_recorded *event = record((ki_record){.related = other,
                                            .severity = KI_RECORD_WARNING,
                                            .reason = KI_STR("Failed"),
                                            .action = KI_STR("Pull"),
                                            .message = KI_STR("no such image")},
                                100);
    ki_object_unref(other);
    EXPECT_PART(event, API_VERSION, "v1");
    EXPECT_PART(event, KIND, "Pod");
    EXPECT_PART(event, NAMESPACE, "default");
    EXPECT_PART(event, NAME, "web");
    EXPECT_PART(event, UID, "uid-web");
    EXPECT_PART(event, VERSION, "7");
    EXPECT_PART(event, TYPE, "Warning");
    EXPECT_PART(event, REASON, "Failed");
    EXPECT_PART(event, ACTION, "Pull");
    EXPECT_PART(event, MESSAGE, "no such image");
    EXPECT_PART(event, RELATED_NAME, "other");
    EXPECT_PART(event, RELATED_VERSION, "8");
    ki_recorded_unref(event);
}

static void without_an_action_the_reason_is_the_action(void **state)
{
    (void)state;
    ki_recorded *event = record((ki_record){.reason = KI_STR("Synced")}, 100);
    EXPECT_PART(event, ACTION, "Synced");
    EXPECT_PART(event, TYPE, "Normal");
    EXPECT_PART(event, RELATED_NAME, "");
    ki_recorded_unref(event);
}

static void an_object_without_a_namespace_has_its_events_in_default(void **state)
{
    (void)state;
    ki_object *node =
        ki_object_new(&KI_CORE_V1_NODES, KI_STR("{\"metadata\":{\"name\":\"n1\"}}"), NULL, NULL);
    ki_recorded *event = ki_recorded_new(&(ki_record){.object = node, .reason = KI_STR("Ready")}, 100);
    assert_true(ki_str_equal(ki_recorded_namespace(event), KI_STR("default")));
    EXPECT_PART(event, NAMESPACE, "");
    ki_recorded_unref(event);
    ki_object_unref(node);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    char reason[300];
    memset(reason, 'R', sizeof(reason));
    ki_recorded *event = record(
        (ki_record){.reason = {reason, sizeof(reason)}, .message = KI_STR("ab\xc3\xa4\xe2\x82\xac.")}, 6);
    assert_int_equal(event->parts[KI_RECORDED_REASON].len, KI_REASON_BYTES);
    assert_int_equal(event->parts[KI_RECORDED_ACTION].len, KI_REASON_BYTES);
    EXPECT_PART(event, MESSAGE, "ab\xc3\xa4");
    ki_recorded_unref(event);
}

static void invalid_utf_8_becomes_question_marks(void **state)
{
    (void)state;
    const struct {
        ki_str given, kept;
    } cases[] = {
        {KI_STR("a\xff"), KI_STR("a?")},
        {KI_STR("\xc0\xaf"), KI_STR("??")},           /* overlong */
        {KI_STR("\xed\xa0\x80"), KI_STR("???")},      /* a surrogate */
        {KI_STR("\xf4\x90\x80\x80"), KI_STR("????")}, /* beyond the last character */
        {KI_STR("x\xe2\x82"), KI_STR("x??")},         /* truncated */
        {KI_STR("\xf0\x9f\x98\x80"), KI_STR("\xf0\x9f\x98\x80")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_recorded *event =
            record((ki_record){.reason = KI_STR("R"), .message = cases[i].given}, KI_NOTE_BYTES);
        assert_true(ki_str_equal(event->parts[KI_RECORDED_MESSAGE], cases[i].kept));
        ki_recorded_unref(event);
    }
}

static int same(ki_lru_key a, ki_lru_key b)
{
    return a.a == b.a && a.b == b.b;
}

static void keys_are_equal_when_their_parts_are(void **state)
{
    (void)state;
    ki_recorded_hash hash = event_make_hash();
    ki_recorded *a = event_make("web", "R", "m", 1), *b = event_make("web", "R", "n", 2);
    ki_recorded *c = event_make("web", "Rm", "", 3), *d = event_make("web", "R", "m", 4);
    assert_true(
        same(ki_recorded_key(a, KI_RECORDED_REASON, &hash), ki_recorded_key(b, KI_RECORDED_REASON, &hash)));
    assert_false(same(ki_recorded_identity(a, &hash), ki_recorded_identity(b, &hash)));
    assert_true(same(ki_recorded_identity(a, &hash), ki_recorded_identity(d, &hash)));
    /* "R" + "m" is not "Rm" + "". */
    assert_false(same(ki_recorded_identity(a, &hash), ki_recorded_identity(c, &hash)));
    assert_true(same(ki_recorded_key(a, KI_RECORDED_UID, &hash), ki_recorded_key(c, KI_RECORDED_UID, &hash)));
    ki_recorded_unref(a);
    ki_recorded_unref(b);
    ki_recorded_unref(c);
    ki_recorded_unref(d);
}

static void when_out_of_memory_there_is_no_event(void **state)
{
    (void)state;
    ki_object *pod = event_make_pod("web", "1");
    failing_allocator_fail_at(1);
    assert_null(ki_recorded_new(&(ki_record){.object = pod, .reason = KI_STR("R")}, 10));
    ki_object_unref(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(everything_about_the_object_is_copied),
        WITH_MEMORY_CHECK(without_an_action_the_reason_is_the_action),
        WITH_MEMORY_CHECK(an_object_without_a_namespace_has_its_events_in_default),
        WITH_MEMORY_CHECK(long_texts_are_cut_between_characters),
        WITH_MEMORY_CHECK(invalid_utf_8_becomes_question_marks),
        WITH_MEMORY_CHECK(keys_are_equal_when_their_parts_are),
        WITH_MEMORY_CHECK(when_out_of_memory_there_is_no_event),
    };
    return RUN_TESTS(tests);
}
