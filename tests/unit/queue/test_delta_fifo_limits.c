/* SPDX-License-Identifier: Apache-2.0 */
/* How much a delta queue accepts, and running out of memory. */
#include "queue/delta_fifo.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/queue/fifo_text.h"
#include "support/store/objects.h"
#include "support/unit.h"

/* ---- limits -------------------------------------------------------------------------------------------- */

static void a_queue_full_of_keys_accepts_more_and_has_space_again_at_half(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.items_max = 4}), 0);
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 2), 0);
    assert_true(ki_delta_fifo_has_space(&fifo));
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_ADDED, "c", 3), 0);
    assert_false(ki_delta_fifo_has_space(&fifo));
    assert_int_equal(ki_delta_fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, (ki_str){0}), 1);
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_ADDED, "d", 4), 1);
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 5), 1);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/e"), 1), 1);
    fifo_assert_pops(&fifo, 3, "default/a +1 ~5; default/b +2; default/c +3", "3");
    assert_false(ki_delta_fifo_has_space(&fifo));
    fifo_assert_pops(&fifo, 1, "RESYNC", "3");
    assert_true(ki_delta_fifo_has_space(&fifo));
    fifo_assert_pops(&fifo, FIFO_ALL, "default/d +4; default/e !0@1", "5");
    ki_delta_fifo_fini(&fifo);
}

static void the_smallest_queue_has_space_when_it_is_empty(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.items_max = 1, .bytes_max = 1}), 0);
    assert_true(ki_delta_fifo_has_space(&fifo));
    assert_int_equal(fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1), 1);
    assert_false(ki_delta_fifo_has_space(&fifo));
    fifo_assert_pops(&fifo, 1, "default/a +1", "1");
    assert_true(ki_delta_fifo_has_space(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void a_queue_full_of_bytes_accepts_more_and_has_space_again_at_half(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_object *object = object_of("a", 1, 1000);
    size_t bytes = ki_object_bytes(object);
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.bytes_max = 4 * bytes}), 0);
    for (size_t i = 1; i <= 6; i++) {
        ki_delta delta = {.change_type = KI_CHANGE_UPDATED, .object = ki_object_ref(object)};
        assert_int_equal(fifo_push_new(&fifo, delta, KI_STR("1")), i >= 4);
        assert_int_equal(ki_delta_fifo_has_space(&fifo), i <= 2);
        assert_int_equal(fifo.bytes, i * bytes);
    }
    fifo_assert_pops(&fifo, 1, "default/a ~1 ~1 ~1 ~1 ~1 ~1", "1");
    assert_int_equal(fifo.bytes, 0);
    assert_true(ki_delta_fifo_has_space(&fifo));
    ki_object_unref(object);
    ki_delta_fifo_fini(&fifo);
}

static void a_merged_delete_counts_the_bytes_of_the_one_that_is_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_object *large = object_of("a", 2, 2000);
    size_t large_bytes = ki_object_bytes(large);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 1);
    size_t small_bytes = fifo.bytes;
    ki_delta delta = {.change_type = KI_CHANGE_DELETED, .object = large};
    assert_int_equal(fifo_push_new(&fifo, delta, KI_STR("2")), 0);
    assert_int_equal(fifo.bytes, large_bytes);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 3);
    assert_int_equal(fifo.bytes, small_bytes);
    fifo_push_unseen_delete(&fifo, "a", 3);
    assert_int_equal(fifo.bytes, small_bytes);
    fifo_assert_pops(&fifo, 1, "default/a -3", "3");
    assert_int_equal(fifo.bytes, 0);
    ki_delta_fifo_fini(&fifo);
}

