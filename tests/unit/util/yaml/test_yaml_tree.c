/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a tree: lines, aliases, merge keys, and limits. The meaning of values is tested in
 * tests/unit/config/test_kubeconfig.c and tests/unit/apiserver/value/test_as_yaml.c. */
#include "util/yaml/yaml_tree.h"

#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

enum { SHOWN_BYTES = 1024 };

static const ki_yaml_rules rules = {.bytes_max = 400, .nodes_max = 20, .depth_max = 4, .members_max = 5};

/* ---- a tree as text ------------------------------------------------------------------------------------ */

typedef struct shown {
    char text[SHOWN_BYTES];
    size_t len;
} shown;

static void put(shown *out, const char *text)
{
    size_t n = strlen(text);
    assert_true(n < sizeof(out->text) - out->len);
    memcpy(out->text + out->len, text, n + 1);
    out->len += n;
}

static void put_node(shown *out, const ki_yaml_node *node, int has_lines)
{
    static const char *const ends[][2] = {
        [KI_YAML_SCALAR] = {"", ""}, [KI_YAML_MAPPING] = {"{", "}"}, [KI_YAML_SEQUENCE] = {"[", "]"}};
    char line[32] = "";
    if (has_lines)
        (void)snprintf(line, sizeof(line), "@%zu", node->line);
    if (node->key != NULL) {
        put(out, node->key);
        put(out, "=");
    }
    put(out, ends[node->kind][0]);
    if (node->kind == KI_YAML_SCALAR)
        put(out, node->text);
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next) {
        put_node(out, child, has_lines);
        if (child->next != NULL)
            put(out, " ");
    }
    put(out, ends[node->kind][1]);
    put(out, line);
}

static void reads(const char *text, const ki_yaml_rules *with, int has_lines, const char *expected)
{
    ki_yaml_node *root = NULL;
    ki_yaml_mistake mistake = {0};
    shown out = {.len = 0};
    int rc = ki_yaml_parse(ki_str_of(text), with, &root, &mistake);
    if (rc != 0)
        fail_msg("%s: line %zu: %s", text, mistake.line, mistake.error.message);
    for (const ki_yaml_node *node = root; node != NULL; node = node->next) {
        put_node(&out, node, has_lines);
        if (node->next != NULL)
            put(&out, "; ");
    }
    assert_string_equal(out.text, expected);
    ki_yaml_free(root);
}

static void refuses(const char *text, const ki_yaml_rules *with, size_t line, const char *message)
{
    ki_yaml_node *root = NULL;
    ki_yaml_mistake mistake = {0};
    assert_int_equal(ki_yaml_parse(ki_str_of(text), with, &root, &mistake), KI_ERR_CONFIG);
    assert_null(root);
    assert_string_equal(mistake.error.message, message);
    assert_int_equal(mistake.line, line);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void nodes_have_lines(void **state)
{
    (void)state;
    reads("a: 1\nb:\n  - x\n  - {c: d}\n", &rules, 1, "{a=1@1 b=[x@3 {c=d@4}@4]@2}@1");
    reads("", &rules, 0, "");
    reads("# nothing\n", &rules, 0, "");
}

static void aliases_are_copies(void **state)
{
    (void)state;
    reads("a: &x {b: c}\nd: *x\n", &rules, 0, "{a={b=c} d={b=c}}");
    refuses("a: *x\n", &rules, 1, "an alias (*name) without an anchor (&name) before it");
    refuses("a: &x\n  b: *x\n", &rules, 2, "an alias (*name) inside the value of its own anchor");
}

static void merged_members_do_not_replace_later_ones(void **state)
{
    (void)state;
    reads("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", &rules, 0, "{a={b=1 c=2} d={b=1 c=3}}");
    reads("a: &x {b: 1}\nd: &y {b: 2}\ne:\n  <<: [*x, *y]\n", &rules, 0, "{a={b=1} d={b=2} e={b=1}}");
}

static void limits_are_enforced(void **state)
{
    (void)state;
    char text[512];
    memset(text, 'a', sizeof(text));
    text[401] = 0;
    refuses(text, &rules, 1, "larger than the limit of 400 bytes");
    refuses("[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0]", &rules, 1, "more than 20 values");
    refuses("[[[[[1]]]]]", &rules, 1, "nested more than 4 levels deep");
    refuses("{a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}", &rules, 1, "a mapping with more than 5 members");
}

/* A short text with nested aliases counts as many values as if it were written out. */
static void copies_count_towards_the_limit(void **state)
{
    (void)state;
    refuses("a: &a [1,2,3,4]\nb: &b [*a,*a]\nc: [*b,*b]\n", &rules, 3, "more than 20 values");
    refuses("a: &a [[1]]\nb: [[*a]]\n", &rules, 2, "nested more than 4 levels deep");
}

static void keys_are_text_and_not_repeated(void **state)
{
    (void)state;
    ki_yaml_rules any = rules;
    any.members_max = 0;
    refuses("a: 1\na: 2\n", &rules, 2, "the key \"a\" is already defined in line 1");
    reads("a: 1\na: 2\n", &any, 0, "{a=1 a=2}");
    refuses("{[1]: 2}\n", &rules, 1, "a key that is not plain text");
    refuses("a: \"\\0\"\n", &rules, 1, "a NUL character");
}

static void several_documents_are_allowed_by_option(void **state)
{
    (void)state;
    ki_yaml_rules open = rules;
    open.is_open = true;
    refuses("a: 1\n---\nb: 2\n", &rules, 2, "a second document");
    reads("a: 1\n---\nb: 2\n", &open, 0, "{a=1}; {b=2}");
    refuses("a: !mine 1\n", &rules, 1, "a tag that is not supported");
    reads("a: !mine 1\n", &open, 0, "{a=1}");
}

static void members_and_words_are_found(void **state)
{
    (void)state;
    ki_yaml_node *root = NULL;
    ki_yaml_mistake mistake = {0};
    bool value = false;
    assert_int_equal(ki_yaml_parse(KI_STR("{a: ~, b: 'null', c: yes, d: 'yes'}"), &rules, &root, &mistake),
                     0);
    assert_true(ki_yaml_is_null(ki_yaml_member(root, "a")));
    assert_false(ki_yaml_is_null(ki_yaml_member(root, "b")));
    assert_true(ki_yaml_is_bool(ki_yaml_member(root, "c"), &value) && value);
    assert_false(ki_yaml_is_bool(ki_yaml_member(root, "d"), &value));
    assert_null(ki_yaml_member(root, "e"));
    assert_null(ki_yaml_member(ki_yaml_member(root, "a"), "a"));
    ki_yaml_free(root);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    int rc = KI_ERR_NO_MEMORY;
    size_t n = 0;
    while (rc == KI_ERR_NO_MEMORY) {
        ki_yaml_node *root = NULL;
        ki_yaml_mistake mistake = {0};
        failing_allocator_fail_at(++n);
        rc = ki_yaml_parse(KI_STR("a: &x {b: [1, 2]}\nd:\n  <<: *x\ne: *x\n"), &rules, &root, &mistake);
        assert_int_equal(root == NULL, rc < 0);
        ki_yaml_free(root);
    }
    assert_int_equal(rc, 0);
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_lines),
        cmocka_unit_test(aliases_are_copies),
        cmocka_unit_test(merged_members_do_not_replace_later_ones),
        cmocka_unit_test(limits_are_enforced),
        cmocka_unit_test(copies_count_towards_the_limit),
        cmocka_unit_test(keys_are_text_and_not_repeated),
        cmocka_unit_test(several_documents_are_allowed_by_option),
        cmocka_unit_test(members_and_words_are_found),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
