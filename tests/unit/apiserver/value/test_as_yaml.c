/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apiserver/value/load.h"
#include "support/apiserver/trees.h"
#include "support/temp_dir.h"
#include "support/unit.h"

static void read_as(const char *text, const char *expected)
{
    struct ki_as_documents documents = {0};
    ki_error err = {0};
    if (ki_as_yaml_parse(ki_str_of(text), "x.yaml", &documents, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    json_decref(documents.places);
    assert_tree(documents.trees, expected);
}

static void refused(const char *text, const char *message)
{
    struct ki_as_documents documents = {0};
    ki_error err = {0};
    assert_int_equal(ki_as_yaml_parse(ki_str_of(text), "x.yaml", &documents, &err), KI_ERR_INVALID);
    assert_null(documents.trees);
    assert_string_equal(err.message, message);
}

/* The results of Kubernetes' own YAML reader. */
static const char *const scalars[][2] = {
    {"y", "true"},
    {"Y", "true"},
    {"n", "false"},
    {"yes", "true"},
    {"Yes", "true"},
    {"YES", "true"},
    {"yEs", "'yEs'"},
    {"on", "true"},
    {"Off", "false"},
    {"true", "true"},
    {"True", "true"},
    {"tRUE", "'tRUE'"},
    {"false", "false"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"NULL", "null"},
    {"nULL", "'nULL'"},
    {"", "null"},
    {"1", "1"},
    {"-1", "-1"},
    {"+1", "1"},
    {"0", "0"},
    {"00", "0"},
    {"01", "1"},
    {"0123", "83"},
    {"-0123", "-83"},
    {"0o17", "15"},
    {"0O17", "15"},
    {"0x1F", "31"},
    {"0X1f", "31"},
    {"-0x1F", "-31"},
    {"0b101", "5"},
    {"1_000", "1000"},
    {"_1", "'_1'"},
    {"1__0", "10"},
    {"1e3", "1000"},
    {"1E3", "1000"},
    {"1.5", "1.5"},
    {"1.", "1"},
    {"0.0", "0"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"+.5", "0.5"},
    {"1.5e+3", "1500"},
    {"1e", "'1e'"},
    {"1e400", "'1e400'"},
    {"1:30", "'1:30'"},
    {"190:20:30", "'190:20:30'"},
    {"2001-12-14", "'2001-12-14'"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808.0"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.0", "1"},
    {"100000000000000000000.0", "100000000000000000000.0"},
    {"=", "'='"},
    {"<<", "'<<'"},
    {"0x", "'0x'"},
    {"0b2", "'0b2'"},
    {"08", "8"},
    {"09.5", "9.5"},
    {"1e-7", "1e-7"},
    {"1e20", "1e20"},
    {"-0", "0"},
    {"685_230.15", "685230.15"},
    {"0x1_F", "31"},
    {"!!str 1", "'1'"},
    {"!!int '3'", "3"},
    {"!!float 1", "1"},
    {"!!bool yes", "true"},
    {"!!binary aGk=", "'hi'"},
    {"!!binary ''", "''"},
    {"'1'", "'1'"},
    {"\"1\"", "'1'"},
    {"! 1", "'1'"},
    {"!!str", "''"},
    {"!foo x", "'x'"},
    {"|\n  a\n  b\n", "'a\\nb\\n'"},
    {">-\n  a\n  b\n", "'a b'"},
    {"'it''s'", "'it\\u0027s'"},
    {"\"\\u263a\\x41\"", "'\\u263aA'"},
    {"[1, a, {b: c}]", "[1,'a',{'b':'c'}]"},
};

static void scalars_are_read_as_by_kubernetes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        char text[128];
        char expected[128];
        (void)snprintf(text, sizeof(text), "a: %s", scalars[i][0]);
        (void)snprintf(expected, sizeof(expected), "[{'a':%s}]", scalars[i][1]);
        read_as(text, expected);
    }
}

static void keys_become_strings(void **state)
{
    (void)state;
    read_as("1: x", "[{'1':'x'}]");
    read_as("true: x", "[{'true':'x'}]");
    read_as("yes: x", "[{'true':'x'}]");
    read_as("1.5: x", "[{'1.5':'x'}]");
    read_as("0x10: x", "[{'16':'x'}]");
    read_as("2001-01-01: x", "[{'2001-01-01':'x'}]");
    read_as("? a\n: b", "[{'a':'b'}]");
    refused("~: x", "x.yaml:1: a key is null");
    refused("[1]: x", "x.yaml:1: a key that is not plain text");
    refused("b: 1\na: 1\na: 2", "x.yaml:3: duplicate key: a");
}

