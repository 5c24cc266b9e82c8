/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/order.h"

#include <kinformer/error.h>
#include <stdio.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/random.h"

enum { NAMES = 3000, STEPS = 20000 };

static struct ki_as_object *object_new(const char *ns, const char *name)
{
    json_t *tree = json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "namespace", ns);
    struct ki_as_object *object = ki_as_object_make(&(struct ki_as_object_parts){.tree = tree});
    json_decref(tree);
    assert_non_null(object);
    return object;
}

static void put(struct ki_as_order *order, const char *ns, const char *name)
{
    assert_int_equal(ki_as_order_reserve(order), 0);
    ki_as_object_unref(ki_as_order_put(order, object_new(ns, name)));
}

static void keys_are_in_the_order_of_etcd(void **state)
{
    (void)state;
    struct ki_as_order order = {0};
    put(&order, "a", "z");
    put(&order, "a-b", "y");
    put(&order, "a0", "x");
    put(&order, "a", "b");
    const char *expected[] = {"a-b/y", "a/b", "a/z", "a0/x"};
    struct ki_as_place place = {0, 0};
    for (size_t i = 0; i < 4; i++) {
        char key[32];
        const struct ki_as_object *object = ki_as_order_at(&order, place);
        assert_non_null(object);
        (void)snprintf(key, sizeof(key), "%.*s/%.*s", KI_STR_ARGS(object->ns), KI_STR_ARGS(object->name));
        assert_string_equal(key, expected[i]);
        place = ki_as_order_next(&order, place);
    }
    assert_null(ki_as_order_at(&order, place));
    ki_as_order_fini(&order);
}

static void a_namespace_is_a_range(void **state)
{
    (void)state;
    struct ki_as_order order = {0};
    put(&order, "a", "1");
    put(&order, "b", "1");
    put(&order, "b", "2");
    put(&order, "b-c", "1");
    size_t first = ki_as_order_rank(&order, ki_as_order_seek_namespace(&order, KI_STR("b"), false));
    size_t end = ki_as_order_rank(&order, ki_as_order_seek_namespace(&order, KI_STR("b"), true));
    assert_int_equal(first, 2);
    assert_int_equal(end, 4);
    ki_as_order_fini(&order);
}

static void an_object_put_again_is_replaced(void **state)
{
    (void)state;
    struct ki_as_order order = {0};
    put(&order, "a", "1");
    struct ki_as_object *second = object_new("a", "1");
    assert_int_equal(ki_as_order_reserve(&order), 0);
    struct ki_as_object *first = ki_as_order_put(&order, second);
    assert_non_null(first);
    ki_as_object_unref(first);
    assert_int_equal(order.count, 1);
    assert_ptr_equal(ki_as_order_find(&order, KI_STR("a"), KI_STR("1")), second);
    ki_as_order_fini(&order);
}

/* Counts the objects, and compares them with the expected content: is_there[i] for name i. */
static void compare_all(const struct ki_as_order *order, const bool *is_there)
{
    struct ki_as_place place = {0, 0};
    size_t count = 0;
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%05d", i);
        assert_int_equal(ki_as_order_find(order, KI_STR("ns"), ki_str_of(name)) != NULL, is_there[i]);
        if (!is_there[i])
            continue;
        assert_int_equal(ki_as_order_rank(order, place), count);
        assert_true(ki_str_equal(ki_as_order_at(order, place)->name, ki_str_of(name)));
        place = ki_as_order_next(order, place);
        count++;
    }
    assert_int_equal(order->count, count);
    assert_null(ki_as_order_at(order, place));
}

static void the_order_agrees_with_a_plain_array(void **state)
{
    (void)state;
    static bool is_there[NAMES];
    struct ki_as_order order = {0};
    ki_random random;
    ki_random_init(&random, 42);
    for (int step = 0; step < STEPS; step++) {
        char name[16];
        size_t i = (size_t)ki_random_below(&random, NAMES);
        (void)snprintf(name, sizeof(name), "%05zu", i);
        /* First it grows, then it shrinks. */
        if (ki_random_below(&random, 10) < (step < STEPS / 2 ? 8U : 2U)) {
            put(&order, "ns", name);
            is_there[i] = true;
        } else {
            struct ki_as_object *object = ki_as_order_remove(&order, KI_STR("ns"), ki_str_of(name));
            assert_int_equal(object != NULL, is_there[i]);
            ki_as_object_unref(object);
            is_there[i] = false;
        }
        if (step % 2500 == 0)
            compare_all(&order, is_there);
    }
    compare_all(&order, is_there);
    ki_as_order_fini(&order);
}

static void names_in_order_fill_their_blocks(void **state)
{
    (void)state;
    struct ki_as_order order = {0};
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%05d", i);
        put(&order, "ns", name);
    }
    assert_int_equal(order.block_count, (NAMES + KI_AS_BLOCK_OBJECTS - 1) / KI_AS_BLOCK_OBJECTS);
    ki_as_order_fini(&order);
}

static void when_out_of_memory_nothing_changes(void **state)
{
    (void)state;
    struct ki_as_order order = {0};
    put(&order, "a", "1");
    failing_allocator_fail_at(1);
    int rc = ki_as_order_reserve(&order);
    failing_allocator_fail_at(0);
    assert_int_equal(rc, KI_ERR_NO_MEMORY);
    assert_int_equal(order.count, 1);
    ki_as_order_fini(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_in_the_order_of_etcd),
        cmocka_unit_test(a_namespace_is_a_range),
        cmocka_unit_test(an_object_put_again_is_replaced),
        cmocka_unit_test(the_order_agrees_with_a_plain_array),
        cmocka_unit_test(names_in_order_fill_their_blocks),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_changes),
    };
    return RUN_TESTS(tests);
}
