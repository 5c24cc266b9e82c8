/* SPDX-License-Identifier: Apache-2.0 */
/* Replays recorded calls of client-go's work queue and limiters in virtual time, and expects the same
 * results. The record was written by tests/clients/go/workqueue; tests/fixtures/README.md describes it.
 * $KI_WORKQUEUE_RECORD names another record. */
#include <jansson.h>
#include <kinformer/metrics.h>
#include <kinformer/workqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/work_rig.h"
#include "support/decode/fixtures.h"
#include "support/unit.h"
#include "util/units.h"
#include "workqueue/limiter.h"
#include "workqueue/queue.h"

enum { SEQUENCES_MIN = 200, LIMITERS_MIN = 10, CALLS_MIN = 40 };

/* ---- the queue ----------------------------------------------------------------------------------------- */

typedef struct replay {
    work_rig rig;
    ki_metrics *metrics;
    bool is_stopped;
    char name[8];
} replay;

static ki_str key_of(replay *r, const json_t *call)
{
    snprintf(r->name, sizeof(r->name), "%d", (int)json_integer_value(json_array_get(call, 1)));
    return ki_str_of(r->name);
}

static long long number_of(const json_t *call, size_t i)
{
    return json_integer_value(json_array_get(call, i));
}

static void assert_accepted(const replay *r, int rc)
{
    assert_int_equal(rc, r->is_stopped ? KI_ERR_STOPPED : 0);
}

static void replay_get(replay *r, const json_t *call)
{
    ki_work_item item;
    int rc = ki_workqueue_get(r->rig.queue, 0, &item);
    if (number_of(call, 1) < 0) {
        assert_int_equal(rc, number_of(call, 1) == -1 ? KI_ERR_TIMEOUT : KI_ERR_STOPPED);
        return;
    }
    assert_int_equal(rc, 0);
    assert_true(ki_str_equal(item.key, key_of(r, call)));
}

static void replay_look(replay *r, const json_t *call)
{
    assert_int_equal(ki_workqueue_len(r->rig.queue), number_of(call, 1));
    const ki_work_metrics *counted = &r->rig.queue->metrics;
    assert_int_equal(atomic_load(&counted->adds->value), number_of(call, 2));
    assert_int_equal(atomic_load(&counted->depth->value), number_of(call, 3));
    assert_int_equal(atomic_load(&counted->retries->value), number_of(call, 4));
}

/* Both kinds of call begin a microsecond later, so that no two delays end at the same time. */
static void replay_delayed(replay *r, const json_t *call, char letter)
{
    ki_str key = key_of(r, call);
    ki_clock_advance_ns(&r->rig.clock, 1000);
    if (letter == 'w') {
        assert_accepted(
            r, ki_workqueue_add_after(r->rig.queue, key, KI_PRIORITY_HIGH, (uint64_t)number_of(call, 2)));
        return;
    }
    assert_accepted(r, ki_workqueue_add_rate_limited(r->rig.queue, key, KI_PRIORITY_HIGH));
    assert_int_equal(ki_workqueue_num_requeues(r->rig.queue, key), number_of(call, 2));
}

static void replay_call(replay *r, const json_t *call)
{
    char letter = json_string_value(json_array_get(call, 0))[0];
    switch (letter) {
    case 'a':
        assert_accepted(r, ki_workqueue_add(r->rig.queue, key_of(r, call), KI_PRIORITY_HIGH));
        break;
    case 'w':
    case 'r':
        replay_delayed(r, call, letter);
        break;
    case 'f':
        ki_workqueue_forget(r->rig.queue, key_of(r, call));
        break;
    case 'g':
        replay_get(r, call);
        break;
    case 'd':
        assert_int_equal(ki_workqueue_done(r->rig.queue, key_of(r, call)), 0);
        break;
    case 'x':
        assert_int_equal(ki_workqueue_drain(r->rig.queue, 0), number_of(call, 1) == 0 ? 0 : KI_ERR_TIMEOUT);
        r->is_stopped = true;
        break;
    case 't':
        ki_clock_advance_ms(&r->rig.clock, (uint64_t)number_of(call, 1));
        break;
    case 'l':
        replay_look(r, call);
        break;
    case 's':
        ki_workqueue_shut_down(r->rig.queue);
        r->is_stopped = true;
        break;
    default:
        fail_msg("unknown call %c", letter);
    }
}