static void aliases_and_merges_are_copied(void **state)
{
    (void)state;
    read_as("a: &x {b: 1}\nc: *x", "[{'a':{'b':1},'c':{'b':1}}]");
    read_as("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", "[{'a':{'b':1},'c':{'b':1,'d':2}}]");
    read_as("a: &x {b: 1, e: 3}\nc:\n  b: 2\n  <<: [*x, {f: 4, e: 5}]",
            "[{'a':{'b':1,'e':3},'c':{'b':1,'e':3,'f':4}}]");
    read_as("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2", "[{'a':{'b':1},'c':{'b':2}}]");
    refused("<<: {a: 1}\na: 2\na: 3", "x.yaml:3: duplicate key: a");
    read_as("<<: {a: 1}\nb: 2", "[{'a':1,'b':2}]");
    read_as("a: &x 1\nb: &x 2\nc: *x", "[{'a':1,'b':2,'c':2}]");
    refused("a: *x", "x.yaml:1: an alias (*name) without an anchor (&name) before it");
    refused("a: &a 1\n---\nb: *a", "x.yaml:3: an alias (*name) without an anchor (&name) before it");
    refused("<<: 1", "x.yaml:1: << needs a mapping or a list of mappings");
}

static void a_small_text_cannot_become_a_large_tree(void **state)
{
    (void)state;
    char text[2048];
    size_t len = (size_t)snprintf(text, sizeof(text), "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                                i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    refused(text, "x.yaml:7: more than 2000000 values");
    char deep[300];
    memset(deep, '[', 200);
    deep[200] = 0;
    refused(deep, "x.yaml:1: nested more than 100 levels deep");
}

static void documents_follow_each_other(void **state)
{
    (void)state;
    read_as("", "[]");
    read_as("# nothing\n", "[]");
    read_as("---\na: 1\n---\n# empty\n---\nb: 2\n...\n", "[{'a':1},{'b':2}]");
    read_as("- 1\n- 2", "[[1,2]]");
    read_as("x", "['x']");
}

static void json_is_read_as_json(void **state)
{
    (void)state;
    read_as("{'a': 1}", "[{'a':1}]");
    read_as(" {\"a\": [true, null, 1.5]}\n{\"b\": \"yes\"}\n", "[{'a':[true,null,1.5]},{'b':'yes'}]");
    read_as("{a: yes}", "[{'a':true}]");
    read_as("[1,\n 2]", "[[1,2]]");
}

static void errors_are_reported_with_their_line(void **state)
{
    (void)state;
    refused("a:\n\tb", "x.yaml:2: found character that cannot start any token");
    refused("a: 1\nb: [1,2", "x.yaml:3: did not find expected ',' or ']'");
    refused("a: .inf", "x.yaml:1: JSON cannot represent this number");
    refused("a: !!binary '?'", "x.yaml:1: !!binary is not base64-encoded UTF-8 text");
    refused("a: !!binary /w==", "x.yaml:1: !!binary is not base64-encoded UTF-8 text");
    refused("a: \"\\0\"", "x.yaml:1: a NUL character");
    refused("kind: List\nitems:\n- |\n  x\n- !!binary aGkA\n", "x.yaml:5: !!binary contains a NUL byte");
    refused("{\"a\": }{", "x.yaml:1: did not find expected <document start>");
}

/* ---- files --------------------------------------------------------------------------------------------- */

static int load(const char *path, ki_as_load_cb take, void *user, ki_error *err)
{
    return ki_as_load_path(path, &(struct ki_as_load){.take = take, .user = user}, err);
}

static int collect(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err)
{
    (void)place;
    (void)err;
    return json_array_append(user, json_object_get(object, "m")) < 0 ? KI_ERR_NO_MEMORY : 0;
}

static void folders_are_read_in_the_order_of_names(void **state)
{
    (void)state;
    temp_dir dir;
    ki_error err = {0};
    json_t *seen = json_array();
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "b.yml", "m: 3\n---\nm: 4\n");
    (void)temp_dir_write(
        &dir, "a.json",
        "{\"kind\":\"List\",\"items\":[{\"m\":1},{\"kind\":\"List\",\"items\":[{\"m\":2}]}]}");
    (void)temp_dir_write(&dir, "c.yaml", "m: 5\n");
    (void)temp_dir_write(&dir, "d.txt", "m: 6\n");
    assert_int_equal(load(dir.path, collect, seen, &err), 0);
    assert_tree(seen, "[1,2,3,4,5]");
    seen = json_array();
    assert_int_equal(load(temp_dir_path(&dir, "d.txt"), collect, seen, &err), 0);
    assert_tree(seen, "[6]");
    temp_dir_remove(&dir);
}

