/* SPDX-License-Identifier: Apache-2.0 */
/* Copying fields of an object into a buffer. */
#include <kinformer/object.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/object_make.h"
#include "support/unit.h"

enum { FIELDS_MAX = 8, BUFFER_BYTES = 256 };

typedef struct copying {
    const char *pointers[FIELDS_MAX];
    ki_str texts[FIELDS_MAX];
    char buffer[BUFFER_BYTES];
    ki_fields fields;
} copying;

static void copying_add(copying *c, const char *pointer)
{
    c->fields.pointers = c->pointers;
    c->fields.texts = c->texts;
    c->fields.buffer = c->buffer;
    c->fields.buffer_bytes = sizeof(c->buffer);
    c->pointers[c->fields.count++] = pointer;
}

static ki_object *object_of(const char *json, const ki_object_options *options)
{
    ki_object *object = ki_object_new(NULL, ki_str_of(json), options, NULL);
    assert_non_null(object);
    return object;
}

static void fields_are_copied_in_the_order_of_their_pointers(void **state)
{
    (void)state;
    copying c = {0};
    ki_object *object =
        object_of("{\"metadata\":{\"name\":\"n\",\"namespace\":\"ns\"},\"spec\":{\"a\":\"one\","
                  "\"e\":\"\"}}",
                  NULL);
    copying_add(&c, "/spec/a");
    copying_add(&c, "/metadata/namespace");
    copying_add(&c, "/spec/e");
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    (void)ki_object_unref(object);
    assert_string_equal(c.texts[0].ptr, "one"); /* with a NUL, and valid without the object */
    assert_int_equal(c.texts[0].len, 3);
    assert_string_equal(c.texts[1].ptr, "ns");
    assert_non_null(c.texts[2].ptr);
    assert_int_equal(c.texts[2].len, 0);
    assert_int_equal(c.fields.bytes_needed, sizeof("one") + sizeof("ns") + sizeof(""));
}

static void missing_and_null_fields_give_a_zeroed_string(void **state)
{
    (void)state;
    static const char *const pointers[] = {"/spec/none", "/spec/null", "/spec/a/b", "spec", "/metadata/uid"};
    copying c = {0};
    ki_object *object = object_of("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"a\":1,\"null\":null}}", NULL);
    for (size_t i = 0; i < 5; i++)
        copying_add(&c, pointers[i]);
    copying_add(&c, NULL);
    memset(c.texts, 0x55, sizeof(c.texts));
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    for (size_t i = 0; i < 6; i++) {
        assert_null(c.texts[i].ptr);
        assert_int_equal(c.texts[i].len, 0);
    }
    assert_int_equal(c.fields.bytes_needed, 0);
    (void)ki_object_unref(object);
}

static void values_other_than_strings_are_copied_as_json(void **state)
{
    (void)state;
    copying c = {0};
    ki_object *object = object_of(
        "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"}},\"n\":-8.5e3,\"b\":true,\"l\":[1,[]]}",
        NULL);
    copying_add(&c, "/n");
    copying_add(&c, "/b");
    copying_add(&c, "/l");
    copying_add(&c, "/metadata/labels");
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    assert_string_equal(c.texts[0].ptr, "-8.5e3");
    assert_string_equal(c.texts[1].ptr, "true");
    assert_string_equal(c.texts[2].ptr, "[1,[]]");
    assert_string_equal(c.texts[3].ptr, "{\"a\":\"b\"}");
    (void)ki_object_unref(object);
}

static void escapes_are_copied_without_growing_the_object(void **state)
{
    (void)state;
    copying c = {0};
    ki_object *object =
        object_of("{\"metadata\":{\"name\":\"n\"},\"a\":\"\\\"x\\u00e4\\n\",\"z\":\"\\u0000\"}", NULL);
    size_t bytes = ki_object_bytes(object);
    copying_add(&c, "/a");
    copying_add(&c, "/z");
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    assert_string_equal(c.texts[0].ptr, "\"x\xc3\xa4\n");
    assert_int_equal(c.texts[1].len, 1);
    assert_int_equal(c.texts[1].ptr[0], 0);
    assert_int_equal(ki_object_bytes(object), bytes);
    (void)ki_object_unref(object);
}

static void a_projection_does_not_hide_the_identity_of_an_object(void **state)
{
    (void)state;
    static const char *const keep[] = {"/spec", NULL};
    static const char *const pointers[] = {"/metadata/name", "/metadata/namespace",
                                           "/metadata/uid",  "/metadata/resourceVersion",
                                           "/kind",          "/apiVersion"};
    static const char *const expected[] = {"n", "ns", "u", "7", "Pod", "v1"};
    copying c = {0};
    ki_object *object =
        object_of("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"namespace\":"
                  "\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"}}",
                  &(ki_object_options){.keep = keep});
    for (size_t i = 0; i < 6; i++)
        copying_add(&c, pointers[i]);
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(c.texts[i].ptr, expected[i]);
    (void)ki_object_unref(object);
}

