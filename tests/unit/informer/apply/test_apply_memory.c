/* SPDX-License-Identifier: Apache-2.0 */
/* A mixed workload in which one allocation after the other fails: failed steps are repeated, and handlers get
 * the same calls as without failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/unit.h"

enum { SOME = 5, MANY = 600, MORE = 1100 };

/* ---- failing allocations in steps and joins ----------------------------------------------------------- */

typedef struct plan {
    size_t first;  /* the number of the allocation that fails; 0: none */
    size_t second; /* the next one that fails, counted from the first; 0: none */
    size_t seen;   /* allocations so far */
    size_t failed;
} plan;

static void begin_failing(plan *p)
{
    size_t n = p->failed == 0 ? p->first : p->failed == 1 ? p->second : 0;
    failing_allocator_fail_at(n > p->seen ? n - p->seen : 0);
}

static void end_failing(plan *p)
{
    p->seen += failing_allocator_attempts();
    if (failing_allocator_has_failed()) {
        p->failed++;
        p->seen = 0;
    }
    failing_allocator_fail_at(0);
}

static void settle(apply_run *run, plan *p)
{
    int rc = 1;
    while (rc != 0) {
        begin_failing(p);
        rc = ki_apply_step(&run->apply);
        end_failing(p);
        assert_true(rc >= 0 || rc == KI_ERR_NO_MEMORY);
    }
}

/* Runs this many steps. */
static void step(apply_run *run, plan *p, int count)
{
    while (count > 0) {
        begin_failing(p);
        count -= ki_apply_step(&run->apply) >= 0;
        end_failing(p);
    }
}

static void join(apply_run *run, plan *p, size_t number)
{
    begin_failing(p);
    apply_run_join(run, number, NULL);
    end_failing(p);
}

static void remind(apply_run *run, plan *p)
{
    for (size_t i = 0; i < 2; i++)
        run->handlers[i].subscriber.resync = (ki_resync_turn){.period_ms = 1000};
    assert_int_equal(ki_fanout_begin_resync(&run->fanout, 0), 2);
    apply_run_play(run, "@");
    settle(run, p);
}

/* ---- the workload ------------------------------------------------------------------------------------- */

static void work(apply_run *run, plan *p, size_t many)
{
    apply_run_init(run);
    apply_run_join(run, 1, NULL);
    apply_run_play(run, "(1 a1 b1");
    apply_run_push_many(run, 1, many, "1");
    apply_run_play(run, ")5");
    settle(run, p);
    apply_run_play(run, "~a6 -b7 +b8 ~a9 -a9 +c10 -c11 +c12");
    settle(run, p);
    remind(run, p);
    apply_run_play(run, "(2 b8 )12 (3 b8 c12 )13");
    step(run, p, 2);
    join(run, p, 2);
    settle(run, p);
    apply_run_play(run, "~b14");
    settle(run, p);
}

/* Deletes of a sweep and adds of a join are in the order of the table, which grows differently after
 * failures, so the words are sorted before they are compared. */
static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(const char *heard)
{
    size_t count = 0;
    size_t bytes = strlen(heard) + 2;
    char *copy = malloc(bytes);
    char *result = malloc(bytes);
    char **words = malloc(bytes * sizeof(*words));
    char *rest = NULL;
    assert_true(copy != NULL && result != NULL && words != NULL);
    memcpy(copy, heard, bytes - 1);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    qsort(words, count, sizeof(*words), compare_words);
    char *end = result;
    *end = 0;
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, "%s ", words[i]);
    free(words);
    free(copy);
    return result;
}

/* For a single object, the order of calls matters. */
static void assert_order(const char *heard, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        const char *at = strstr(heard, words[i]);
        if (at == NULL)
            fail_msg("%s is missing or too early", words[i]);
        heard = at;
    }
}

typedef struct truth {
    char *heard[2];
} truth;

static void check_order(apply_run *run)
{
    static const char *const a[] = {"+a1i ", "synced ", "~a1>6 ", "~a6>9 ", "-a9 ", NULL};
    static const char *const b[] = {"+b1i ", "synced ", "-b7 ", "+b8 ", "~b8>8s ", "~b8>14 ", NULL};
    static const char *const n[] = {"+n0000.1i ", "synced ", "~n0000.1>1s ", "-n0000.1u ", NULL};
    for (size_t i = 0; i < 2; i++) {
        assert_order(run->handlers[i].text, a);
        assert_order(run->handlers[i].text, b);
        assert_order(run->handlers[i].text, n);
    }
}

static size_t count_of(const char *heard, const char *sign)
{
    size_t count = 0;
    for (const char *at = strstr(heard, sign); at != NULL; at = strstr(at + 1, sign))
        count++;
    return count;
}

