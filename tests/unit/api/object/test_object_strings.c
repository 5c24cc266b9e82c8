/* SPDX-License-Identifier: Apache-2.0 */
/* Reading strings with escapes from objects, on one thread and on several. */
#include <kinformer/object.h>
#include <stdatomic.h>

#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/store/object_make.h"
#include "support/unit.h"
#include "util/thread.h"

/* ---- strings with escapes ------------------------------------------------------------------------------ */

static void strings_are_unescaped_once_and_stay_valid(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_str quote = {0}, line = {0}, again = {0};
    assert_int_equal(ki_object_annotation(object, KI_STR("quote"), &quote), 0);
    object_assert_text(quote, "\"x\"");
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &line), 0);
    object_assert_text(line, "a\nb");
    object_assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_int_equal(ki_object_get_string(object, "/metadata/annotations/quote", &again), 0);
    assert_ptr_equal(again.ptr, quote.ptr);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &again), 0);
    assert_ptr_equal(again.ptr, line.ptr);
    object_assert_text(quote, "\"x\"");
    ki_object_unref(object);
}

static void strings_without_escapes_are_read_in_place(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_str json = ki_object_json(object), text = {0};
    size_t bytes = ki_object_bytes(object);
    assert_int_equal(ki_object_annotation(object, KI_STR("plain"), &text), 0);
    assert_true(text.ptr > json.ptr && text.ptr < json.ptr + json.len);
    assert_int_equal(ki_object_annotation(object, KI_STR("less"), &text), 0);
    object_assert_text(text, "a<b");
    assert_true(text.ptr > json.ptr && text.ptr < json.ptr + json.len);
    assert_int_equal(ki_object_bytes(object), bytes);
    ki_object_unref(object);
}

static void an_object_grows_once_for_all_its_escapes(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_str text = {0};
    size_t before = ki_object_bytes(object);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), 0);
    size_t after = ki_object_bytes(object);
    assert_true(after > before);
    assert_int_equal(failing_allocator_live_bytes(), after);
    assert_int_equal(failing_allocator_live_count(), 2);
    assert_int_equal(ki_object_annotation(object, KI_STR("quote"), &text), 0);
    object_assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_int_equal(ki_object_bytes(object), after);
    assert_int_equal(failing_allocator_live_count(), 2);
    ki_object_unref(object);
}

static void names_are_strings_too(void **state)
{
    (void)state;
    ki_object *object = object_make("{\"metadata\":{\"name\":\"a\",\"labels\":{\"\\\"\\\\\":\"v\"}}}", NULL);
    ki_json_iter iter = ki_json_iterate(ki_object_labels(object));
    ki_json name, value;
    ki_str text = {0};
    assert_int_equal(ki_json_next(&iter, &name, &value), 1);
    assert_int_equal(ki_object_text(object, name, &text), 0);
    object_assert_text(text, "\"\\");
    assert_int_equal(ki_object_label(object, text, &text), 0);
    object_assert_text(text, "v");
    ki_object_unref(object);
}

static void text_of_another_object_is_refused(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_object *other = object_make(object_of_all_types, NULL);
    ki_str text = KI_STR("unchanged");
    ki_json quote = ki_object_find(other, "/metadata/annotations/quote");
    assert_int_equal(ki_object_text(object, quote, &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_object_find(other, "/metadata/annotations/plain"), &text),
                     KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_json_of(KI_STR("\"plain\"")), &text), KI_ERR_INVALID);
    quote = ki_object_find(object, "/metadata/annotations/quote");
    ki_json inside = {
        {quote.raw.ptr + 2, quote.raw.len - 2}}; /* "x\"", which is not a string of the object */
    assert_int_equal(ki_object_text(object, inside, &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(object, ki_object_find(object, "/spec"), &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_text(object, (ki_json){0}, &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_text(object, quote, NULL), KI_ERR_INVALID);
    object_assert_text(text, "unchanged");
    ki_object_unref(object);
    ki_object_unref(other);
}

static void when_out_of_memory_only_strings_without_escapes_are_read(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_str text = KI_STR("unchanged");
    ki_owner owner = {0};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_annotation(object, KI_STR("plain"), &text), 0);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), KI_ERR_NO_MEMORY);
    object_assert_text(text, "p");
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_get_string(object, "/spec/list/1", &text), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_string(object, "/spec/list/1").len, 0);
    assert_int_equal(ki_object_owner(object, 0, &owner), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_annotation(object, KI_STR("line"), &text), 0);
    object_assert_text(text, "a\nb");
    ki_object_unref(object);
}

