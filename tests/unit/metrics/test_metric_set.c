/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metric_set.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/unit.h"
#include "util/random.h"

enum { COUNT = 20000, KEY_BYTES = 16 };

typedef struct thing {
    ki_metric_node node;
    char key[KEY_BYTES];
    int is_in;
} thing;

static thing *things_new(void)
{
    thing *things = calloc(COUNT, sizeof(*things));
    assert_non_null(things);
    for (size_t i = 0; i < COUNT; i++) {
        int n = snprintf(things[i].key, KEY_BYTES, "key-%06zu", i);
        things[i].node.key = (ki_str){things[i].key, (size_t)n};
    }
    return things;
}

typedef struct seen {
    const thing *next; /* the next expected thing, or one before it */
    size_t count;
    size_t stop_after; /* 0: never */
} seen;

/* Each thing in the set is visited, in order. */
static int see(ki_metric_node *node, void *user)
{
    seen *s = user;
    while (!s->next->is_in)
        s->next++;
    assert_ptr_equal(node, &s->next->node);
    s->next++;
    s->count++;
    return s->count == s->stop_after ? 7 : 0;
}

static size_t depth_of(const ki_metric_node *node)
{
    if (node == NULL)
        return 0;
    size_t left = depth_of(node->left);
    size_t right = depth_of(node->right);
    return 1 + (left > right ? left : right);
}

/* 20,000 keys need 15 levels; a depth of 80 has a probability of less than one in a billion. */
static void the_depth_stays_small_in_any_order_of_keys(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        ki_metric_set set = {0};
        thing *things = things_new();
        for (size_t i = 0; i < COUNT; i++) {
            size_t at = order == 0 ? i : order == 1 ? COUNT - 1 - i : i * 7919 % COUNT;
            ki_metric_set_insert(&set, &things[at].node);
        }
        assert_int_equal(set.count, COUNT);
        assert_true(depth_of(set.root) < 80);
        free(things);
    }
}

static void a_changing_set_is_searched_and_walked_in_order(void **state)
{
    (void)state;
    ki_metric_set set = {0};
    thing *things = things_new();
    ki_random random;
    ki_random_init(&random, 4711);
    size_t count = 0;
    for (size_t i = 0; i < 100000; i++) {
        thing *any = &things[ki_random_below(&random, COUNT)];
        assert_ptr_equal(ki_metric_set_find(&set, any->node.key), any->is_in ? &any->node : NULL);
        if (any->is_in)
            ki_metric_set_remove(&set, &any->node);
        else
            ki_metric_set_insert(&set, &any->node);
        any->is_in = !any->is_in;
        count += any->is_in ? 1 : (size_t)-1;
        assert_int_equal(set.count, count);
    }
    seen s = {.next = things};
    assert_int_equal(ki_metric_set_walk(&set, NULL, see, &s), 0);
    assert_int_equal(s.count, count);
    free(things);
}

static void a_walk_begins_after_a_key_and_can_be_stopped(void **state)
{
    (void)state;
    ki_metric_set set = {0};
    thing *things = things_new();
    for (size_t i = 1; i < COUNT; i += 2) {
        ki_metric_set_insert(&set, &things[i].node);
        things[i].is_in = 1;
    }
    for (size_t i = 0; i < COUNT; i += 97) { /* keys in the set, and keys that are not */
        seen s = {.next = &things[i + 1], .stop_after = 3};
        int rc = ki_metric_set_walk(&set, &things[i].node.key, see, &s);
        assert_int_equal(rc, COUNT - i > 6 ? 7 : rc);
        assert_true(s.count == 3 || i + 6 >= COUNT);
    }
    assert_int_equal(ki_metric_set_walk(&set, &things[COUNT - 1].node.key, see, NULL), 0);
    free(things);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_depth_stays_small_in_any_order_of_keys),
        cmocka_unit_test(a_changing_set_is_searched_and_walked_in_order),
        cmocka_unit_test(a_walk_begins_after_a_key_and_can_be_stopped),
    };
    return RUN_TESTS(tests);
}