/* This handler was added during the sweep; how far the sweep had come depends on the failures. */
static void check_late(const char *heard)
{
    assert_int_equal(count_of(heard, "+n"), count_of(heard, "-n"));
    assert_int_equal(count_of(heard, "+b"), 1);
    assert_int_equal(count_of(heard, "synced"), 1);
    assert_int_equal(count_of(heard, "~"), 1);
    assert_non_null(strstr(heard, ">14"));
}

static void compare(apply_run *run, const truth *expected)
{
    apply_run_settle(run);
    check_order(run);
    for (size_t i = 0; i < 2; i++) {
        char *heard = sorted(apply_run_heard(run, i));
        assert_true(strcmp(heard, expected->heard[i]) == 0);
        free(heard);
    }
    check_late(apply_run_heard(run, 2));
    assert_string_equal(apply_run_store(run), "b14 c12");
    assert_string_equal(apply_run_version(run), "14");
}

static size_t learn(truth *out_truth, size_t many)
{
    apply_run run;
    plan p = {0};
    work(&run, &p, many);
    apply_run_settle(&run);
    for (size_t i = 0; i < 2; i++)
        out_truth->heard[i] = sorted(apply_run_heard(&run, i));
    apply_run_fini(&run);
    return p.seen;
}

static void forget(truth *known)
{
    for (size_t i = 0; i < 2; i++)
        free(known->heard[i]);
}

static void run_with(const plan *failures, const truth *expected, size_t many)
{
    apply_run run;
    plan p = *failures;
    work(&run, &p, many);
    assert_true(p.failed > 0);
    compare(&run, expected);
    apply_run_fini(&run);
    if (failing_allocator_live_count() != 0)
        fail_msg("allocations %zu and %zu failed: %zu blocks were not freed", p.first, p.second,
                 failing_allocator_live_count());
}

static void any_allocation_may_fail_and_nothing_is_lost_or_repeated(void **state)
{
    (void)state;
    truth expected;
    size_t count = learn(&expected, SOME);
    for (size_t n = 1; n <= count; n++)
        for (size_t second = 0; second < 3; second++)
            run_with(&(plan){.first = n, .second = second}, &expected, SOME);
    forget(&expected);
}

/* There are too many allocations to fail each, so every 59th fails: in steps, in growing tables, in plans. */
static void allocations_may_fail_during_a_large_workload(void **state)
{
    (void)state;
    truth expected;
    size_t count = learn(&expected, MANY);
    assert_true(count > 3 * MANY);
    for (size_t n = 1; n <= count; n += 59)
        run_with(&(plan){.first = n, .second = n % 3}, &expected, MANY);
    forget(&expected);
}

/* The list of objects to sweep grows at the start and at 256, 512 and 1,024 objects. If it cannot grow, the
 * objects in it are swept and the list is built again. The second failure is in the sweep of these
 * objects. */
static void run_sweep(const plan *failures)
{
    apply_run run;
    plan p = *failures;
    apply_run_init(&run);
    apply_run_push_many(&run, 1, MORE, "1");
    apply_run_play(&run, "(1 )5 |");
    run.handlers[0].len = 0;
    apply_run_play(&run, "(2 )9");
    settle(&run, &p);
    assert_true(p.failed > 0);
    const char *heard = apply_run_heard(&run, 0);
    assert_int_equal(strlen(heard), MORE * strlen("-n0000.1u ") - 1);
    assert_int_equal(ki_store_count(run.store), 0);
    assert_string_equal(apply_run_version(&run), "9");
    apply_run_fini(&run);
}

static void a_sweep_that_cannot_be_planned_at_once_is_done_in_parts(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 4; n++)
        for (size_t second = 0; second < 300; second += second < 4 ? 1 : 57)
            run_sweep(&(plan){.first = n, .second = second});
}

static void run_resync(size_t first)
{
    apply_run run;
    plan p = {.first = first, .second = 7};
    apply_run_init(&run);
    apply_run_push_many(&run, 1, MORE, "1");
    apply_run_play(&run, "(1 )5 |");
    run.handlers[0].len = 0;
    run.handlers[0].subscriber.resync = (ki_resync_turn){.period_ms = 1000};
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 0), 1);
    apply_run_play(&run, "@");
    settle(&run, &p);
    assert_int_equal(p.failed, 2);
    assert_int_equal(strlen(apply_run_heard(&run, 0)), MORE * strlen("~n0000.1>1s ") - 1);
    apply_run_fini(&run);
}

static void a_resync_that_cannot_be_planned_is_repeated_and_delivered_once(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 4; n++)
        run_resync(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(any_allocation_may_fail_and_nothing_is_lost_or_repeated),
        WITH_MEMORY_CHECK(allocations_may_fail_during_a_large_workload),
        WITH_MEMORY_CHECK(a_sweep_that_cannot_be_planned_at_once_is_done_in_parts),
        WITH_MEMORY_CHECK(a_resync_that_cannot_be_planned_is_repeated_and_delivered_once),
    };
    return RUN_TESTS(tests);
}
