/* SPDX-License-Identifier: Apache-2.0 */
/* A producer, and a consumer that keeps a store. Whatever they do at the same time, the store ends in the
 * state that the producer intended, and the version of a key never decreases. */
#include <inttypes.h>
#include <kinformer/delta_queue.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/store/objects.h"
#include "support/unit.h"
#include "util/random.h"
#include "util/thread.h"

enum { KEYS = 8, STEPS = 20000 };

typedef struct shared {
    ki_delta_queue *queue;
    ki_store *store;
    uint64_t newest[KEYS]; /* used by the consumer: the latest version of each key */
    size_t went_back;
    size_t refused;
} shared;

static int key_number(ki_str key)
{
    return key.ptr[key.len - 1] - '0';
}

static int process(const ki_deltas *deltas, void *user)
{
    shared *s = user;
    uint64_t *newest = &s->newest[key_number(deltas->key)];
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = &deltas->items[i];
        uint64_t version = object_version(delta->object);
        s->went_back += version < *newest;
        *newest = version;
        if (delta->change_type == KI_CHANGE_DELETED)
            (void)ki_store_remove(s->store, deltas->key);
        else if (ki_store_put(s->store, delta->object) < 0)
            s->refused++;
    }
    return 0;
}

static void consume(void *user)
{
    shared *s = user;
    int rc = 0;
    while (rc != KI_ERR_STOPPED)
        rc = ki_delta_queue_pop(s->queue, UINT64_MAX, process, s);
}

/* ---- the producer -------------------------------------------------------------------------------------- */

typedef struct producer {
    shared *shared;
    ki_random random;
    uint64_t next_version;
    uint64_t meant[KEYS]; /* the version that the store must end with; 0: deleted */
} producer;

static ki_object *new_object(producer *p, int key)
{
    char name[24];
    snprintf(name, sizeof(name), "key-%d", key);
    return object_of(name, p->next_version++, 0);
}

static void push(producer *p)
{
    int key = (int)ki_random_below(&p->random, KEYS);
    ki_change_type type = (ki_change_type)(KI_CHANGE_ADDED + ki_random_below(&p->random, 3));
    ki_object *object = new_object(p, key);
    p->meant[key] = type == KI_CHANGE_DELETED ? 0 : object_version(object);
    assert_true(ki_delta_queue_push(p->shared->queue, (ki_delta){.change_type = type, .object = object}) >=
                0);
    (void)ki_object_unref(object);
}

static void replace(producer *p)
{
    ki_object *objects[KEYS];
    size_t count = 0;
    for (int key = 0; key < KEYS; key++) {
        p->meant[key] = 0;
        if (ki_random_below(&p->random, 2) == 0)
            continue;
        objects[count] = new_object(p, key);
        p->meant[key] = object_version(objects[count++]);
    }
    assert_true(ki_delta_queue_replace(p->shared->queue, objects, count) >= 0);
    for (size_t i = 0; i < count; i++)
        (void)ki_object_unref(objects[i]);
}

static void produce(producer *p)
{
    for (int step = 0; step < STEPS; step++) {
        uint64_t choice = ki_random_below(&p->random, 20);
        if (choice == 0)
            replace(p);
        else if (choice == 1)
            assert_true(ki_delta_queue_resync(p->shared->queue) >= 0);
        else
            push(p);
    }
}

static void assert_store_is_as_meant(const producer *p)
{
    for (int key = 0; key < KEYS; key++) {
        char name[24];
        snprintf(name, sizeof(name), "key-%d", key);
        ki_object *object = ki_store_get(p->shared->store, KI_STR("default"), ki_str_of(name));
        assert_int_equal(object == NULL ? 0 : object_version(object), p->meant[key]);
        (void)ki_object_unref(object);
    }
}

static void the_store_ends_in_the_producers_state(void **state)
{
    (void)state;
    shared s = {.store = ki_store_new(NULL, NULL)};
    producer p = {.shared = &s, .next_version = 1};
    ki_thread consumer = {0};
    ki_random_init(&p.random, 1);
    s.queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = s.store}, NULL);
    assert_non_null(s.queue);
    assert_int_equal(ki_thread_start(&consumer,
                                     &(ki_thread_options){.name = "consumer", .run = consume, .user = &s},
                                     NULL),
                     0);
    produce(&p);
    ki_delta_queue_close(s.queue);
    ki_thread_join(&consumer);
    assert_int_equal(s.refused, 0);
    assert_int_equal(s.went_back, 0);
    assert_store_is_as_meant(&p);
    ki_delta_queue_free(s.queue);
    ki_store_free(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_store_ends_in_the_producers_state),
    };
    return RUN_TESTS(tests);
}
