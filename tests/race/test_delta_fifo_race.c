/* SPDX-License-Identifier: Apache-2.0 */
/* io pushes to a delta queue while dispatch pops from it. Run under ThreadSanitizer. */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue/delta_fifo.h"
#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 50, PUSHES = 10000, ITEMS_MAX = 16 };

/* Push number v has an object of version v and the received version v, so the pushes have the versions 1,
 * 2, … */
typedef struct pipeline {
    ki_delta_fifo fifo;
    int key_of[PUSHES + 1];     /* by version; 0: a bookmark */
    char is_popped[PUSHES + 1]; /* by version; used by dispatch */
    uint64_t popped_upto;       /* all versions up to this one have been popped */
    uint64_t last_of[KEYS + 1]; /* by key: the version popped last */
    atomic_int has_failed;      /* set by io, which may not use assertions: only the test's main thread may */
    atomic_int has_pushed;      /* all of them */
    atomic_int has_ended;
} pipeline;

static void pipeline_init(pipeline *p, uint64_t seed)
{
    ki_random random;
    ki_random_init(&random, seed);
    *p = (pipeline){.popped_upto = 0};
    for (int v = 1; v <= PUSHES; v++)
        p->key_of[v] = (int)ki_random_below(&random, KEYS + 1);
    ki_delta_fifo_options options = {.items_max = ITEMS_MAX};
    assert_int_equal(ki_delta_fifo_init(&p->fifo, &options), 0);
}

static int push_version(pipeline *p, int v)
{
    char name[16];
    char text[16];
    snprintf(name, sizeof(name), "key-%d", p->key_of[v]);
    snprintf(text, sizeof(text), "%d", v);
    if (p->key_of[v] == 0)
        return ki_delta_fifo_push_marker(&p->fifo, KI_CHANGE_BOOKMARK, 0, ki_str_of(text));
    ki_delta delta = {.change_type = KI_CHANGE_UPDATED, .object = object_of(name, (uint64_t)v, 0)};
    return fifo_push_new(&p->fifo, delta, ki_str_of(text));
}

static void push_all(void *user)
{
    pipeline *p = user;
    for (int v = 1; v <= PUSHES; v++) {
        int rc = push_version(p, v);
        if (rc < 0)
            atomic_store(&p->has_failed, 1);
        while (rc == 1 && !ki_delta_fifo_has_space(&p->fifo))
            sched_yield();
    }
    atomic_store(&p->has_pushed, 1);
}

/* A thread that reads the size of the queue. */
static void watch_sizes(void *user)
{
    pipeline *p = user;
    while (!atomic_load(&p->has_ended)) {
        if (ki_delta_fifo_items(&p->fifo) > ITEMS_MAX)
            atomic_store(&p->has_failed, 1);
        (void)ki_delta_fifo_fresh_ns(&p->fifo);
        sched_yield();
    }
}

static void note_popped(pipeline *p, uint64_t version, int key)
{
    assert_in_range(version, 1, PUSHES);
    assert_int_equal(p->key_of[version], key);
    assert_int_equal(p->is_popped[version], 0);
    p->is_popped[version] = 1;
    while (p->popped_upto < PUSHES && p->is_popped[p->popped_upto + 1])
        p->popped_upto++;
}

