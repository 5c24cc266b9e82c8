/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/object.h"

#include <stdlib.h>
#include <string.h>

#include "apiserver/value/encode.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static const char pod[] = "{\"spec\":{\"nodeName\":\"n\",\"a\":[1,-2,true,false,null,{}]},\"metadata\":{"
                          "\"labels\":{\"b\":\"2\",\"a\":\"\"},"
                          "\"unknown\":1,\"resourceVersion\":\"12\",\"name\":\"p\",\"namespace\":\"ns\","
                          "\"finalizers\":[],\"uid\":\"u\","
                          "\"creationTimestamp\":null},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}";

static struct ki_as_object *object_of(const char *text)
{
    json_t *tree = json_loads(text, 0, NULL);
    assert_non_null(tree);
    const struct ki_as_pair fields[] = {{KI_STR("spec.nodeName"), KI_STR("n")}, {KI_STR("x"), KI_STR("")}};
    struct ki_as_object *object =
        ki_as_object_make(&(struct ki_as_object_parts){.tree = tree, .fields = fields, .field_count = 2});
    json_decref(tree);
    return object;
}

static void assert_text(ki_str text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

static void the_text_has_metadata_first_and_in_order(void **state)
{
    (void)state;
    struct ki_as_object *object = object_of(pod);
    assert_text(object->text,
                "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"12\","
                "\"labels\":{\"b\":\"2\",\"a\":\"\"}},\"spec\":{\"nodeName\":\"n\",\"a\":[1,-2,true,false,"
                "null,{}]}}");
    assert_int_equal(object->text.ptr[-1], '{');
    assert_int_equal(object->text.ptr[object->text.len], '\0');
    ki_as_object_unref(object);
}

static void metadata_can_be_read_directly(void **state)
{
    (void)state;
    struct ki_as_object *object = object_of(pod);
    assert_text(object->name, "p");
    assert_text(object->ns, "ns");
    assert_text(object->uid, "u");
    assert_int_equal(object->version, 12);
    assert_memory_equal(object->text.ptr + object->version_at, "12", object->version_digits);
    assert_int_equal(object->label_count, 2);
    assert_text(object->labels[0].name, "a");
    assert_text(object->labels[0].value, "");
    assert_text(object->labels[1].name, "b");
    assert_text(object->labels[1].value, "2");
    assert_int_equal(object->field_count, 2);
    assert_text(object->fields[0].name, "spec.nodeName");
    assert_text(object->fields[0].value, "n");
    assert_text(object->fields[1].value, "");
    assert_false(object->is_deleting || object->has_finalizers);
    ki_as_object_unref(object);
}

static void escaped_strings_can_be_read_directly(void **state)
{
    (void)state;
    struct ki_as_object *object = object_of("{\"metadata\":{\"name\":\"a\\\"b\",\"labels\":{\"k\\n\":"
                                            "\"v\\\\\",\"a\":\"b\"},\"deletionTimestamp\":"
                                            "\"2020-01-01T00:00:00Z\",\"finalizers\":[\"x\"]}}");
    assert_text(object->name, "a\"b");
    assert_text(object->labels[0].name, "a");
    assert_text(object->labels[0].value, "b");
    assert_text(object->labels[1].name, "k\n");
    assert_text(object->labels[1].value, "v\\");
    assert_text(object->fields[0].value, "n");
    assert_int_equal(object->version, 0);
    assert_int_equal(object->version_digits, 0);
    assert_true(object->is_deleting && object->has_finalizers);
    ki_as_object_unref(object);
}

static void the_tree_has_its_kind_first(void **state)
{
    (void)state;
    struct ki_as_object *object = object_of(pod);
    json_t *tree = ki_as_object_tree(object, "Pod", "v1");
    char *text = json_dumps(tree, JSON_COMPACT);
    assert_int_equal(strncmp(text, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{", 42), 0);
    free(text);
    json_decref(tree);
    ki_as_object_unref(object);
}

/* Field names that are not static; both copies have them. */
static void an_object_may_own_the_names_of_its_fields(void **state)
{
    (void)state;
    json_t *tree = json_loads(pod, 0, NULL);
    char name[] = "spec.color";
    const struct ki_as_pair fields[] = {{ki_str_of(name), KI_STR("red")}, {KI_STR("x"), KI_STR("")}};
    struct ki_as_object *object = ki_as_object_make(&(struct ki_as_object_parts){
        .tree = tree, .fields = fields, .field_count = 2, .has_own_names = true});
    memset(name, '-', sizeof(name));
    assert_text(object->fields[0].name, "spec.color");
    assert_text(object->fields[0].value, "red");
    assert_text(object->fields[1].name, "x");
    struct ki_as_object *copy = ki_as_object_with_version(object, 12345);
    ki_as_object_unref(object);
    assert_in_range(copy->fields[0].name.ptr - copy->text.ptr, 0, copy->block_bytes);
    assert_text(copy->fields[0].name, "spec.color");
    assert_text(copy->fields[0].value, "red");
    assert_text(copy->fields[1].name, "x");
    ki_as_object_unref(copy);
    json_decref(tree);
}

static void another_version_changes_nothing_else(void **state)
{
    (void)state;
    struct ki_as_object *object = object_of(pod);
    const uint64_t versions[] = {7, 99, 1700000000000001};
    for (size_t i = 0; i < 3; i++) {
        struct ki_as_object *copy = ki_as_object_with_version(object, versions[i]);
        json_t *expected = ki_as_object_tree(object, "Pod", "v1");
        json_object_set_new(json_object_get(expected, "metadata"), "resourceVersion",
                            json_sprintf("%llu", (unsigned long long)versions[i]));
        json_t *tree = ki_as_object_tree(copy, "Pod", "v1");
        assert_true(json_equal(tree, expected));
        assert_int_equal(copy->version, versions[i]);
        assert_text(copy->name, "p");
        assert_text(copy->ns, "ns");
        assert_text(copy->uid, "u");
        assert_text(copy->labels[1].name, "b");
        assert_text(copy->labels[1].value, "2");
        assert_text(copy->fields[0].value, "n");
        json_decref(tree);
        json_decref(expected);
        ki_as_object_unref(copy);
    }
    ki_as_object_unref(object);
}

static void assert_encoded(const char *text, const char *expected)
{
    ki_buf buf;
    json_t *tree = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(tree);
    ki_buf_init(&buf, 1000);
    assert_int_equal(ki_as_encode(&buf, tree), 0);
    assert_text(ki_buf_str(&buf), expected);
    ki_buf_fini(&buf);
    json_decref(tree);
}

static void numbers_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    assert_encoded("[0.1, 0.25, 1e3, 3.0, -0.5]", "[0.1,0.25,1000,3,-0.5]");
    assert_encoded("[1.7976931348623157e308, 5e-324, 0.30000000000000004]",
                   "[1.7976931348623157e+308,4.94065645841247e-324,0.30000000000000004]");
    assert_encoded("[9223372036854775807, -9223372036854775808, 0]",
                   "[9223372036854775807,-9223372036854775808,0]");
}

static void strings_are_escaped_only_where_necessary(void **state)
{
    (void)state;
    assert_encoded("\"\\u0001\\b\\t\\n\\f\\r\\\"\\\\/\xc3\xa4\"",
                   "\"\\u0001\\b\\t\\n\\f\\r\\\"\\\\/\xc3\xa4\"");
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    json_t *tree = json_loads(pod, 0, NULL);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        struct ki_as_object *object = ki_as_object_make(&(struct ki_as_object_parts){.tree = tree});
        struct ki_as_object *copy = object == NULL ? NULL : ki_as_object_with_version(object, 1);
        bool has_failed = failing_allocator_has_failed();
        failures += has_failed;
        assert_int_equal(copy == NULL, has_failed);
        ki_as_object_unref(copy);
        ki_as_object_unref(object);
        if (!has_failed)
            break;
    }
    failing_allocator_fail_at(0);
    json_decref(tree);
    assert_int_equal(failures, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_has_metadata_first_and_in_order),
        cmocka_unit_test(metadata_can_be_read_directly),
        cmocka_unit_test(escaped_strings_can_be_read_directly),
        cmocka_unit_test(the_tree_has_its_kind_first),
        cmocka_unit_test(an_object_may_own_the_names_of_its_fields),
        cmocka_unit_test(another_version_changes_nothing_else),
        cmocka_unit_test(numbers_are_written_in_their_shortest_form),
        cmocka_unit_test(strings_are_escaped_only_where_necessary),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