static void replay_sequence(const json_t *sequence)
{
    replay r = {.metrics = ki_metrics_new(NULL, NULL)};
    work_rig_init(&r.rig, &(ki_workqueue_options){.name = "q",
                                                  .metrics = r.metrics,
                                                  .limiter = ki_limiter_new_exponential(5, 1000, NULL)});
    for (size_t i = 0; i < json_array_size(sequence); i++)
        replay_call(&r, json_array_get(sequence, i));
    work_rig_fini(&r.rig);
    ki_metrics_free(r.metrics);
}

/* ---- limiters ------------------------------------------------------------------------------------------ */

static ki_limiter *limiter_of(const json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "limiter"));
    const json_t *array = json_object_get(line, "numbers");
    double n[4] = {0};
    for (size_t i = 0; i < json_array_size(array); i++)
        n[i] = json_number_value(json_array_get(array, i));
    if (strcmp(name, "exponential") == 0)
        return ki_limiter_new_exponential((uint64_t)n[0], (uint64_t)n[1], NULL);
    if (strcmp(name, "fast_slow") == 0)
        return ki_limiter_new_fast_slow((uint64_t)n[0], (uint64_t)n[1], (uint32_t)n[2], NULL);
    if (strcmp(name, "bucket") == 0)
        return ki_limiter_new_bucket(n[0], (uint32_t)n[1], NULL);
    if (strcmp(name, "max_wait") == 0)
        return ki_limiter_new_max_wait(ki_limiter_new_exponential((uint64_t)n[0], (uint64_t)n[1], NULL),
                                       (uint64_t)n[2], NULL);
    if (strcmp(name, "default") == 0)
        return ki_limiter_new_default(NULL);
    ki_limiter *parts[] = {ki_limiter_new_exponential((uint64_t)n[0], (uint64_t)n[1], NULL),
                           ki_limiter_new_bucket(n[2], (uint32_t)n[3], NULL)};
    return ki_limiter_new_max_of(parts, 2, NULL);
}

/* Exact to the nanosecond on x86-64. A processor with fused multiply-add rounds once less,
 * and may be off by one. */
static void assert_delay(uint64_t delay_ns, long long expected_ns, size_t call)
{
    long long off = (long long)delay_ns - expected_ns;
#if defined(__x86_64__)
    long long most = 0;
#else
    long long most = 1;
#endif
    if (off > most || off < -most)
        fail_msg("call %zu: %llu ns, client-go has %lld", call, (unsigned long long)delay_ns, expected_ns);
}

static void replay_limiter(const json_t *line)
{
    const json_t *calls = json_object_get(line, "calls");
    ki_limiter *limiter = limiter_of(line);
    assert_non_null(limiter);
    assert_true(json_array_size(calls) >= CALLS_MIN);
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i);
        long long key = number_of(call, 0);
        char text[2] = {(char)('a' + (key < 0 ? -key : key)), '\0'};
        uint64_t delay_ns = 0;
        if (key < 0) {
            ki_limiter_forget(limiter, ki_str_of(text));
            continue;
        }
        uint64_t now_ns = KI_NS_PER_S + (uint64_t)number_of(call, 1);
        assert_int_equal(ki_limiter_when_at(limiter, ki_str_of(text), now_ns, &delay_ns), 0);
        assert_delay(delay_ns, number_of(call, 2), i);
    }
    (void)ki_limiter_unref(limiter);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static char *load(fixture *file)
{
    const char *other = getenv("KI_WORKQUEUE_RECORD");
    if (other == NULL) {
        assert_int_equal(fixture_load(file, "workqueue-client-go.jsonl", NULL), 0);
        return file->data;
    }
    FILE *stream = fopen(other, "r");
    assert_non_null(stream);
    size_t size = (size_t)64 << 20;
    file->data = calloc(1, size);
    file->len = fread(file->data, 1, size - 1, stream);
    (void)fclose(stream);
    return file->data;
}

static int line_number;

static void all_recorded_calls_have_the_same_results(void **state)
{
    (void)state;
    fixture file = {0};
    char *rest = NULL;
    size_t sequences = 0;
    size_t limiters = 0;
    for (char *line = strtok_r(load(&file), "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        json_t *read = json_loads(line, 0, NULL);
        line_number++;
        assert_non_null(read);
        if (json_is_array(read)) {
            replay_sequence(read);
            sequences++;
        } else {
            replay_limiter(read);
            limiters++;
        }
        json_decref(read);
    }
    assert_true(sequences >= SEQUENCES_MIN && limiters >= LIMITERS_MIN);
    line_number = 0;
    fixture_free(&file);
}

static int tell_line(void **state)
{
    (void)state;
    if (line_number != 0)
        fprintf(stderr, "in line %d of the record\n", line_number);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_recorded_calls_have_the_same_results, tell_line),
    };
    return RUN_TESTS(tests);
}
