/* SPDX-License-Identifier: Apache-2.0 */
#include "util/list.h"

#include "support/unit.h"
#include "util/random.h"

typedef struct item {
    int number;
    ki_list_node node;
} item;

static int number_of(const ki_list_node *node)
{
    return KI_CONTAINER_OF(node, item, node)->number;
}

static void push_numbers(ki_list *list, item *items, int count)
{
    for (int i = 0; i < count; i++) {
        items[i] = (item){.number = i};
        ki_list_push_back(list, &items[i].node);
    }
}

static void a_new_list_is_empty(void **state)
{
    (void)state;
    ki_list list;
    ki_list_init(&list);
    assert_true(ki_list_is_empty(&list));
    assert_null(ki_list_first(&list));
    assert_null(ki_list_pop_front(&list));
}

static void pushed_back_nodes_leave_in_order(void **state)
{
    (void)state;
    ki_list list;
    item items[3];
    ki_list_init(&list);
    push_numbers(&list, items, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(number_of(ki_list_pop_front(&list)), i);
    assert_true(ki_list_is_empty(&list));
}

static void a_node_pushed_to_the_front_leaves_first(void **state)
{
    (void)state;
    ki_list list;
    item items[2];
    item last = {.number = 7};
    ki_list_init(&list);
    push_numbers(&list, items, 2);
    ki_list_push_front(&list, &last.node);
    assert_ptr_equal(ki_list_pop_front(&list), &last.node);
    assert_ptr_equal(ki_list_pop_front(&list), &items[0].node);
    assert_ptr_equal(ki_list_pop_front(&list), &items[1].node);
}

static void first_leaves_the_node_in_the_list(void **state)
{
    (void)state;
    ki_list list;
    item items[2];
    ki_list_init(&list);
    push_numbers(&list, items, 2);
    assert_ptr_equal(ki_list_first(&list), &items[0].node);
    assert_ptr_equal(ki_list_first(&list), &items[0].node);
}

static void a_removed_node_is_in_no_list_and_may_be_removed_again(void **state)
{
    (void)state;
    ki_list list;
    item items[3];
    ki_list_init(&list);
    push_numbers(&list, items, 3);
    ki_list_remove(&items[1].node);
    assert_false(ki_list_node_is_linked(&items[1].node));
    ki_list_remove(&items[1].node);
    assert_ptr_equal(ki_list_pop_front(&list), &items[0].node);
    assert_ptr_equal(ki_list_pop_front(&list), &items[2].node);
}

static void removing_a_zeroed_node_does_nothing(void **state)
{
    (void)state;
    ki_list_node node = {0};
    ki_list_remove(&node);
    assert_false(ki_list_node_is_linked(&node));
}

static void a_walk_visits_every_node_in_order_and_may_remove_it(void **state)
{
    (void)state;
    ki_list list;
    item items[6];
    ki_list_init(&list);
    push_numbers(&list, items, 6);
    int seen = 0;
    for (ki_list_node *node = ki_list_first(&list), *next; node != NULL; node = next) {
        next = ki_list_next(&list, node);
        assert_int_equal(number_of(node), seen++);
        if (number_of(node) % 2 == 0)
            ki_list_remove(node);
    }
    assert_int_equal(seen, 6);
    for (int i = 1; i < 6; i += 2)
        assert_int_equal(number_of(ki_list_pop_front(&list)), i);
    assert_true(ki_list_is_empty(&list));
}

static void splice_appends_all_nodes_of_another_list(void **state)
{
    (void)state;
    ki_list list;
    ki_list from;
    item first[2];
    item second[2];
    ki_list_init(&list);
    ki_list_init(&from);
    push_numbers(&list, first, 2);
    push_numbers(&from, second, 2);
    ki_list_splice_back(&list, &from);
    assert_true(ki_list_is_empty(&from));
    const ki_list_node *expected[] = {&first[0].node, &first[1].node, &second[0].node, &second[1].node};
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(ki_list_pop_front(&list), expected[i]);
    assert_true(ki_list_is_empty(&list));
}

static void splicing_an_empty_list_changes_nothing(void **state)
{
    (void)state;
    ki_list list;
    ki_list from;
    item items[1];
    ki_list_init(&list);
    ki_list_init(&from);
    push_numbers(&list, items, 1);
    ki_list_splice_back(&list, &from);
    assert_ptr_equal(ki_list_pop_front(&list), &items[0].node);
    assert_true(ki_list_is_empty(&list));
}

enum { MODEL_ITEMS = 16 };

/* The same steps on the list and on an array of its numbers. */
typedef struct model {
    ki_list list;
    item items[MODEL_ITEMS];
    int order[MODEL_ITEMS];
    int count;
} model;

static void model_insert(model *m, int at, int number)
{
    for (int i = m->count++; i > at; i--)
        m->order[i] = m->order[i - 1];
    m->order[at] = number;
}

static void model_remove(model *m, int number)
{
    int kept = 0;
    for (int i = 0; i < m->count; i++)
        if (m->order[i] != number)
            m->order[kept++] = m->order[i];
    m->count = kept;
}

static void model_step(model *m, ki_random *random)
{
    int number = (int)ki_random_below(random, MODEL_ITEMS);
    ki_list_node *node = &m->items[number].node;
    if (ki_list_node_is_linked(node)) {
        ki_list_remove(node);
        model_remove(m, number);
    } else {
        ki_list_push_back(&m->list, node);
        model_insert(m, m->count, number);
    }
}

static bool model_agrees(const model *m)
{
    int at = 0;
    for (ki_list_node *node = ki_list_first(&m->list); node != NULL; node = ki_list_next(&m->list, node))
        if (at >= m->count || number_of(node) != m->order[at++])
            return false;
    return at == m->count;
}

static void list_agrees_with_an_array_after_random_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        model m = {.count = 0};
        ki_list_init(&m.list);
        for (int i = 0; i < MODEL_ITEMS; i++)
            m.items[i].number = i;
        for (int step = 0; step < 200; step++) {
            model_step(&m, &random);
            if (!model_agrees(&m))
                fail_msg("seed %d, step %d", (int)seed, step);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_list_is_empty),
        cmocka_unit_test(pushed_back_nodes_leave_in_order),
        cmocka_unit_test(a_node_pushed_to_the_front_leaves_first),
        cmocka_unit_test(first_leaves_the_node_in_the_list),
        cmocka_unit_test(a_removed_node_is_in_no_list_and_may_be_removed_again),
        cmocka_unit_test(removing_a_zeroed_node_does_nothing),
        cmocka_unit_test(a_walk_visits_every_node_in_order_and_may_remove_it),
        cmocka_unit_test(splice_appends_all_nodes_of_another_list),
        cmocka_unit_test(splicing_an_empty_list_changes_nothing),
        cmocka_unit_test(list_agrees_with_an_array_after_random_steps),
    };
    return RUN_TESTS(tests);
}