static void a_buffer_that_is_too_small_gets_nothing_and_the_size_is_reported(void **state)
{
    (void)state;
    copying c = {0};
    ki_object *object =
        object_of("{\"metadata\":{\"name\":\"n\"},\"a\":\"four\",\"b\":\"\\n\\n\",\"c\":12}", NULL);
    copying_add(&c, "/a");
    copying_add(&c, "/b");
    copying_add(&c, "/c");
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    const size_t needed = c.fields.bytes_needed;
    for (size_t bytes = 0; bytes < needed; bytes++) {
        char *exact = malloc(bytes + 1); /* so that a sanitizer detects a byte too many */
        assert_non_null(exact);
        exact[bytes] = 'x';
        c.fields.buffer = bytes == 0 ? NULL : exact;
        c.fields.buffer_bytes = bytes;
        c.fields.bytes_needed = 0;
        assert_int_equal(ki_object_copy_fields(object, &c.fields), KI_ERR_TOO_LARGE);
        assert_int_equal(c.fields.bytes_needed, needed);
        for (size_t i = 0; i < 3; i++)
            assert_null(c.texts[i].ptr);
        assert_int_equal(exact[bytes], 'x');
        free(exact);
    }
    (void)ki_object_unref(object);
}

static void a_megabyte_is_copied_whole(void **state)
{
    (void)state;
    enum { VALUE_BYTES = 1 << 20 };
    static const char head[] = "{\"metadata\":{\"name\":\"n\"},\"a\":\"";
    char *json = malloc(VALUE_BYTES + 64);
    char *buffer = malloc(VALUE_BYTES + 1);
    assert_true(json != NULL && buffer != NULL);
    strcpy(json, head);
    memset(json + sizeof(head) - 1, 'v', VALUE_BYTES);
    strcpy(json + sizeof(head) - 1 + VALUE_BYTES, "\"}");
    ki_object *object = object_of(json, NULL);
    copying c = {0};
    copying_add(&c, "/a");
    assert_int_equal(ki_object_copy_fields(object, &c.fields), KI_ERR_TOO_LARGE);
    assert_int_equal(c.fields.bytes_needed, VALUE_BYTES + 1);
    c.fields.buffer = buffer;
    c.fields.buffer_bytes = VALUE_BYTES + 1;
    assert_int_equal(ki_object_copy_fields(object, &c.fields), 0);
    assert_int_equal(strspn(c.texts[0].ptr, "v"), VALUE_BYTES);
    (void)ki_object_unref(object);
    free(json);
    free(buffer);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    copying c = {0};
    ki_object *object = object_make(object_of_all_types, NULL);
    copying_add(&c, "/metadata/name");
    c.texts[0] = KI_STR("stale");
    assert_int_equal(ki_object_copy_fields(NULL, &c.fields), KI_ERR_INVALID);
    assert_null(c.texts[0].ptr);
    assert_int_equal(ki_object_copy_fields(object, NULL), KI_ERR_INVALID);
    ki_fields fields = c.fields;
    fields.buffer = NULL;
    assert_int_equal(ki_object_copy_fields(object, &fields), KI_ERR_INVALID);
    fields = c.fields;
    fields.pointers = NULL;
    assert_int_equal(ki_object_copy_fields(object, &fields), KI_ERR_INVALID);
    fields = c.fields;
    fields.texts = NULL;
    assert_int_equal(ki_object_copy_fields(object, &fields), KI_ERR_INVALID);
    assert_int_equal(ki_object_copy_fields(object, &(ki_fields){0}), 0);
    (void)ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(fields_are_copied_in_the_order_of_their_pointers),
        WITH_MEMORY_CHECK(missing_and_null_fields_give_a_zeroed_string),
        WITH_MEMORY_CHECK(values_other_than_strings_are_copied_as_json),
        WITH_MEMORY_CHECK(escapes_are_copied_without_growing_the_object),
        WITH_MEMORY_CHECK(a_projection_does_not_hide_the_identity_of_an_object),
        WITH_MEMORY_CHECK(a_buffer_that_is_too_small_gets_nothing_and_the_size_is_reported),
        WITH_MEMORY_CHECK(a_megabyte_is_copied_whole),
        WITH_MEMORY_CHECK(mistakes_are_refused),
    };
    return RUN_TESTS(tests);
}
