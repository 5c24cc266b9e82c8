/* SPDX-License-Identifier: Apache-2.0 */
/* One object by an index value, in one call: a reference to it, or copies of its fields. */
#include <kinformer/error.h>
#include <kinformer/store.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

static ki_store *store_of_three(void)
{
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, store_object("ns", "old", 3, "x,y"));
    store_put(store, store_object("ns", "new", 20, "x"));
    store_put(store, store_object("ns", "mid", 10, "x,z"));
    return store;
}

static void get_one_returns_a_reference_outside_a_read_section(void **state)
{
    (void)state;
    ki_store *store = store_of_three();
    ki_object *object = ki_store_get_one(store, "tags", KI_STR("y"));
    assert_string_equal(ki_object_key(object), "ns/old");
    assert_true(store_object_is_shared(object));
    assert_int_equal(ki_store_remove(store, KI_STR("ns/old")), 0);
    assert_string_equal(ki_object_key(object), "ns/old");
    (void)ki_object_unref(object);
    assert_null(ki_store_get_one(store, "tags", KI_STR("y")));
    store_end(store);
}

static void get_one_returns_the_newest_of_several(void **state)
{
    (void)state;
    ki_store *store = store_of_three();
    ki_object *object = ki_store_get_one(store, "tags", KI_STR("x"));
    assert_string_equal(ki_object_key(object), "ns/new");
    (void)ki_object_unref(object);
    store_end(store);
}

static void get_one_of_an_unknown_value_or_index_returns_null(void **state)
{
    (void)state;
    ki_store *store = store_of_three();
    assert_null(ki_store_get_one(store, "tags", KI_STR("none")));
    assert_null(ki_store_get_one(store, "tags", (ki_str){0}));
    assert_null(ki_store_get_one(store, "none", KI_STR("x")));
    assert_null(ki_store_get_one(store, NULL, KI_STR("x")));
    assert_null(ki_store_get_one(NULL, "tags", KI_STR("x")));
    store_end(store);
}

/* ---- copies ---------------------------------------------------------------------------------------- */

static const char *const pointers[] = {"/metadata/name", "/metadata/resourceVersion"};

typedef struct copying {
    ki_str texts[2];
    char buffer[64];
    ki_fields fields;
} copying;

static ki_fields *copying_begin(copying *c)
{
    *c = (copying){.texts = {KI_STR("stale"), KI_STR("stale")}};
    c->fields = (ki_fields){.pointers = pointers,
                            .texts = c->texts,
                            .count = 2,
                            .buffer = c->buffer,
                            .buffer_bytes = sizeof(c->buffer)};
    return &c->fields;
}

static void fields_are_copied_by_key_and_by_index(void **state)
{
    (void)state;
    copying c;
    ki_store *store = store_of_three();
    assert_int_equal(ki_store_copy_one(store, "tags", KI_STR("x"), copying_begin(&c)), 0);
    assert_string_equal(c.texts[0].ptr, "new");
    assert_string_equal(c.texts[1].ptr, "20");
    assert_int_equal(ki_store_copy_key(store, KI_STR("ns/mid"), copying_begin(&c)), 0);
    assert_int_equal(ki_store_replace(store, NULL, 0), 0);
    assert_string_equal(c.texts[0].ptr, "mid");
    assert_string_equal(c.texts[1].ptr, "10");
    store_end(store);
}

static void a_copy_that_finds_nothing_clears_the_texts(void **state)
{
    (void)state;
    copying c;
    ki_store *store = store_of_three();
    assert_int_equal(ki_store_copy_one(store, "tags", KI_STR("none"), copying_begin(&c)), KI_ERR_NOT_FOUND);
    assert_null(c.texts[0].ptr);
    assert_int_equal(ki_store_copy_one(store, "none", KI_STR("x"), copying_begin(&c)), KI_ERR_NOT_FOUND);
    assert_null(c.texts[1].ptr);
    assert_int_equal(ki_store_copy_key(store, KI_STR("ns/none"), copying_begin(&c)), KI_ERR_NOT_FOUND);
    assert_null(c.texts[0].ptr);
    store_end(store);
}

