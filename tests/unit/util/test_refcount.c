/* SPDX-License-Identifier: Apache-2.0 */
#include "util/refcount.h"

#include <stdlib.h>

#include "support/unit.h"
#include "util/thread.h"

static void the_creator_is_the_only_owner(void **state)
{
    (void)state;
    ki_refcount refs;
    ki_refcount_init(&refs);
    assert_true(ki_refcount_unref(&refs));
}

static void only_the_last_unref_reports_it(void **state)
{
    (void)state;
    ki_refcount refs;
    ki_refcount_init(&refs);
    ki_refcount_ref(&refs);
    ki_refcount_ref(&refs);
    assert_false(ki_refcount_unref(&refs));
    assert_false(ki_refcount_unref(&refs));
    assert_true(ki_refcount_unref(&refs));
}

static void a_thing_is_shared_while_it_has_other_owners(void **state)
{
    (void)state;
    ki_refcount refs;
    ki_refcount_init(&refs);
    assert_false(ki_refcount_is_shared(&refs));
    ki_refcount_ref(&refs);
    assert_true(ki_refcount_is_shared(&refs));
    assert_false(ki_refcount_unref(&refs));
    assert_false(ki_refcount_is_shared(&refs));
}

enum { OWNERS = 4, ROUNDS = 5000 };

/* Each owner writes its own plain slot; the last one reads all of them and frees. The thread sanitizer
 * reports an error unless the memory orders of the count put all writes before that. */
typedef struct shared {
    ki_refcount refs;
    int slots[OWNERS];
    _Atomic int *sum_of_freed;
} shared;

typedef struct owner {
    shared *thing;
    int slot;
} owner;

static void shared_unref(shared *thing)
{
    if (!ki_refcount_unref(&thing->refs))
        return;
    int sum = 0;
    for (int i = 0; i < OWNERS; i++)
        sum += thing->slots[i];
    atomic_fetch_add(thing->sum_of_freed, sum);
    free(thing);
}

static void own(void *user)
{
    const owner *o = user;
    for (int i = 0; i < ROUNDS; i++) {
        ki_refcount_ref(&o->thing->refs);
        o->thing->slots[o->slot]++;
        shared_unref(o->thing);
    }
    shared_unref(o->thing);
}

static void the_last_of_many_threads_sees_all_writes(void **state)
{
    (void)state;
    _Atomic int sum_of_freed = 0;
    shared *thing = calloc(1, sizeof(*thing));
    assert_non_null(thing);
    ki_refcount_init(&thing->refs);
    thing->sum_of_freed = &sum_of_freed;
    ki_thread threads[OWNERS];
    owner owners[OWNERS];
    for (int i = 0; i < OWNERS; i++) {
        ki_refcount_ref(&thing->refs);
        owners[i] = (owner){thing, i};
        ki_thread_options options = {.name = "owner", .run = own, .user = &owners[i]};
        assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
    }
    shared_unref(thing);
    for (int i = 0; i < OWNERS; i++)
        ki_thread_join(&threads[i]);
    assert_int_equal(sum_of_freed, OWNERS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_creator_is_the_only_owner),
        cmocka_unit_test(only_the_last_unref_reports_it),
        cmocka_unit_test(a_thing_is_shared_while_it_has_other_owners),
        cmocka_unit_test(the_last_of_many_threads_sees_all_writes),
    };
    return RUN_TESTS(tests);
}