/* A shared object grows when one of its readers unescapes a string in it. */
static void an_object_that_grows_in_the_queue_does_not_change_the_byte_count(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_str json = KI_STR("{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\",\"resourceVersion\":\"1\","
                         "\"annotations\":{\"x\":\"a\\nb\\tc\"}}}");
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, json, NULL, NULL);
    assert_non_null(object);
    ki_delta delta = {
        .change_type = KI_CHANGE_DELETED, .final_state_unknown = 1, .object = ki_object_ref(object)};
    assert_int_equal(fifo_push_new(&fifo, delta, (ki_str){0}), 0);
    size_t before = ki_object_bytes(object);
    assert_int_equal(ki_object_string(object, "/metadata/annotations/x").len, 5);
    assert_true(ki_object_bytes(object) > before);
    ki_object *later = object_of("a", 2, 0);
    size_t later_bytes = ki_object_bytes(later);
    delta = (ki_delta){.change_type = KI_CHANGE_DELETED, .object = later};
    assert_int_equal(fifo_push_new(&fifo, delta, KI_STR("2")), 0);
    assert_int_equal(fifo.bytes, later_bytes);
    fifo_assert_pops(&fifo, 1, "default/a -2", "2");
    assert_int_equal(fifo.bytes, 0);
    ki_object_unref(object);
    ki_delta_fifo_fini(&fifo);
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

typedef struct fifo_facts {
    size_t items;
    size_t bytes;
    size_t live_count;
    char received[KI_RESOURCE_VERSION_BYTES_MAX + 1];
} fifo_facts;

static fifo_facts facts_of(ki_delta_fifo *fifo)
{
    fifo_facts facts = {.items = ki_delta_fifo_items(fifo),
                        .bytes = fifo->bytes,
                        .live_count = failing_allocator_live_count()};
    (void)ki_resource_version_write(&fifo->received, facts.received, sizeof(facts.received));
    return facts;
}

static void assert_unchanged(ki_delta_fifo *fifo, const fifo_facts *before)
{
    fifo_facts after = facts_of(fifo);
    assert_int_equal(after.items, before->items);
    assert_int_equal(after.bytes, before->bytes);
    assert_int_equal(after.live_count, before->live_count);
    assert_string_equal(after.received, before->received);
}

enum { SCRIPT_KEYS = 20, SCRIPT_ROUNDS = 3 };

/* Repeats a failed push: the first attempt took no reference. */
static void push_again(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
{
    fifo_facts before = facts_of(fifo);
    int rc = ki_delta_fifo_push(fifo, delta, version);
    if (rc < 0) {
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_unchanged(fifo, &before);
        rc = ki_delta_fifo_push(fifo, delta, version);
    }
    assert_int_equal(rc, 0);
}

static void push_seen_and_end_again(ki_delta_fifo *fifo)
{
    fifo_facts before = facts_of(fifo);
    int rc = ki_delta_fifo_push_seen(fifo, KI_STR("default/seen"), 1);
    if (rc < 0) {
        assert_unchanged(fifo, &before);
        rc = ki_delta_fifo_push_seen(fifo, KI_STR("default/seen"), 1);
    }
    assert_int_equal(rc, 0);
    before = facts_of(fifo);
    rc = ki_delta_fifo_push_marker(fifo, KI_CHANGE_LIST_END, 1, KI_STR("99"));
    if (rc < 0) {
        assert_unchanged(fifo, &before);
        assert_int_equal(fifo->ended_list, 0);
        rc = ki_delta_fifo_push_marker(fifo, KI_CHANGE_LIST_END, 1, KI_STR("99"));
    }
    assert_int_equal(rc, 0);
}

static size_t count_deltas_of_all(ki_delta_fifo *fifo)
{
    size_t deltas = 0;
    ki_list batch;
    ki_resource_version version = {0};
    ki_list_init(&batch);
    (void)ki_delta_fifo_pop(fifo, FIFO_ALL, &batch, &version);
    ki_delta_fifo_report_processed(fifo, NULL);
    for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL; node = ki_list_pop_front(&batch)) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        deltas += entry->count;
        ki_delta_entry_free(entry);
    }
    assert_true(ki_str_equal(ki_resource_version_str(&version), KI_STR("99")));
    return deltas;
}

