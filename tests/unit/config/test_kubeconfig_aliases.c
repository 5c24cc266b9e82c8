/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors, aliases and merge keys in kubeconfigs: their meaning and their limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/kubeconfig.h"
#include "support/client/kubeconfig_rig.h"
#include "support/unit.h"

/* All of these users are the same, written in different ways. */
static void anchors_aliases_and_merges_are_read_as_by_kubectl(void **state)
{
    (void)state;
    static const char *const users[] = {
        "{token: &x t, as: *x}",
        "{&x token: t, as: t, unknown: *x}",
        "{unknown: &x token, *x : t, as: t}",
        "{unknown: &x old, other: &x t, token: *x, as: *x}",
        "{unknown: &x {token: t, as: t}, <<: *x}",
        "{unknown: &x {token: t}, <<: [*x, {token: no, as: t}]}",
        "{<<: {token: no, as: t}, token: t}",
        "{as: t, token: no, <<: {token: t}}",
        "{<<: {token: no}, as: no, <<: {token: t, as: t}}",
        "{<<: {<<: {token: t}, as: t}}",
        "{'<<': 1, token: t, as: t}",
        "{unknown: &x {token: t, unknown: {}}, <<: *x, as: t}",
        "{unknown: &x [&y t, *y, {a: *y}], other: [*x, *x], token: *y, as: *y, <<: [], <<: {}}",
        "{unknown: {a: &x t}, <<: {unknown: 1}, token: *x, as: *x}",
    };
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        char text[512];
        ki_config config;
        ki_error err = {0};
        (void)snprintf(text, sizeof(text), "%s  user: %s\n",
                       KUBECONFIG_HEAD KUBECONFIG_CLUSTER "users:\n- name: u\n", users[i]);
        if (kubeconfig_resolve(&config, text, NULL, &err) < 0)
            fail_msg("%s\n%s", users[i], err.message);
        assert_string_equal(config.token, "t");
        assert_string_equal(config.as, "t");
        ki_config_fini(&config);
    }
}

/* The error is reported in line 6, where the value is, not where it is merged. */
static void an_error_in_a_merged_value_is_reported_at_its_line(void **state)
{
    (void)state;
    ki_config config;
    ki_error err = {0};
    const char *text =
        KUBECONFIG_HEAD "x-base: &base\n  insecure-skip-tls-verify: 7\nclusters:\n- name: k\n  cluster:\n"
                        "    <<: *base\n    server: https://k\nusers:\n- name: u\n";
    assert_int_equal(kubeconfig_resolve(&config, text, NULL, &err), KI_ERR_CONFIG);
    assert_string_equal(err.message,
                        KUBECONFIG_NAME ":6: clusters[0].cluster.insecure-skip-tls-verify: is neither "
                                        "true nor false");
    ki_config_fini(&config);
}

/* Each line has ten times as many values as the previous one. */
static char *bomb(const char *first, const char *format, int lines)
{
    char *text = malloc(64 * 1024);
    assert_non_null(text);
    size_t len = (size_t)snprintf(text, 64 * 1024, "%s", first);
    for (int i = 1; i <= lines; i++) {
        len += (size_t)snprintf(text + len, 64 * 1024 - len, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            len += (size_t)snprintf(text + len, 64 * 1024 - len, format, i - 1);
        len += (size_t)snprintf(text + len, 64 * 1024 - len, "]\n");
    }
    return text;
}

static void a_small_text_cannot_become_a_large_tree(void **state)
{
    (void)state;
    static char long_text[20 * 1024] = "a0: &a0 ";
    char nested[256] = "a0: &a0 ";
    memset(long_text + 8, 'x', sizeof(long_text) - 10);
    long_text[sizeof(long_text) - 2] = '\n';
    kubeconfig_assert_too_much(bomb("a0: &a0 x\n", "*a%d, ", 9), ":6: more than 100000 values");
    kubeconfig_assert_too_much(bomb(long_text, "*a%d, ", 9),
                               ":4: aliases that expand to more than 8388608 bytes");
    memset(nested + 8, '[', 25);
    memset(nested + 33, ']', 25);
    (void)snprintf(nested + 58, sizeof(nested) - 58, "\na1: [[[[[[*a0]]]]]]\na2: [[[[[[[*a0]]]]]]]\n");
    kubeconfig_assert_too_much(strdup(nested), ":3: nested more than 32 levels deep");
    kubeconfig_assert_too_much(kubeconfig_repeat("x:\n", "- &a%d 1\n", KI_YAML_ANCHORS_MAX + 1),
                               ":1002: more than 1000 anchors (&name)");
}

static void a_merge_keeps_to_the_limit_of_members(void **state)
{
    (void)state;
    char *text = kubeconfig_repeat("x: &x\n", "  k%d: v\n", KI_KUBECONFIG_MEMBERS_MAX);
    size_t len = strlen(text);
    text = realloc(text, len + 64);
    assert_non_null(text);
    (void)snprintf(text + len, 64, "y: {<<: *x, k7: 1}\nz:\n  a: 1\n  <<: *x\n");
    kubeconfig_assert_too_much(text, ":1005: a mapping with more than 1000 members");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anchors_aliases_and_merges_are_read_as_by_kubectl),
        cmocka_unit_test(an_error_in_a_merged_value_is_reported_at_its_line),
        cmocka_unit_test(a_small_text_cannot_become_a_large_tree),
        cmocka_unit_test(a_merge_keeps_to_the_limit_of_members),
    };
    return RUN_TESTS(tests);
}
