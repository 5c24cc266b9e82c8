/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes by path: which objects are found under which value, also with malicious paths and objects. */
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "support/failing_allocator.h"
#include "support/last_record.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

static last_record logged;

/* Adds an object "n" with `rest` after its metadata. */
static void put_rest(ki_store *store, const char *rest)
{
    size_t bytes = strlen(rest) + 64;
    char *json = malloc(bytes);
    assert_non_null(json);
    snprintf(json, bytes, "{\"metadata\":{\"name\":\"n\"},%s}", rest);
    ki_object *object = ki_object_new(NULL, ki_str_of(json), NULL, NULL);
    assert_non_null(object);
    store_put(store, object);
    free(json);
}

/* Checks the values of an object at a path, sorted and without duplicates. */
static void assert_values(const char *path, const char *rest, const char *const *values, size_t count)
{
    ki_store *store = store_begin();
    ki_str_list list = {0};
    assert_int_equal(ki_store_add_index_path(store, "x", path), 0);
    put_rest(store, rest);
    assert_int_equal(ki_store_list_values(store, "x", &list), 0);
    store_assert_texts(&list, values, count);
    assert_int_equal(ki_store_index_failures(store), 0);
    store_end(store);
}

#define ASSERT_VALUES(path, rest, ...)                                                                       \
    assert_values(path, rest, (const char *const[]){__VA_ARGS__},                                            \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define ASSERT_NO_VALUES(path, rest) assert_values(path, rest, NULL, 0)

/* ---- values ------------------------------------------------------------------------------------------ */

static void an_object_is_found_by_the_string_at_a_path(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "node", KI_PATH_NODE), 0);
    put_rest(store, "\"spec\":{\"nodeName\":\"node-1\"}");
    ki_object *object = ki_store_get_one(store, "node", KI_STR("node-1"));
    assert_string_equal(ki_object_key(object), "n");
    (void)ki_object_unref(object);
    put_rest(store, "\"spec\":{\"nodeName\":\"node-2\"}");
    assert_int_equal(store_count_by_index(store, "node", "node-1"), 0);
    assert_int_equal(store_count_by_index(store, "node", "node-2"), 1);
    assert_int_equal(ki_store_remove(store, KI_STR("n")), 0);
    assert_int_equal(store_count_by_index(store, "node", "node-2"), 0);
    store_end(store);
}

static void a_star_stands_for_every_element_and_every_value(void **state)
{
    (void)state;
    ASSERT_VALUES("/status/podIPs/*/ip", "\"status\":{\"podIPs\":[{\"ip\":\"1\"},{\"x\":1},{\"ip\":\"2\"}]}",
                  "1", "2");
    ASSERT_VALUES("/m/*", "\"m\":{\"a\":\"1\",\"b\":\"2\"}", "1", "2");
    ASSERT_VALUES("/m/*/*", "\"m\":{\"a\":[\"1\"],\"b\":{\"c\":\"2\"},\"d\":\"3\"}", "1", "2");
    ASSERT_VALUES("/*", "\"s\":\"text\"", "text");
}

static void numbers_and_booleans_are_indexed_as_json_and_the_rest_is_not(void **state)
{
    (void)state;
    ASSERT_VALUES("/p/*", "\"p\":[8080,-1.5e3,true,false,null,{},[],[1],\"s\"]", "-1.5e3", "8080", "false",
                  "s", "true");
    ASSERT_NO_VALUES("/p", "\"p\":null");
    ASSERT_NO_VALUES("/p", "\"p\":{\"a\":\"b\"}");
    ASSERT_NO_VALUES("/p", "\"p\":[\"a\"]");
    ASSERT_NO_VALUES("/p/q", "\"p\":\"scalar\"");
    ASSERT_NO_VALUES("/p/*", "\"p\":\"scalar\"");
    ASSERT_NO_VALUES("/none/*/x", "\"p\":1");
}