static void when_out_of_memory_a_push_fails_and_changes_nothing(void **state)
{
    (void)state;
    ki_object *objects[SCRIPT_KEYS];
    for (int i = 0; i < SCRIPT_KEYS; i++)
        objects[i] = object_of((const char[]){(char)('a' + i), 0}, 7, 0);
    for (size_t n = 1; n == 1 || failing_allocator_has_failed(); n++) {
        ki_delta_fifo fifo;
        fifo_init(&fifo);
        failing_allocator_fail_at(n);
        for (int i = 0; i < SCRIPT_ROUNDS * SCRIPT_KEYS; i++) {
            ki_delta delta = {.change_type = KI_CHANGE_UPDATED, .object = objects[i % SCRIPT_KEYS]};
            push_again(&fifo, delta, KI_STR("7"));
        }
        push_seen_and_end_again(&fifo);
        assert_int_equal(count_deltas_of_all(&fifo), SCRIPT_ROUNDS * SCRIPT_KEYS + 1);
        ki_delta_fifo_fini(&fifo);
    }
    for (int i = 0; i < SCRIPT_KEYS; i++)
        ki_object_unref(objects[i]);
}

/* ---- reused entries ------------------------------------------------------------------------------------ */

static ki_delta_entry *pop_and_clear(ki_delta_fifo *fifo, ki_list *out_done)
{
    ki_list batch;
    ki_resource_version version = {0};
    ki_list_init(&batch);
    assert_int_equal(ki_delta_fifo_pop(fifo, 1, &batch, &version), 1);
    ki_resource_version_clear(&version);
    ki_delta_entry *entry = ki_delta_entry_of(ki_list_pop_front(&batch));
    ki_delta_entry_clear(entry);
    ki_list_push_back(out_done, &entry->node);
    return entry;
}

static void a_returned_entry_is_reused_for_another_key(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list done;
    fifo_init(&fifo);
    ki_list_init(&done);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 2);
    const ki_delta_entry *entry = pop_and_clear(&fifo, &done);
    ki_delta_fifo_give_back(&fifo, &done);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "another", 3);
    assert_ptr_equal(ki_delta_entry_of(ki_list_first(&fifo.queue)), entry);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/another +3", "3");
    ki_delta_fifo_fini(&fifo);
}

static void a_key_that_is_too_long_for_an_entry_gets_a_new_one(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list done;
    char name[200] = {0};
    memset(name, 'n', sizeof(name) - 1);
    fifo_init(&fifo);
    ki_list_init(&done);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    (void)pop_and_clear(&fifo, &done);
    ki_delta_fifo_give_back(&fifo, &done);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, name, 2);
    const ki_delta_entry *entry = ki_delta_entry_of(ki_list_first(&fifo.queue));
    assert_int_equal(entry->key_len, strlen("default/") + strlen(name));
    assert_string_equal(entry->key + strlen("default/"), name);
    assert_int_equal(fifo.spare_count, 0);
    ki_delta_fifo_fini(&fifo);
}

static void only_a_limited_number_of_entries_is_kept_for_reuse(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list done;
    fifo_init(&fifo);
    ki_list_init(&done);
    for (int i = 0; i < 2 * KI_DELTA_FIFO_SPARE_MAX; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        fifo_push_event(&fifo, KI_CHANGE_ADDED, name, (uint64_t)i + 1);
    }
    for (int i = 0; i < 2 * KI_DELTA_FIFO_SPARE_MAX; i++)
        (void)pop_and_clear(&fifo, &done);
    ki_delta_fifo_give_back(&fifo, &done);
    assert_true(ki_list_is_empty(&done));
    assert_int_equal(fifo.spare_count, KI_DELTA_FIFO_SPARE_MAX);
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_returned_entry_is_reused_for_another_key),
        WITH_MEMORY_CHECK(a_key_that_is_too_long_for_an_entry_gets_a_new_one),
        WITH_MEMORY_CHECK(only_a_limited_number_of_entries_is_kept_for_reuse),
        WITH_MEMORY_CHECK(a_queue_full_of_keys_accepts_more_and_has_space_again_at_half),
        WITH_MEMORY_CHECK(the_smallest_queue_has_space_when_it_is_empty),
        WITH_MEMORY_CHECK(a_queue_full_of_bytes_accepts_more_and_has_space_again_at_half),
        WITH_MEMORY_CHECK(a_merged_delete_counts_the_bytes_of_the_one_that_is_kept),
        WITH_MEMORY_CHECK(an_object_that_grows_in_the_queue_does_not_change_the_byte_count),
        WITH_MEMORY_CHECK(when_out_of_memory_a_push_fails_and_changes_nothing),
    };
    return RUN_TESTS(tests);
}