static void folders_in_folders_are_read(void **state)
{
    (void)state;
    temp_dir dir;
    ki_error err = {0};
    json_t *seen = json_array();
    struct ki_as_load all = {.take = collect, .user = seen};
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "a.yaml", "m: 1\n");
    (void)temp_dir_write(&dir, "b/c/d.yaml", "m: 2\n");
    (void)temp_dir_write(&dir, "b/readme.txt", "m: [\n");
    (void)temp_dir_write(&dir, ".git/e.yaml", "m: 3\n");
    (void)temp_dir_write(&dir, "f.json", "{\"m\":4}");
    assert_int_equal(symlink(dir.path, temp_dir_path(&dir, "z")), 0);
    assert_int_equal(ki_as_load_path(dir.path, &all, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "directories are nested too deeply"));
    assert_int_equal(unlink(temp_dir_path(&dir, "z")), 0);
    json_array_clear(seen);
    all.files = 0;
    assert_int_equal(ki_as_load_path(dir.path, &all, &err), 0);
    assert_tree(seen, "[1,2,4]");
    assert_int_equal(all.files, 3);
    temp_dir_remove(&dir);
}

/* "document:line" or "document:line:item", one after the other. */
static int collect_places(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err)
{
    char text[256];
    (void)object;
    (void)err;
    ki_as_load_place_write(place, text, sizeof(text));
    return json_array_append_new(user, json_string(strrchr(text, '/') + 1)) < 0 ? KI_ERR_NO_MEMORY : 0;
}

static void each_object_knows_where_it_comes_from(void **state)
{
    (void)state;
    temp_dir dir;
    ki_error err = {0};
    json_t *seen = json_array();
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "a.yaml",
                         "# first\na: 1\n---\n---\n# third\nkind: List\nitems:\n- {b: 1}\n- {b: 2}\n");
    (void)temp_dir_write(&dir, "b.json", "\n{\"a\":\n1}\n{\"b\":2}");
    assert_int_equal(load(dir.path, collect_places, seen, &err), 0);
    assert_tree(seen,
                "['a.yaml:2: document 1: ','a.yaml:6: document 3, item 1: ','a.yaml:6: document 3, item 2: ',"
                "'b.json:2: document 1: ','b.json:4: document 2: ']");
    temp_dir_remove(&dir);
}

static int collect_kinds(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err)
{
    (void)place;
    (void)err;
    return json_array_append(user, object) < 0 ? KI_ERR_NO_MEMORY : 0;
}

static void items_of_typed_lists_get_their_kind(void **state)
{
    (void)state;
    temp_dir dir;
    ki_error err = {0};
    json_t *seen = json_array();
    temp_dir_make(&dir);
    const char *file =
        temp_dir_write(&dir, "l.yaml", "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n");
    assert_int_equal(load(file, collect_kinds, seen, &err), 0);
    assert_tree(seen, "[{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}}]");
    temp_dir_remove(&dir);
}

static int refuse(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err)
{
    (void)object;
    (void)place;
    (void)user;
    (void)err;
    return KI_ERR_STOPPED;
}

static void failures_end_the_load(void **state)
{
    (void)state;
    temp_dir dir;
    ki_error err = {0};
    temp_dir_make(&dir);
    assert_int_equal(load(temp_dir_path(&dir, "missing"), refuse, NULL, &err), KI_ERR_SYSTEM);
    assert_int_equal(load(temp_dir_write(&dir, "a.yaml", "a: 1"), refuse, NULL, &err), KI_ERR_STOPPED);
    assert_int_equal(load(temp_dir_write(&dir, "b.yaml", "- 1"), refuse, NULL, &err), KI_ERR_INVALID);
    temp_dir_remove(&dir);
}

static bool parses(void *user)
{
    struct ki_as_documents documents = {0};
    int rc = ki_as_yaml_parse(ki_str_of(user), "x", &documents, NULL);
    if (rc != 0)
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
    json_decref(documents.trees);
    json_decref(documents.places);
    return rc == 0;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    static char text[] = "a: &x {b: [1, 2.5, yes], d: !!binary aGk=}\nc:\n  <<: *x\n  1: \"t\"\n---\nd: 1\n";
    assert_survives_no_memory(parses, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_read_as_by_kubernetes),
        cmocka_unit_test(keys_become_strings),
        cmocka_unit_test(aliases_and_merges_are_copied),
        cmocka_unit_test(a_small_text_cannot_become_a_large_tree),
        cmocka_unit_test(documents_follow_each_other),
        cmocka_unit_test(json_is_read_as_json),
        cmocka_unit_test(errors_are_reported_with_their_line),
        cmocka_unit_test(folders_are_read_in_the_order_of_names),
        cmocka_unit_test(folders_in_folders_are_read),
        cmocka_unit_test(each_object_knows_where_it_comes_from),
        cmocka_unit_test(items_of_typed_lists_get_their_kind),
        cmocka_unit_test(failures_end_the_load),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return RUN_TESTS(tests);
}