static void a_copy_that_does_not_fit_reports_the_bytes_needed(void **state)
{
    (void)state;
    copying c;
    ki_store *store = store_of_three();
    copying_begin(&c)->buffer_bytes = 6; /* "new" and "20" need 4 and 3 bytes */
    assert_int_equal(ki_store_copy_one(store, "tags", KI_STR("x"), &c.fields), KI_ERR_TOO_LARGE);
    assert_int_equal(c.fields.bytes_needed, 7);
    assert_null(c.texts[0].ptr);
    store_end(store);
}

static void a_copy_without_a_store_an_index_or_fields_is_refused(void **state)
{
    (void)state;
    copying c;
    ki_store *store = store_of_three();
    assert_int_equal(ki_store_copy_key(NULL, KI_STR("a"), copying_begin(&c)), KI_ERR_INVALID);
    assert_null(c.texts[0].ptr);
    assert_int_equal(ki_store_copy_one(NULL, "tags", KI_STR("x"), copying_begin(&c)), KI_ERR_INVALID);
    assert_null(c.texts[0].ptr);
    assert_int_equal(ki_store_copy_one(store, NULL, KI_STR("x"), copying_begin(&c)), KI_ERR_INVALID);
    assert_null(c.texts[0].ptr);
    assert_int_equal(ki_store_copy_one(store, "tags", KI_STR("x"), NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_copy_key(store, KI_STR("ns/none"), NULL), KI_ERR_INVALID);
    store_end(store);
}

/* ---- a pointer and a length ------------------------------------------------------------------------ */

static void a_pointer_and_a_length_work_like_a_string(void **state)
{
    (void)state;
    static const char key[] = "ns/middle", value[] = "yes"; /* longer than the lengths passed */
    copying c;
    ki_store *store = store_of_three();
    ki_object *by_key = ki_store_get_key_n(store, key, 6);
    ki_object *by_value = ki_store_get_one_n(store, "tags", value, 1);
    assert_string_equal(ki_object_key(by_key), "ns/mid");
    assert_string_equal(ki_object_key(by_value), "ns/old");
    ki_read_lock();
    assert_ptr_equal(ki_store_peek_key_n(store, key, 6), by_key);
    assert_ptr_equal(ki_store_peek_one_n(store, "tags", value, 1), by_value);
    ki_read_unlock();
    assert_int_equal(ki_store_copy_key_n(store, key, 6, copying_begin(&c)), 0);
    assert_string_equal(c.texts[0].ptr, "mid");
    assert_int_equal(ki_store_copy_one_n(store, "tags", value, 1, copying_begin(&c)), 0);
    assert_string_equal(c.texts[0].ptr, "old");
    (void)ki_object_unref(by_key);
    (void)ki_object_unref(by_value);
    assert_null(ki_store_get_key_n(store, NULL, 6));
    assert_null(ki_store_get_one_n(store, "tags", NULL, 1));
    store_end(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(get_one_returns_a_reference_outside_a_read_section),
        WITH_MEMORY_CHECK(get_one_returns_the_newest_of_several),
        WITH_MEMORY_CHECK(get_one_of_an_unknown_value_or_index_returns_null),
        WITH_MEMORY_CHECK(fields_are_copied_by_key_and_by_index),
        WITH_MEMORY_CHECK(a_copy_that_finds_nothing_clears_the_texts),
        WITH_MEMORY_CHECK(a_copy_that_does_not_fit_reports_the_bytes_needed),
        WITH_MEMORY_CHECK(a_copy_without_a_store_an_index_or_fields_is_refused),
        WITH_MEMORY_CHECK(a_pointer_and_a_length_work_like_a_string),
    };
    return RUN_TESTS(tests);
}