static void an_owner_that_runs_out_of_memory_is_an_error(void **state)
{
    (void)state;
    ki_object *object = object_make(
        "{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"name\":\"\\n\",\"controller\":true}]}}", NULL);
    ki_owner owner = {.is_controller = 7};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_owner(object, 0, &owner), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_object_controller(object, &owner), KI_ERR_NO_MEMORY);
    assert_int_equal(owner.is_controller, 7);
    assert_int_equal(ki_object_controller(object, &owner), 0);
    object_assert_text(owner.name, "\n");
    ki_object_unref(object);
}

/* ---- sharing ------------------------------------------------------------------------------------------- */

static void a_copy_is_equal_and_independent(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    ki_str text = {0};
    size_t bytes = ki_object_bytes(object);
    assert_int_equal(ki_object_annotation(object, KI_STR("quote"), &text), 0);
    ki_object *another = ki_object_ref(object);
    ki_object *copy = ki_object_copy(object);
    assert_ptr_not_equal(copy, object);
    assert_int_equal(ki_object_bytes(copy), bytes);
    assert_int_equal(ki_object_equal(copy, object), 1);
    assert_string_equal(ki_object_key(copy), ki_object_key(object));
    assert_true(ki_str_equal(ki_object_kind(copy), ki_object_kind(object)));
    assert_true(ki_str_equal(ki_object_uid(copy), ki_object_uid(object)));
    assert_true(ki_str_equal(ki_object_resource_version(copy), ki_object_resource_version(object)));
    assert_true(ki_str_equal(ki_object_json(copy), ki_object_json(object)));
    ki_object_unref(another);
    ki_object_unref(object);
    assert_int_equal(failing_allocator_live_count(), 1);
    assert_int_equal(ki_object_annotation(copy, KI_STR("quote"), &text), 0);
    object_assert_text(text, "\"x\"");
    failing_allocator_fail_at(1);
    assert_null(ki_object_copy(copy));
    ki_object_unref(copy);
}

static void the_last_reference_frees_the_object(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    assert_ptr_equal(ki_object_ref(object), object);
    assert_null(ki_object_unref(object));
    assert_string_equal(ki_object_key(object), "a");
    object_assert_text(ki_object_string(object, "/spec/list/1"), "\\");
    assert_null(ki_object_unref(object));
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_null(ki_object_ref(NULL));
    assert_null(ki_object_unref(NULL));
}

enum { READERS = 4, ROUNDS = 300 };

typedef struct reader {
    ki_object *object;
    _Atomic int *started;
    const char *line;
    const char *quote;
    size_t bytes;
} reader;

static void read_strings(void *user)
{
    reader *r = user;
    ki_str text = {0};
    atomic_fetch_add(r->started, 1);
    while (atomic_load(r->started) < READERS)
        ;
    r->line = ki_object_string(r->object, "/metadata/annotations/line").ptr;
    if (ki_object_annotation(r->object, KI_STR("quote"), &text) == 0)
        r->quote = text.ptr;
    r->bytes = ki_object_bytes(r->object);
    ki_object_unref(r->object);
}

static void readers_on_several_threads_get_the_same_strings(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        ki_object *object = object_make(object_of_all_types, NULL);
        _Atomic int started = 0;
        ki_thread threads[READERS];
        reader readers[READERS];
        for (int i = 0; i < READERS; i++) {
            readers[i] = (reader){.object = ki_object_ref(object), .started = &started};
            ki_thread_options options = {.name = "reader", .run = read_strings, .user = &readers[i]};
            assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
        }
        for (int i = 0; i < READERS; i++)
            ki_thread_join(&threads[i]);
        assert_memory_equal(readers[0].line, "a\nb", 3);
        assert_memory_equal(readers[0].quote, "\"x\"", 3);
        for (int i = 1; i < READERS; i++) {
            assert_ptr_equal(readers[i].line, readers[0].line);
            assert_ptr_equal(readers[i].quote, readers[0].quote);
            assert_int_equal(readers[i].bytes, readers[0].bytes);
        }
        ki_object_unref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_unescaped_once_and_stay_valid),
        cmocka_unit_test(strings_without_escapes_are_read_in_place),
        WITH_MEMORY_CHECK(an_object_grows_once_for_all_its_escapes),
        cmocka_unit_test(names_are_strings_too),
        cmocka_unit_test(text_of_another_object_is_refused),
        WITH_MEMORY_CHECK(when_out_of_memory_only_strings_without_escapes_are_read),
        WITH_MEMORY_CHECK(an_owner_that_runs_out_of_memory_is_an_error),
        WITH_MEMORY_CHECK(a_copy_is_equal_and_independent),
        WITH_MEMORY_CHECK(the_last_reference_frees_the_object),
        cmocka_unit_test(readers_on_several_threads_get_the_same_strings),
    };
    return RUN_TESTS(tests);
}
