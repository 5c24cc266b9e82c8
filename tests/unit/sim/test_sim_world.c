/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_world.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static sim_world *world_of_seed(uint64_t seed)
{
    return sim_world_new(&(sim_world_options){.seed = seed, .jumps = 0.2});
}

static void mutate(sim_world *world, int times)
{
    for (int i = 0; i < times; i++)
        sim_world_mutate(world);
}

/* Describes a state as text, so that two states can be compared. */
static void write_state(const sim_world *world, uint64_t version, char *text, size_t bytes)
{
    size_t len = 0;
    text[0] = 0;
    for (uint32_t key = 0; key < sim_world_key_count(world); key++) {
        const sim_record *record = sim_world_object_at(world, key, version);
        if (record == NULL)
            continue;
        sim_object object;
        sim_world_describe(world, record, &object);
        len += (size_t)snprintf(text + len, bytes - len, "%s/%s %s %s %s\n", object.ns, object.name,
                                object.uid, object.version, object.value);
        assert_true(len < bytes);
    }
}

/* The record as a client would see it. */
static ki_object *object_of(const sim_world *world, const sim_record *record, const char *value)
{
    sim_object text;
    char json[512];
    sim_world_describe(world, record, &text);
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s\","
                     "\"resourceVersion\":\"%s\"},\"spec\":{\"value\":\"%s\"}}",
                     text.ns, text.name, text.uid, text.version, value == NULL ? text.value : value);
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    assert_non_null(object);
    return object;
}

