/* SPDX-License-Identifier: Apache-2.0 */
#include "feed/list_buffer.h"

#include "support/failing_allocator.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/alloc.h"

static void put(ki_list_buffer *buffer, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    assert_int_equal(ki_list_buffer_put(buffer, object), 0);
    ki_object_unref(object);
}

static void fill_in(ki_list_buffer *buffer, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    assert_int_equal(ki_list_buffer_fill_in(object, buffer), 0);
    ki_object_unref(object);
}

/* Checks the content in order; the versions identify the objects. */
static void assert_versions(const ki_list_buffer *buffer, const uint64_t *versions, size_t count)
{
    ki_object **objects = NULL;
    size_t n = 0;
    assert_int_equal(ki_list_buffer_objects(buffer, &objects, &n), 0);
    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(object_version(objects[i]), versions[i]);
    ki_free(objects);
}

#define ASSERT_VERSIONS(buffer, ...)                                                                         \
    assert_versions((buffer), (const uint64_t[]){__VA_ARGS__},                                               \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void items_keep_their_order_and_the_last_of_a_key_counts(void **state)
{
    (void)state;
    ki_list_buffer buffer;
    assert_int_equal(ki_list_buffer_init(&buffer), 0);
    assert_versions(&buffer, NULL, 0);
    put(&buffer, "a", 1);
    put(&buffer, "b", 2);
    put(&buffer, "c", 3);
    put(&buffer, "b", 4);
    ASSERT_VERSIONS(&buffer, 1, 4, 3);
    ki_list_buffer_fini(&buffer);
}

static void another_attempt_starts_over(void **state)
{
    (void)state;
    ki_list_buffer buffer;
    assert_int_equal(ki_list_buffer_init(&buffer), 0);
    ki_list_buffer_begin(&buffer, 1);
    put(&buffer, "a", 1);
    ki_list_buffer_begin(&buffer, 1);
    ASSERT_VERSIONS(&buffer, 1);
    ki_list_buffer_begin(&buffer, 2);
    assert_versions(&buffer, NULL, 0);
    ki_list_buffer_fini(&buffer);
}

static void removed_items_are_gone(void **state)
{
    (void)state;
    ki_list_buffer buffer;
    assert_int_equal(ki_list_buffer_init(&buffer), 0);
    put(&buffer, "a", 1);
    put(&buffer, "b", 2);
    assert_int_equal(ki_list_buffer_put_seen(&buffer, KI_STR("default/c")), 0);
    ki_list_buffer_remove(&buffer, KI_STR("default/a"));
    ki_list_buffer_remove(&buffer, KI_STR("default/c"));
    ki_list_buffer_remove(&buffer, KI_STR("default/x"));
    ASSERT_VERSIONS(&buffer, 2);
    assert_int_equal(buffer.seen_count, 0);
    ki_list_buffer_fini(&buffer);
}

static void known_object_replaces_a_key_that_was_only_seen(void **state)
{
    (void)state;
    ki_list_buffer buffer;
    assert_int_equal(ki_list_buffer_init(&buffer), 0);
    put(&buffer, "a", 5);
    assert_int_equal(ki_list_buffer_put_seen(&buffer, KI_STR("default/a")), 0);
    assert_int_equal(ki_list_buffer_put_seen(&buffer, KI_STR("default/b")), 0);
    assert_int_equal(ki_list_buffer_put_seen(&buffer, KI_STR("default/c")), 0);
    assert_int_equal(ki_list_buffer_put_seen(&buffer, KI_STR("default/d")), 0);
    assert_int_equal(buffer.seen_count, 3);
    put(&buffer, "d", 6);
    fill_in(&buffer, "a", 1);
    fill_in(&buffer, "b", 2);
    fill_in(&buffer, "x", 3);
    ASSERT_VERSIONS(&buffer, 5, 2, 6);
    assert_int_equal(buffer.seen_count, 1);
    ki_list_buffer_fini(&buffer);
}

static void when_out_of_memory_nothing_changes(void **state)
{
    (void)state;
    ki_object *a = object_of("a", 1, 0);
    ki_object *b = object_of("b", 2, 0);
    ki_list_buffer buffer;
    ki_object **objects = NULL;
    size_t count = 0;
    assert_int_equal(ki_list_buffer_init(&buffer), 0);
    for (size_t n = 1; n <= 2; n++) { /* the entry, the table */
        failing_allocator_fail_at(n);
        assert_int_equal(ki_list_buffer_put(&buffer, a), KI_ERR_NO_MEMORY);
        failing_allocator_fail_at(n);
        assert_int_equal(ki_list_buffer_put_seen(&buffer, ki_object_key_str(a)), KI_ERR_NO_MEMORY);
    }
    assert_versions(&buffer, NULL, 0);
    assert_int_equal(ki_list_buffer_put(&buffer, a), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_list_buffer_put(&buffer, b), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_list_buffer_objects(&buffer, &objects, &count), KI_ERR_NO_MEMORY);
    assert_null(objects);
    ASSERT_VERSIONS(&buffer, 1);
    ki_list_buffer_fini(&buffer);
    ki_object_unref(a);
    ki_object_unref(b);
}

static void a_zeroed_buffer_can_be_finished(void **state)
{
    (void)state;
    ki_list_buffer buffer = {0};
    ki_list_buffer_fini(&buffer);
    assert_int_equal(buffer.keys.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(items_keep_their_order_and_the_last_of_a_key_counts),
        WITH_MEMORY_CHECK(another_attempt_starts_over),
        WITH_MEMORY_CHECK(removed_items_are_gone),
        WITH_MEMORY_CHECK(known_object_replaces_a_key_that_was_only_seen),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_changes),
        WITH_MEMORY_CHECK(a_zeroed_buffer_can_be_finished),
    };
    return RUN_TESTS(tests);
}