static void the_same_value_twice_counts_once(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "x", "/l/*"), 0);
    put_rest(store, "\"l\":[\"a\",\"a\",\"\\u0061\",\"b\"]");
    assert_int_equal(store_count_by_index(store, "x", "a"), 1);
    put_rest(store, "\"l\":[\"b\",\"b\"]");
    assert_int_equal(store_count_by_index(store, "x", "a"), 0);
    assert_int_equal(ki_store_remove(store, KI_STR("n")), 0);
    assert_int_equal(store_count_by_index(store, "x", "b"), 0);
    assert_int_equal(ki_store_index_failures(store), 0);
    store_end(store);
}

static void empty_strings_are_values(void **state)
{
    (void)state;
    ASSERT_VALUES("/l/*", "\"l\":[\"\",\"a\"]", "", "a");
    ASSERT_VALUES("/", "\"\":\"the member without a name\"", "the member without a name");
}

static void escapes_are_decoded_in_names_and_in_values(void **state)
{
    (void)state;
    ASSERT_VALUES("/a~1b/c~0d", "\"a/b\":{\"c~d\":\"1\"}", "1");
    ASSERT_VALUES("/l/*", "\"l\":[\"\\\"q\\n\",\"\\u00e4\",\"plain\"]", "\"q\n", "plain", "\xc3\xa4");
    ASSERT_VALUES("/a", "\"\\u0061\":\"1\"", "1");
}

static void a_number_is_the_name_of_a_member_and_not_of_an_element(void **state)
{
    (void)state;
    ASSERT_VALUES("/m/0", "\"m\":{\"0\":\"zero\"}", "zero");
    ASSERT_NO_VALUES("/m/0", "\"m\":[\"first\"]");
    ASSERT_NO_VALUES("/m/0/x", "\"m\":[{\"x\":\"first\"}]");
    ASSERT_VALUES("/m/*/0", "\"m\":[{\"0\":\"zero\"},[\"first\"]]", "zero");
}

static void a_star_in_a_name_is_a_character(void **state)
{
    (void)state;
    ASSERT_VALUES("/a*", "\"a*\":\"1\",\"ab\":\"2\"", "1");
    ASSERT_VALUES("/**", "\"**\":\"1\",\"a\":\"2\"", "1");
}

static void an_index_by_path_does_not_grow_objects(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "x", "/s"), 0);
    put_rest(store, "\"s\":\"a\\nb\"");
    ki_object *object = ki_store_get_one(store, "x", KI_STR("a\nb"));
    assert_non_null(object);
    assert_int_equal(ki_object_bytes(object), ki_store_bytes(store));
    (void)ki_object_unref(object);
    store_end(store);
}

/* ---- ready-made paths -------------------------------------------------------------------------------- */

static ki_object *object_with_metadata(const char *metadata)
{
    char json[512];
    snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"n\",%s}}", metadata);
    ki_object *object = ki_object_new(NULL, ki_str_of(json), NULL, NULL);
    assert_non_null(object);
    return object;
}

static void label_names_need_no_escaping(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "name", KI_PATH_LABEL("app.kubernetes.io/name")), 0);
    assert_int_equal(ki_store_add_index_path(store, "odd", KI_PATH_LABEL("~*/")), 0);
    assert_int_equal(ki_store_add_index_path(store, "none", KI_PATH_LABEL("app")), 0);
    store_put(store, object_with_metadata("\"labels\":{\"app.kubernetes.io/name\":\"web\",\"~*/\":\"x\"}"));
    assert_int_equal(store_count_by_index(store, "name", "web"), 1);
    assert_int_equal(store_count_by_index(store, "odd", "x"), 1);
    assert_int_equal(store_count_by_index(store, "none", ""), 0);
    store_end(store);
}