static void sim_world_is_determined_by_its_seed(void **state)
{
    (void)state;
    char texts[3][16384];
    for (size_t i = 0; i < 3; i++) {
        sim_world *world = world_of_seed(i < 2 ? 7 : 8);
        mutate(world, 500);
        write_state(world, sim_world_version(world), texts[i], sizeof(texts[i]));
        sim_world_free(world);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_not_equal(texts[0], texts[2]);
}

static void sim_world_history_leads_to_the_current_objects(void **state)
{
    (void)state;
    sim_world *world = world_of_seed(1);
    mutate(world, 500);
    const sim_record *objects[60] = {0};
    uint64_t version = sim_world_first_version(world);
    size_t count = 0;
    for (size_t i = 0; i < sim_world_history_count(world); i++) {
        const sim_record *record = sim_world_history_record(world, i);
        assert_true(record->version > version);
        version = record->version;
        assert_int_equal(objects[record->key] == NULL, record->type == SIM_ADDED);
        if (record->type != SIM_ADDED)
            assert_int_equal(objects[record->key]->uid, record->uid);
        objects[record->key] = record->type == SIM_DELETED ? NULL : record;
    }
    for (uint32_t key = 0; key < 60; key++) {
        assert_ptr_equal(sim_world_object(world, key), objects[key]);
        count += objects[key] != NULL;
    }
    assert_int_equal(sim_world_count(world), count);
    sim_world_free(world);
}

static void sim_world_remembers_earlier_states(void **state)
{
    (void)state;
    char before[16384];
    char again[16384];
    sim_world *world = world_of_seed(2);
    mutate(world, 100);
    uint64_t version = sim_world_version(world);
    write_state(world, version, before, sizeof(before));
    mutate(world, 100);
    write_state(world, version, again, sizeof(again));
    assert_string_equal(before, again);
    write_state(world, sim_world_version(world), again, sizeof(again));
    assert_string_not_equal(before, again);
    sim_world_free(world);
}

static void sim_world_forgets_versions_older_than_its_history(void **state)
{
    (void)state;
    sim_world *world = sim_world_new(&(sim_world_options){.seed = 3, .history_max = 10});
    assert_int_equal(sim_world_forgotten_version(world), 90);
    for (int i = 0; i < 30; i++)
        sim_world_create(world, (uint32_t)i);
    assert_int_equal(sim_world_history_count(world) - sim_world_forgotten_count(world), 10);
    assert_int_equal(sim_world_forgotten_version(world), 110);
    sim_world_compact(world);
    assert_int_equal(sim_world_forgotten_version(world), sim_world_version(world));
    sim_world_free(world);
}

static void sim_world_version_also_advances_for_other_collections(void **state)
{
    (void)state;
    sim_world *world = world_of_seed(4);
    uint64_t version = sim_world_version(world);
    sim_world_tick_other(world);
    assert_true(sim_world_version(world) > version);
    assert_int_equal(sim_world_history_count(world), 0);
    sim_world_free(world);
}

static void sim_world_reset_restores_an_earlier_state(void **state)
{
    (void)state;
    char before[16384];
    char after[16384];
    sim_world *world = world_of_seed(5);
    mutate(world, 100);
    uint64_t version = sim_world_version(world);
    size_t count = sim_world_count(world);
    size_t records = sim_world_history_count(world);
    write_state(world, version, before, sizeof(before));
    mutate(world, 50);
    uint64_t highest = sim_world_version(world);
    sim_world_compact(world);
    sim_world_reset_history(world, sim_world_history_count(world) - records);
    write_state(world, UINT64_MAX, after, sizeof(after));
    assert_string_equal(before, after);
    assert_int_equal(sim_world_version(world), version);
    assert_int_equal(sim_world_forgotten_version(world), version);
    assert_int_equal(sim_world_highest_version(world), highest);
    assert_int_equal(sim_world_count(world), count);
    assert_int_equal(sim_world_epoch(world), 1);
    sim_world_free(world);
}

static void sim_world_reset_beyond_its_history_leaves_it_empty(void **state)
{
    (void)state;
    sim_world *world = world_of_seed(6);
    mutate(world, 10);
    sim_world_reset_history(world, 1000);
    assert_int_equal(sim_world_count(world), 0);
    assert_int_equal(sim_world_version(world), sim_world_first_version(world));
    mutate(world, 10);
    assert_true(sim_world_count(world) > 0);
    sim_world_free(world);
}

static void sim_world_knows_the_epochs_of_an_object(void **state)
{
    (void)state;
    sim_world *world = sim_world_new(&(sim_world_options){.seed = 1});
    sim_world_create(world, 0);
    ki_object *kept = object_of(world, sim_world_object(world, 0), NULL);
    sim_world_create(world, 1);
    ki_object *undone = object_of(world, sim_world_object(world, 1), NULL);
    sim_world_reset_history(world, 1);
    sim_world_create(world, 1);
    ki_object *again = object_of(world, sim_world_object(world, 1), NULL);
    assert_true(ki_str_equal(ki_object_resource_version(undone), ki_object_resource_version(again)));
    const struct {
        ki_object *object;
        int of_first;
        int of_second;
    } expected[] = {{kept, 1, 1}, {undone, 1, 0}, {again, 0, 1}};
    for (size_t i = 0; i < 3; i++) {
        const sim_record *record = sim_world_find(world, expected[i].object);
        assert_non_null(record);
        assert_int_equal(sim_record_is_of_epoch(record, 0), expected[i].of_first);
        assert_int_equal(sim_record_is_of_epoch(record, 1), expected[i].of_second);
        (void)ki_object_unref(expected[i].object);
    }
    sim_world_free(world);
}

static void sim_world_does_not_find_an_object_that_never_existed(void **state)
{
    (void)state;
    sim_world *world = sim_world_new(&(sim_world_options){.seed = 1});
    sim_world_create(world, 3);
    sim_record other = *sim_world_object(world, 3);
    ki_object *object = object_of(world, &other, "v999");
    assert_null(sim_world_find(world, object));
    (void)ki_object_unref(object);
    other.version++;
    object = object_of(world, &other, NULL);
    assert_null(sim_world_find(world, object));
    (void)ki_object_unref(object);
    sim_world_free(world);
}

static void sim_world_lists_its_objects_by_name(void **state)
{
    (void)state;
    sim_world *world = sim_world_new(&(sim_world_options){.namespaces = 2, .names = 2});
    sim_object object;
    uint32_t cursor = 0;
    assert_int_equal(sim_world_next(world, &cursor, &object), 0);
    sim_world_create(world, 1);
    sim_world_create(world, 2);
    cursor = 0;
    assert_int_equal(sim_world_next(world, &cursor, &object), 1);
    assert_string_equal(object.ns, "a");
    assert_string_equal(object.name, "n1");
    assert_int_equal(sim_world_next(world, &cursor, &object), 1);
    assert_int_equal(sim_world_key(world, ki_str_of(object.ns), ki_str_of(object.name)), 2);
    assert_int_equal(sim_world_next(world, &cursor, &object), 0);
    assert_int_equal(sim_world_key(world, KI_STR("c"), KI_STR("n0")), SIM_NONE);
    sim_world_free(world);
}

static void sim_world_updates_each_object_once(void **state)
{
    (void)state;
    sim_world *world = world_of_seed(9);
    mutate(world, 50);
    uint64_t version = sim_world_version(world);
    size_t records = sim_world_history_count(world);
    sim_world_touch_all(world);
    assert_int_equal(sim_world_history_count(world) - records, sim_world_count(world));
    for (uint32_t key = 0; key < sim_world_key_count(world); key++)
        if (sim_world_object(world, key) != NULL)
            assert_true(sim_world_object(world, key)->version > version);
    sim_world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_world_is_determined_by_its_seed),
        cmocka_unit_test(sim_world_history_leads_to_the_current_objects),
        cmocka_unit_test(sim_world_remembers_earlier_states),
        cmocka_unit_test(sim_world_forgets_versions_older_than_its_history),
        cmocka_unit_test(sim_world_version_also_advances_for_other_collections),
        cmocka_unit_test(sim_world_reset_restores_an_earlier_state),
        cmocka_unit_test(sim_world_reset_beyond_its_history_leaves_it_empty),
        cmocka_unit_test(sim_world_knows_the_epochs_of_an_object),
        cmocka_unit_test(sim_world_does_not_find_an_object_that_never_existed),
        cmocka_unit_test(sim_world_lists_its_objects_by_name),
        cmocka_unit_test(sim_world_updates_each_object_once),
    };
    return RUN_TESTS(tests);
}
