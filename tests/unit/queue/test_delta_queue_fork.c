/* SPDX-License-Identifier: Apache-2.0 */
/* Delta queues across fork(): a child has one thread, whatever the other threads were doing with the queue. A
 * child that hangs is ended by its alarm. */
#include <kinformer/delta_queue.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { CHILD_SECONDS = 60, FORKS = 60, KEYS = 20 };

/* The child does not end with _exit(): there a sanitizer would search for leaks and report the parent's. */
static void expect_of_child(int (*function)(void *user), void *user)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        (void)syscall(SYS_exit_group, function(user));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int push(ki_delta_queue *queue, const char *name, ki_change_type type, uint64_t version)
{
    ki_object *object = store_object("ns", name, version, "");
    int rc = ki_delta_queue_push(queue, (ki_delta){.change_type = type, .object = object});
    (void)ki_object_unref(object);
    return rc;
}

static int count_deltas(const ki_deltas *deltas, void *user)
{
    size_t *count = user;
    *count += deltas->count;
    return 0;
}

static int process_nothing(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return 0;
}

/* ---- while another thread uses the queue --------------------------------------------------------------- */

typedef struct consumer {
    ki_delta_queue *queue;
    atomic_bool is_inside;
    atomic_bool may_go;
    size_t expected; /* deltas that a child must find */
} consumer;

static int stay_inside(const ki_deltas *deltas, void *user)
{
    consumer *c = user;
    (void)deltas;
    c->is_inside = true;
    while (!c->may_go)
        aside_pause(1);
    return 0;
}

static void pop_slowly(void *user)
{
    consumer *c = user;
    require(ki_delta_queue_pop(c->queue, HANG_MS, stay_inside, c) == 0);
}

static void await_inside(consumer *c)
{
    for (int ms = 0; ms < AT_ONCE_MS && !c->is_inside; ms++)
        aside_pause(1);
    assert_true(c->is_inside);
}

/* The queue must also be synced when it is empty. */
static int pop_all_and_free(void *user)
{
    const consumer *c = user;
    size_t count = 0;
    while (ki_delta_queue_pop(c->queue, 0, count_deltas, &count) == 0) {
    }
    if (count != c->expected || ki_delta_queue_len(c->queue) != 0 || ki_delta_queue_bytes(c->queue) != 0)
        return 1;
    if (!ki_delta_queue_has_synced(c->queue))
        return 2;
    ki_delta_queue_free(c->queue);
    return 0;
}

/* The other thread is processing the object of the first replace. */
static void consumer_begin(consumer *c, aside *thread)
{
    ki_object *object = store_object("ns", "a", 1, "");
    *c = (consumer){.queue = ki_delta_queue_new(NULL, NULL), .expected = 1};
    assert_non_null(c->queue);
    assert_true(ki_delta_queue_replace(c->queue, &object, 1) >= 0);
    (void)ki_object_unref(object);
    aside_start(thread, pop_slowly, c);
    await_inside(c);
}

static void consumer_end(consumer *c, aside *thread)
{
    c->may_go = true;
    aside_join(thread);
    ki_delta_queue_free(c->queue);
}

static void deltas_being_processed_are_queued_again_in_a_child(void **state)
{
    (void)state;
    consumer c;
    aside thread;
    consumer_begin(&c, &thread);
    assert_int_equal(ki_delta_queue_len(c.queue), 0);
    expect_of_child(pop_all_and_free, &c);
    assert_int_equal(ki_delta_queue_len(c.queue), 0);
    consumer_end(&c, &thread);
}

static void newer_deltas_replace_those_being_processed_in_a_child(void **state)
{
    (void)state;
    consumer c;
    aside thread;
    consumer_begin(&c, &thread);
    assert_true(push(c.queue, "a", KI_CHANGE_UPDATED, 2) >= 0);
    expect_of_child(pop_all_and_free, &c);
    consumer_end(&c, &thread);
}

static void wait_for_more(void *user)
{
    consumer *c = user;
    c->is_inside = true;
    require(ki_delta_queue_pop(c->queue, HANG_MS, process_nothing, NULL) == KI_ERR_STOPPED);
}

static int use_and_free(void *user)
{
    consumer *c = user;
    if (push(c->queue, "a", KI_CHANGE_ADDED, 1) < 0)
        return 3;
    return pop_all_and_free(c);
}

/* The child has no waiting thread, so free must not wait for one to leave the condition variable. */
static void a_child_can_free_a_queue_on_which_another_thread_waits(void **state)
{
    (void)state;
    consumer c = {.queue = ki_delta_queue_new(NULL, NULL), .expected = 1};
    aside thread;
    aside_start(&thread, wait_for_more, &c);
    await_inside(&c);
    aside_pause(50);
    expect_of_child(use_and_free, &c);
    ki_delta_queue_close(c.queue);
    aside_join(&thread);
    ki_delta_queue_free(c.queue);
}

/* ---- at any moment ------------------------------------------------------------------------------------- */

typedef struct busy {
    ki_delta_queue *queue;
    atomic_bool is_over;
} busy;

static void push_on(void *user)
{
    busy *b = user;
    char name[16];
    for (uint64_t version = 1; !b->is_over; version++) {
        snprintf(name, sizeof(name), "n%d", (int)(version % KEYS));
        require(push(b->queue, name, KI_CHANGE_ADDED, version) >= 0);
    }
}

static void pop_on(void *user)
{
    busy *b = user;
    while (!b->is_over)
        require(ki_delta_queue_pop(b->queue, 1, process_nothing, NULL) <= 0);
}

/* Allocates nothing: in the child, a sanitizer's allocator may be locked forever. */
static int look(void *user)
{
    busy *b = user;
    size_t len = ki_delta_queue_len(b->queue);
    size_t bytes = ki_delta_queue_bytes(b->queue);
    if (len > KEYS || (len == 0) != (bytes == 0))
        return 1;
    (void)ki_delta_queue_has_synced(b->queue);
    (void)ki_delta_queue_has_room(b->queue);
    ki_delta_queue_close(b->queue);
    return 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static int look_and_use(void *user)
{
    busy *b = user;
    size_t count = 0;
    int rc = look(b);
    if (rc != 0 || push(b->queue, "child", KI_CHANGE_ADDED, 1) < 0)
        return rc + 10;
    while (ki_delta_queue_pop(b->queue, 0, count_deltas, &count) == 0) {
    }
    if (count == 0 || ki_delta_queue_len(b->queue) != 0)
        return 20;
    ki_delta_queue_free(b->queue);
    return 0;
}
#else
#define look_and_use look
#endif

static void a_child_finds_a_consistent_queue_whenever_it_was_forked(void **state)
{
    (void)state;
    busy b = {.queue = ki_delta_queue_new(NULL, NULL)};
    aside producer;
    aside taker;
    aside_start(&producer, push_on, &b);
    aside_start(&taker, pop_on, &b);
    for (int i = 0; i < FORKS; i++)
        expect_of_child(i % 2 == 0 ? look : look_and_use, &b);
    b.is_over = true;
    aside_join(&producer);
    aside_join(&taker);
    ki_delta_queue_free(b.queue);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_being_processed_are_queued_again_in_a_child),
        cmocka_unit_test(newer_deltas_replace_those_being_processed_in_a_child),
        cmocka_unit_test(a_child_can_free_a_queue_on_which_another_thread_waits),
        cmocka_unit_test(a_child_finds_a_consistent_queue_whenever_it_was_forked),
    };
    return RUN_TESTS(tests);
}