static void owners_are_found_by_their_uid(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "owner", KI_PATH_OWNER_UID), 0);
    store_put(store, object_with_metadata("\"ownerReferences\":[{\"uid\":\"u1\"},{\"uid\":\"u2\"}]"));
    assert_int_equal(store_count_by_index(store, "owner", "u1"), 1);
    assert_int_equal(store_count_by_index(store, "owner", "u2"), 1);
    store_end(store);
}

/* ---- limits and errors ------------------------------------------------------------------------------- */

static void malformed_paths_are_refused_and_named_in_the_log(void **state)
{
    (void)state;
    static const char *const paths[] = {"",    "status", "*",     "label:", "/a/~2",
                                        "/a~", "/~",     "a/b/c", " /a",    "Label:x"};
    ki_store *store = store_begin();
    last_record_begin(&logged);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char quoted[32];
        assert_int_equal(ki_store_add_index_path(store, "x", paths[i]), KI_ERR_INVALID);
        snprintf(quoted, sizeof(quoted), "\"%s\"", paths[i]);
        assert_non_null(strstr(logged.message, quoted));
        assert_non_null(strstr(logged.message, "\"x\""));
    }
    assert_int_equal(ki_store_add_index_path(store, "x", NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index_path(store, NULL, "/a"), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index_path(NULL, "x", "/a"), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index_path(store, KI_INDEX_NAMESPACE, "/a"), KI_ERR_INVALID);
    assert_non_null(strstr(logged.message, "already in use"));
    ki_read_lock();
    assert_int_equal(ki_store_add_index_path(store, "x", "/a"), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    last_record_end();
    assert_int_equal(ki_store_add_index_path(store, "x", "/a"), 0); /* the name is still free */
    store_end(store);
}

static void a_path_has_at_most_32_parts(void **state)
{
    (void)state;
    char path[2 * 33 + 1], rest[256] = "\"a\":";
    for (size_t i = 0; i < 33; i++)
        memcpy(path + 2 * i, i == 0 ? "/a" : "/*", 3);
    ki_store *store = store_begin();
    last_record_begin(&logged);
    assert_int_equal(ki_store_add_index_path(store, "x", path), KI_ERR_INVALID);
    assert_non_null(strstr(logged.message, "too many parts"));
    last_record_end();
    store_end(store);
    path[2 * 32] = 0;
    for (size_t i = 0; i < 31; i++)
        strcat(rest, "[");
    strcat(rest, "\"deep\"");
    for (size_t i = 0; i < 31; i++)
        strcat(rest, "]");
    ASSERT_VALUES(path, rest, "deep");
}

static void arrays_deeper_than_the_path_have_no_value(void **state)
{
    (void)state;
    enum { LEVELS = 900 };
    char *rest = malloc(2 * LEVELS + 32);
    assert_non_null(rest);
    strcpy(rest, "\"a\":");
    size_t at = strlen(rest);
    memset(rest + at, '[', LEVELS);
    memset(rest + at + LEVELS, ']', LEVELS);
    rest[at + 2 * LEVELS] = 0;
    ASSERT_NO_VALUES("/a/*/*", rest);
    free(rest);
}

static void a_value_can_be_a_megabyte_long(void **state)
{
    (void)state;
    enum { VALUE_BYTES = 1 << 20 };
    char *rest = malloc(VALUE_BYTES + 32);
    assert_non_null(rest);
    strcpy(rest, "\"a\":\"");
    memset(rest + 5, 'v', VALUE_BYTES);
    strcpy(rest + 5 + VALUE_BYTES, "\"");
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "x", "/a"), 0);
    put_rest(store, rest);
    ki_object *object = ki_store_get_one_n(store, "x", rest + 5, VALUE_BYTES);
    assert_non_null(object);
    (void)ki_object_unref(object);
    store_end(store);
    free(rest);
}