static uint64_t number_of(const ki_resource_version *version)
{
    uint64_t number = 0;
    ki_str text = ki_resource_version_str(version);
    for (size_t i = 0; i < text.len; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    return number;
}

static void take(pipeline *p, ki_delta_entry *entry)
{
    if (entry->marker == KI_CHANGE_BOOKMARK)
        note_popped(p, number_of(&entry->version), 0);
    for (uint32_t i = 0; i < entry->count; i++) {
        uint64_t version = object_version(entry->deltas[i].object);
        int key = (int)strtol(entry->key + sizeof("default/key-") - 1, NULL, 10);
        note_popped(p, version, key);
        assert_true(version > p->last_of[key]);
        p->last_of[key] = version;
    }
    ki_list done;
    ki_list_init(&done);
    ki_delta_entry_clear(entry);
    ki_list_push_back(&done, &entry->node);
    ki_delta_fifo_give_back(&p->fifo, &done);
}

/* Returns 1 if there is something to pop, 0 if everything has been popped. */
static int wait_for_more(pipeline *p)
{
    for (;;) {
        int has_pushed = atomic_load(&p->has_pushed); /* read before the size of the queue */
        if (ki_delta_fifo_items(&p->fifo) > 0)
            return 1;
        if (has_pushed)
            return 0;
        sched_yield();
    }
}

static void pop_all(pipeline *p, uint64_t seed)
{
    ki_random random;
    ki_random_init(&random, seed);
    while (wait_for_more(p)) {
        ki_list batch;
        ki_resource_version upto = {0};
        ki_list_init(&batch);
        size_t n = ki_delta_fifo_pop(&p->fifo, 1 + ki_random_below(&random, 8), &batch, &upto);
        assert_true(n > 0);
        for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL; node = ki_list_pop_front(&batch))
            take(p, KI_CONTAINER_OF(node, ki_delta_entry, node));
        assert_int_equal(number_of(&upto), p->popped_upto);
        ki_delta_fifo_report_processed(&p->fifo, NULL);
    }
}

static void start(ki_thread *thread, const char *name, ki_thread_cb run, void *user)
{
    ki_thread_options options = {.name = name, .run = run, .user = user};
    assert_int_equal(ki_thread_start(thread, &options, NULL), 0);
}

/* Also: the version that a pop returns is exact, whatever is pushed in the meantime. */
static void every_push_is_popped_once_and_in_order_for_each_key(void **state)
{
    (void)state;
    static pipeline p;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        ki_thread io;
        ki_thread other;
        pipeline_init(&p, seed);
        start(&io, "io", push_all, &p);
        start(&other, "other", watch_sizes, &p);
        pop_all(&p, seed);
        atomic_store(&p.has_ended, 1);
        ki_thread_join(&io);
        ki_thread_join(&other);
        assert_int_equal(p.popped_upto, PUSHES);
        assert_int_equal(p.has_failed, 0);
        ki_delta_fifo_fini(&p.fifo);
    }
}

static void push_until_the_end(void *user)
{
    pipeline *p = user;
    for (int v = 1; !atomic_load(&p->has_ended); v = v % PUSHES + 1) {
        if (push_version(p, v) < 0)
            atomic_store(&p->has_failed, 1);
        while (!ki_delta_fifo_has_space(&p->fifo) && !atomic_load(&p->has_ended))
            sched_yield();
    }
}

static void drop_batch(ki_list *batch)
{
    for (ki_list_node *node = ki_list_pop_front(batch); node != NULL; node = ki_list_pop_front(batch))
        ki_delta_entry_free(KI_CONTAINER_OF(node, ki_delta_entry, node));
}

static void a_queue_can_be_reset_while_it_is_pushed_to(void **state)
{
    (void)state;
    static pipeline p;
    ki_thread io;
    ki_resource_version none = {0};
    pipeline_init(&p, 9);
    start(&io, "io", push_until_the_end, &p);
    for (int i = 0; i < 3000; i++) {
        ki_list batch;
        ki_resource_version upto = {0};
        ki_list_init(&batch);
        assert_true(wait_for_more(&p));
        (void)ki_delta_fifo_pop(&p.fifo, 4, &batch, &upto);
        if (i % 3 == 0)
            ki_delta_fifo_reset(&p.fifo, &none);
        drop_batch(&batch);
        ki_delta_fifo_report_processed(&p.fifo, NULL);
    }
    atomic_store(&p.has_ended, 1);
    ki_thread_join(&io);
    assert_int_equal(p.has_failed, 0);
    ki_delta_fifo_fini(&p.fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(every_push_is_popped_once_and_in_order_for_each_key),
        WITH_MEMORY_CHECK(a_queue_can_be_reset_while_it_is_pushed_to),
    };
    return RUN_TESTS(tests);
}
