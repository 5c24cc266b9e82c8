/* SPDX-License-Identifier: Apache-2.0 */
/* Replays random events and expects the results recorded from client-go's event correlator. The record was
 * written by tests/clients/go/events; tests/fixtures/README.md describes it.
 * $KI_EVENTS_RECORD names another record. */
#include <jansson.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/correlator.h"
#include "support/controller/event_make.h"
#include "support/decode/fixtures.h"
#include "support/unit.h"
#include "util/units.h"

enum { SEQUENCES_MIN = 200, EVENTS_MIN = 50 };

/* The members of a line. */
enum { SECONDS, OBJECT, SEVERITY, REASON, MESSAGE, RESULT, COUNT, COMBINED, NAME, FIRST };

static size_t sequence_number; /* for failure messages */

static int number_of(const json_t *line, size_t member)
{
    return (int)json_integer_value(json_array_get(line, member));
}

static ki_recorded *make(const json_t *line, size_t i)
{
    char pod[16], reason[16], message[16];
    (void)snprintf(pod, sizeof(pod), "pod-%d", number_of(line, OBJECT));
    (void)snprintf(reason, sizeof(reason), "%d", number_of(line, REASON));
    (void)snprintf(message, sizeof(message), "%d", number_of(line, MESSAGE));
    ki_object *object = event_make_pod(pod, "1");
    ki_recorded *event =
        ki_recorded_new(&(ki_record){.object = object,
                                     .severity = (ki_record_severity)number_of(line, SEVERITY),
                                     .reason = ki_str_of(reason),
                                     .message = ki_str_of(message)},
                        KI_MESSAGE_BYTES);
    assert_non_null(event);
    ki_object_unref(object);
    event->wall_ns = (int64_t)i;
    event->number = i;
    return event;
}

static void compare(const json_t *line, size_t i, const char *result, const ki_event_write *write)
{
    const char *expected = json_string_value(json_array_get(line, RESULT));
    int is_equal = strcmp(result, expected) == 0;
    if (is_equal && result[0] != 'd')
        is_equal = (int)write->count == number_of(line, COUNT) &&
                   write->is_combined == (number_of(line, COMBINED) != 0) &&
                   (int)write->number == number_of(line, NAME) &&
                   write->first_wall_ns == number_of(line, FIRST) && write->last_wall_ns == (int64_t)i;
    if (!is_equal)
        fail_msg("sequence %zu, event %zu: %s, count %u, combined %d, name %llu, first %lld", sequence_number,
                 i, result, (unsigned)write->count, write->is_combined, (unsigned long long)write->number,
                 (long long)write->first_wall_ns);
}

static void replay_event(ki_correlator *correlator, const json_t *line, size_t i)
{
    uint64_t now_ns = (uint64_t)number_of(line, SECONDS) * KI_NS_PER_S + i * KI_NS_PER_MS;
    ki_recorded *event = make(line, i);
    ki_event_write write = {0};
    const char *result = "d";
    if (ki_correlator_take(correlator, event, now_ns + KI_NS_PER_S, (int64_t)i, &write))
        result = write.is_patch ? "p" : "c";
    compare(line, i, result, &write);
    ki_recorded_unref(write.event);
    ki_recorded_unref(event);
}

static void replay_sequence(const json_t *lines)
{
    ki_recorded_hash hash = event_make_hash();
    ki_correlator correlator;
    size_t i;
    const json_t *line;
    assert_true(json_array_size(lines) >= EVENTS_MIN);
    ki_correlator_init(&correlator, &hash);
    json_array_foreach(lines, i, line)
    {
        replay_event(&correlator, line, i);
    }
    ki_correlator_fini(&correlator);
}

static FILE *open_record(fixture *memory)
{
    const char *other = getenv("KI_EVENTS_RECORD");
    if (other == NULL)
        assert_int_equal(fixture_load(memory, "events-client-go.jsonl", NULL), 0);
    FILE *file = other != NULL ? fopen(other, "re") : fmemopen(memory->data, memory->len, "r");
    assert_non_null(file);
    return file;
}

static void events_are_correlated_as_in_client_go(void **state)
{
    (void)state;
    size_t count = 0;
    fixture memory = {0};
    FILE *file = open_record(&memory);
    json_t *lines;
    while ((lines = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        sequence_number = ++count;
        replay_sequence(lines);
        json_decref(lines);
    }
    (void)fclose(file);
    fixture_free(&memory);
    assert_true(count >= SEQUENCES_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_correlated_as_in_client_go),
    };
    return RUN_TESTS(tests);
}