static void an_object_with_too_much_text_is_not_indexed(void **state)
{
    (void)state;
    enum { VALUES = 17, VALUE_BYTES = 1 << 20, EACH = VALUE_BYTES + 3 };
    char *rest = malloc((size_t)VALUES * EACH + 32);
    assert_non_null(rest);
    strcpy(rest, "\"a\":[");
    size_t at = strlen(rest);
    for (int i = 0; i < VALUES; i++) {
        rest[at] = '"';
        memset(rest + at + 1, 'a' + i, VALUE_BYTES);
        memcpy(rest + at + 1 + VALUE_BYTES, i + 1 < VALUES ? "\"," : "\"]", 3);
        at += EACH;
    }
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "x", "/a/*"), 0);
    last_record_begin(&logged);
    put_rest(store, rest);
    last_record_end();
    free(rest);
    assert_int_equal(logged.count, 1);
    assert_int_equal(ki_store_index_failures(store), 1);
    assert_int_equal(ki_store_count(store), 1);
    put_rest(store, "\"a\":[\"small\"]");
    assert_int_equal(store_count_by_index(store, "x", "small"), 1);
    store_end(store);
}

static void when_out_of_memory_the_store_is_unchanged(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    put_rest(store, "\"l\":[\"\\n1\",\"2\"]");
    int rc = KI_ERR_NO_MEMORY;
    last_record_begin(&logged);
    for (size_t n = 1; rc == KI_ERR_NO_MEMORY; n++) {
        failing_allocator_fail_at(n);
        rc = ki_store_add_index_path(store, "x", "/l/*");
        failing_allocator_fail_at(0);
        store_assert_sound(store);
        assert_true(n < 1000);
    }
    last_record_end();
    assert_int_equal(rc, 0);
    assert_int_equal(store_count_by_index(store, "x", "\n1"), 1);
    store_end(store);
}

/* ---- a whole replacement ------------------------------------------------------------------------------ */

static void a_replaced_store_keeps_its_paths(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index_path(store, "x", "/s"), 0);
    put_rest(store, "\"s\":\"before\"");
    ki_object *object =
        ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"m\"},\"s\":\"after\"}"), NULL, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ki_store_replace(store, &object, 1), 0);
    (void)ki_object_unref(object);
    assert_int_equal(store_count_by_index(store, "x", "before"), 0);
    assert_int_equal(store_count_by_index(store, "x", "after"), 1);
    store_end(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_object_is_found_by_the_string_at_a_path),
        WITH_MEMORY_CHECK(a_star_stands_for_every_element_and_every_value),
        WITH_MEMORY_CHECK(numbers_and_booleans_are_indexed_as_json_and_the_rest_is_not),
        WITH_MEMORY_CHECK(the_same_value_twice_counts_once),
        WITH_MEMORY_CHECK(empty_strings_are_values),
        WITH_MEMORY_CHECK(escapes_are_decoded_in_names_and_in_values),
        WITH_MEMORY_CHECK(a_number_is_the_name_of_a_member_and_not_of_an_element),
        WITH_MEMORY_CHECK(a_star_in_a_name_is_a_character),
        WITH_MEMORY_CHECK(an_index_by_path_does_not_grow_objects),
        WITH_MEMORY_CHECK(label_names_need_no_escaping),
        WITH_MEMORY_CHECK(owners_are_found_by_their_uid),
        WITH_MEMORY_CHECK(malformed_paths_are_refused_and_named_in_the_log),
        WITH_MEMORY_CHECK(a_path_has_at_most_32_parts),
        WITH_MEMORY_CHECK(arrays_deeper_than_the_path_have_no_value),
        WITH_MEMORY_CHECK(a_value_can_be_a_megabyte_long),
        WITH_MEMORY_CHECK(an_object_with_too_much_text_is_not_indexed),
        WITH_MEMORY_CHECK(when_out_of_memory_the_store_is_unchanged),
        WITH_MEMORY_CHECK(a_replaced_store_keeps_its_paths),
    };
    return RUN_TESTS(tests);
}
