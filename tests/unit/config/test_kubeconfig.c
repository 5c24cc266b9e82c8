/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of valid and invalid kubeconfigs, read from memory. */
#include "config/kubeconfig.h"

#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "support/client/kubeconfig_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* "-----BEGIN X-----\n" */
#define PEM_BASE64 "LS0tLS1CRUdJTiBYLS0tLS0K"
#define PEM "-----BEGIN X-----\n"

/* `user` is in line 10. */
#define WITH_USER(user) KUBECONFIG_HEAD KUBECONFIG_CLUSTER "users:\n- name: u\n  user: " user "\n"
/* `cluster` is in line 7. */
#define WITH_CLUSTER(cluster)                                                                                \
    KUBECONFIG_HEAD "clusters:\n- name: k\n  cluster: " cluster "\nusers: [{name: u}]\n"

static ki_config resolved(const char *text)
{
    ki_config config;
    ki_error err = {0};
    if (kubeconfig_resolve(&config, text, NULL, &err) < 0)
        fail_msg("%s", err.message);
    return config;
}

/* ---- valid kubeconfigs --------------------------------------------------------------------------------- */

static void all_fields_of_a_cluster_are_read(void **state)
{
    (void)state;
    ki_config config =
        resolved(WITH_CLUSTER("{server: 'https://k:6443/prefix/', certificate-authority-data: " PEM_BASE64
                              ", tls-server-name: kube, proxy-url: 'socks5://proxy:1080',"
                              " disable-compression: true}"));
    assert_string_equal(config.server, "https://k:6443/prefix");
    assert_string_equal(config.ca_pem, PEM);
    assert_string_equal(config.tls_server_name, "kube");
    assert_string_equal(config.proxy_url, "socks5://proxy:1080");
    assert_true(config.disable_compression);
    assert_false(config.insecure_skip_tls_verify);
    assert_string_equal(config.context, "c");
    assert_string_equal(config.cluster, "k");
    assert_string_equal(config.user, "u");
    ki_config_fini(&config);
}

static void all_fields_of_a_user_are_read(void **state)
{
    (void)state;
    ki_config config = resolved(WITH_USER(
        "{token: abc, tokenFile: t, client-certificate-data: " PEM_BASE64 ", client-key-data: " PEM_BASE64
        ", as: jane, as-uid: 7, as-groups: [a, b], as-user-extra: {x: [1, 2], y: [3]}}"));
    assert_string_equal(config.token, "abc");
    assert_string_equal(config.token_file, "/etc/kube/t");
    assert_string_equal(config.client_certificate_pem, PEM);
    assert_string_equal(config.client_key_pem, PEM);
    assert_string_equal(config.as, "jane");
    assert_string_equal(config.as_uid, "7");
    assert_string_equal(config.as_groups[1], "b");
    assert_null(config.as_groups[2]);
    assert_int_equal(config.as_extra_count, 3);
    assert_string_equal(config.as_extra[1].name, "x");
    assert_string_equal(config.as_extra[1].value, "2");
    assert_string_equal(config.as_extra[2].name, "y");
    ki_config_fini(&config);
}

static void a_user_may_have_a_name_and_a_password(void **state)
{
    (void)state;
    ki_config config = resolved(WITH_USER("{username: jane, password: 1234}"));
    assert_string_equal(config.username, "jane");
    assert_string_equal(config.password, "1234");
    ki_config_fini(&config);
}

static void all_fields_of_exec_are_read(void **state)
{
    (void)state;
    ki_config config = resolved(WITH_USER(
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plug, args: [a, '', ~],"
        " env: [{name: A, value: b}, {name: C}], installHint: get it, interactiveMode: Never,"
        " provideClusterInfo: true}}"));
    const ki_config_exec *exec = config.exec;
    assert_non_null(exec);
    assert_string_equal(exec->api_version, "client.authentication.k8s.io/v1");
    assert_string_equal(exec->command, "/etc/kube/./bin/plug");
    assert_string_equal(exec->args[0], "a");
    assert_string_equal(exec->args[1], "");
    assert_string_equal(exec->args[2], "");
    assert_null(exec->args[3]);
    assert_int_equal(exec->env_count, 2);
    assert_string_equal(exec->env[0].value, "b");
    assert_string_equal(exec->env[1].name, "C");
    assert_string_equal(exec->env[1].value, "");
    assert_string_equal(exec->install_hint, "get it");
    assert_string_equal(exec->interactive_mode, "Never");
    assert_true(exec->provide_cluster_info);
    assert_null(exec->cluster_config);
    ki_config_fini(&config);
}

static void a_bare_command_is_left_for_path(void **state)
{
    (void)state;
    ki_config config =
        resolved(WITH_USER("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: plug}}"));
    assert_string_equal(config.exec->command, "plug");
    assert_string_equal(config.exec->interactive_mode, "IfAvailable");
    ki_config_fini(&config);
}

static void the_extension_for_plug_ins_becomes_json(void **state)
{
    (void)state;
    ki_config config = resolved(
        KUBECONFIG_HEAD "clusters:\n- name: k\n  cluster:\n    server: https://k\n    extensions:\n"
                        "    - {name: other, extension: 1}\n    - name: client.authentication.k8s.io/exec\n"
                        "      extension: {a: [1, -2.5e3, 0x10, true, ~, '1', \"t\\\"\"], b: {}}\n"
                        "users:\n- name: u\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1,"
                        " command: p, interactiveMode: Never, provideClusterInfo: true}}\n");
    assert_string_equal(config.exec->cluster_config,
                        "{\"a\":[1,-2.5e3,\"0x10\",true,null,\"1\",\"t\\\"\"],\"b\":{}}");
    ki_config_fini(&config);
}

static void a_server_without_a_scheme_gets_one(void **state)
{
    (void)state;
    ki_config plain = resolved(WITH_CLUSTER("{server: 'localhost:8080'}"));
    assert_string_equal(plain.server, "http://localhost:8080");
    ki_config_fini(&plain);
    ki_config tls = resolved(WITH_CLUSTER("{server: 'localhost:8080', insecure-skip-tls-verify: yes}"));
    assert_string_equal(tls.server, "https://localhost:8080");
    ki_config_fini(&tls);
}

static void relative_paths_start_at_the_directory_of_the_file(void **state)
{
    (void)state;
    ki_kubeconfig kubeconfig = {0};
    ki_config config = {0};
    ki_config_origin origin;
    ki_error err = {0};
    const char *text = KUBECONFIG_HEAD
        "clusters:\n- name: k\n  cluster: {server: https://k, certificate-authority: pki/ca.crt}\n"
        "users:\n- name: u\n  user: {client-certificate: ../c.crt, client-key: /abs/k.key}\n";
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, KUBECONFIG_NAME, ki_str_of(text), &err), 0);
    assert_int_equal(ki_config_select(&config, &kubeconfig, &(ki_config_overrides){0}, &origin, &err), 0);
    assert_string_equal(config.ca_file, "/etc/kube/pki/ca.crt");
    assert_string_equal(config.client_certificate_file, "/etc/kube/../c.crt");
    assert_string_equal(config.client_key_file, "/abs/k.key");
    ki_config_fini(&config);
    ki_kubeconfig_fini(&kubeconfig);
}

/* kubectl accepts these, too. */
static void unusual_but_valid_files_are_accepted(void **state)
{
    (void)state;
    static const char *const good[] = {
        WITH_USER("{}"),
        WITH_USER("~"),
        WITH_USER("{unknown: [1, {a: b}], token: ~, username: ''}"),
        "apiVersion: v1\nkind: Config\npreferences: {}\n" WITH_USER("{}"),
        "apiVersion: ''\nkind: ~\n" WITH_USER("{}"),
        "%YAML 1.1\n---\n" WITH_USER("{token: &anchor t}") "...\n",
        "\xef\xbb\xbf" WITH_USER("{token: !!str 7}"),
        "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\"}}],"
        "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"http://k\"}}],\"users\":null}",
        /* Errors in entries that are not selected, except for wrong types. */
        WITH_USER("{}") "- name: other\n  user: {auth-provider: {name: gcp}, exec: {}}\n",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ki_config config;
        ki_error err = {0};
        if (kubeconfig_resolve(&config, good[i], NULL, &err) < 0)
            fail_msg("%s\n%s", good[i], err.message);
        ki_config_fini(&config);
    }
}

static void an_empty_file_has_no_settings(void **state)
{
    (void)state;
    static const char *const empty[] = {
        "", "\n", "# nothing\n", "---\n", "~", "{}", "clusters: []\nusers: ~\n"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        ki_kubeconfig kubeconfig = {0};
        assert_int_equal(ki_kubeconfig_add(&kubeconfig, KUBECONFIG_NAME, ki_str_of(empty[i]), NULL), 0);
        assert_true(ki_kubeconfig_is_empty(&kubeconfig));
        ki_kubeconfig_fini(&kubeconfig);
    }
}

static void the_first_file_with_a_name_wins(void **state)
{
    (void)state;
    ki_kubeconfig kubeconfig = {0};
    ki_config config = {0};
    ki_config_origin origin;
    const char *first =
        "current-context: ''\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: one}}]\n";
    const char *second = "current-context: c\ncontexts: [{name: c, context: {namespace: two}}, {name: d}]\n"
                         "clusters: [{name: k, cluster: {server: https://second}}]\n";
    const char *third = "current-context: d\nclusters: [{name: k, cluster: {server: https://third}}]\n"
                        "users: [{name: u, user: {tokenFile: t}}]\n";
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, "/a/1", ki_str_of(first), NULL), 0);
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, "/b/2", ki_str_of(second), NULL), 0);
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, "/c/3", ki_str_of(third), NULL), 0);
    assert_int_equal(ki_config_select(&config, &kubeconfig, &(ki_config_overrides){0}, &origin, NULL), 0);
    assert_string_equal(config.context, "c");
    assert_string_equal(config.ns, "one");
    assert_string_equal(config.server, "https://second");
    assert_string_equal(config.token_file, "/c/t");
    ki_config_fini(&config);
    ki_kubeconfig_fini(&kubeconfig);
}

/* ---- invalid kubeconfigs ------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *message; /* after KUBECONFIG_NAME */
} bad[] = {
    /* Not YAML, or YAML that is not supported. */
    {"a: b\n  c: d\n", ":2: mapping values are not allowed in this context"},
    {"a: [b\n", ":2: did not find expected ',' or ']'"},
    {"\ta: b\n", ":1: found character that cannot start any token"},
    {"a: \"b", ":1: found unexpected end of stream"},
    {"a: \x01\n", ":1: control characters are not allowed"},
    {"a: \xff\n", ":1: invalid leading UTF-8 octet"},
    {"a: \"\\0\"\n", ":1: a NUL character"},
    {"a: 1\npassword: *s3cret\n", ":2: an alias (*name) without an anchor (&name) before it"},
    {"*x\n", ":1: an alias (*name) without an anchor (&name) before it"},
    {"b: *x\na: &x 1\n", ":1: an alias (*name) without an anchor (&name) before it"},
    {"a: &x\n  b: [1,\n    *x]\n", ":3: an alias (*name) inside the value of its own anchor"},
    {"&x a: 1\n*x : 2\n", ":2: the key \"a\" is already defined in line 1"},
    {"&x [a]: 1\n", ":1: a key that is not plain text"},
    {"a: &x [a]\n*x : 1\n", ":2: a key that is not plain text"},
    {"a: &x {b: 1}\n<<: *x\nb: 2\nb: 3\n", ":4: the key \"b\" is already defined in line 3"},
    {"<<: 1\n", ":1: << needs a mapping or a list of mappings"},
    {"a: &x [{b: 1}]\nc:\n  <<: *x\n", ":3: << needs a mapping or a list of mappings"},
    {"<<: [{a: 1}, 2]\n", ":1: << needs a mapping or a list of mappings"},
    {"a: &x\n  b: 1\n  <<: *x\n", ":3: an alias (*name) inside the value of its own anchor"},
    {"a: 1\nb: 2\na: 3\n", ":3: the key \"a\" is already defined in line 1"},
    {"? [a]\n: b\n", ":1: a key that is not plain text"},
    {"a: !!binary aGk=\n", ":1: a tag that is not supported"},
    {"a: !secret x\n", ":1: a tag that is not supported"},
    {"a: 1\n---\nb: 2\n", ":2: a second document"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", ":1: nested more than 32 levels deep"},
    /* Not a kubeconfig. */
    {"hello\n", ":1: is not a kubeconfig"},
    {"- a\n", ":1: is not a kubeconfig"},
    {"apiVersion: v2\n", ":1: apiVersion: is not v1"},
    {"apiVersion: v1\nkind: Pod\n", ":2: kind: is not Config"},
    {"current-context: [a]\n", ":1: current-context: is not a string"},
    {"clusters: {a: b}\n", ":1: clusters: is not a list"},
    {"\nusers: 7\n", ":2: users: is not a list"},
    {"contexts:\n- a\n", ":2: contexts[0]: is not a mapping"},
    {"contexts:\n- name: a\n- context: {}\n", ":3: contexts[1].name: is missing"},
    {"contexts:\n- name: ''\n", ":2: contexts[0].name: is missing"},
    {"contexts:\n- context: {}\n  name: [a]\n", ":3: contexts[0].name: is not a string"},
    {"users:\n- name: a\n  user: token\n", ":3: users[0].user: is not a mapping"},
    {"users:\n- name: a\n- name: b\n- name: a\n", ":4: users[2].name: \"a\" is already defined in line 2"},
    /* Selecting a context. */
    {"clusters: [{name: k}]\n", ": current-context: is missing, and no context was given"},
    {"kind: Config\ncurrent-context: x\n", ":2: current-context: there is no context \"x\""},
    {"current-context: c\ncontexts:\n- name: c\n", ":3: contexts[0].context.cluster: is missing"},
    {"current-context: c\ncontexts:\n- name: c\n  context:\n    cluster: z\n",
     ":5: contexts[0].context.cluster: there is no cluster \"z\""},
    {KUBECONFIG_HEAD KUBECONFIG_CLUSTER, ":4: contexts[0].context.user: there is no user \"u\""},
    /* Clusters. */
    {WITH_CLUSTER("{}"), ":7: clusters[0].cluster.server: is missing"},
    {WITH_CLUSTER("{server: [https://k]}"), ":7: clusters[0].cluster.server: is not a string"},
    {WITH_CLUSTER("{server: 'ftp://k'}"), ":7: clusters[0].cluster.server: the scheme must be http or https"},
    {WITH_CLUSTER("{server: 'https://'}"), ":7: clusters[0].cluster.server: is not an address: \"https://\""},
    {WITH_CLUSTER("{server: 'https://k:0'}"),
     ":7: clusters[0].cluster.server: is not an address: \"https://k:0\""},
    {WITH_CLUSTER("{server: 'https://k k'}"),
     ":7: clusters[0].cluster.server: is not an address: \"https://k k\""},
    {WITH_CLUSTER("{server: 'https://[::1'}"),
     ":7: clusters[0].cluster.server: is not an address: \"https://[::1\""},
    {WITH_CLUSTER("{server: 'https://jane:s3cret@k k/?token=s3cret'}"),
     ":7: clusters[0].cluster.server: is not an address: \"https://<masked>@k k/…\""},
    {WITH_CLUSTER("{server: 'https://jane:s3cret@k'}"),
     ":7: clusters[0].cluster.server: contains a user name; put it into the users section"},
    {WITH_CLUSTER("{server: 'https://k/?a=b'}"), ":7: clusters[0].cluster.server: contains a query"},
    {WITH_CLUSTER("\n    server: https://k\n    insecure-skip-tls-verify: maybe"),
     ":9: clusters[0].cluster.insecure-skip-tls-verify: is neither true nor false"},
    {WITH_CLUSTER("{server: 'https://k', disable-compression: 'true'}"),
     ":7: clusters[0].cluster.disable-compression: is neither true nor false"},
    {WITH_CLUSTER(
         "{server: 'https://k', insecure-skip-tls-verify: true, certificate-authority-data: " PEM_BASE64 "}"),
     ":7: clusters[0].cluster.insecure-skip-tls-verify: cannot be combined with a certificate authority"},
    {WITH_CLUSTER("{server: 'https://k', certificate-authority: a, certificate-authority-data: " PEM_BASE64
                  "}"),
     ":7: clusters[0].cluster.certificate-authority-data: cannot be combined with certificate-authority"},
    {WITH_CLUSTER("{server: 'https://k', certificate-authority-data: s3cret}"),
     ":7: clusters[0].cluster.certificate-authority-data: is not base64"},
    {WITH_CLUSTER("{server: 'https://k', certificate-authority-data: aGVsbG8=}"),
     ":7: clusters[0].cluster.certificate-authority-data: has no PEM data in its base64"},
    {WITH_CLUSTER("{server: 'https://k', certificate-authority: /nowhere/ca.crt}"),
     ":7: clusters[0].cluster.certificate-authority: cannot be read: No such file or directory"},
    {WITH_CLUSTER("{server: 'https://k', proxy-url: 'ftp://u:s3cret@p'}"),
     ":7: clusters[0].cluster.proxy-url: is not the address of an http, https or socks5 proxy"},
    {WITH_CLUSTER("{server: 'https://k', tls-server-name: kubernetes/x}"),
     ":7: clusters[0].cluster.tls-server-name: is neither a host name nor an address"},
    {WITH_CLUSTER("{server: 'https://k', proxy-url: 'p:3128'}"),
     ":7: clusters[0].cluster.proxy-url: is not the address of an http, https or socks5 proxy"},
    /* Users. */
    {WITH_USER("{token: [s3cret]}"), ":10: users[0].user.token: is not a string"},
    {WITH_USER("{token: s3cret, username: jane}"),
     ":10: users[0].user.token: cannot be combined with username and password"},
    {WITH_USER("{client-certificate-data: " PEM_BASE64 "}"),
     ":10: users[0].user.client-key: is required with the certificate"},
    {WITH_USER("{client-key-data: " PEM_BASE64 "}"),
     ":10: users[0].user.client-certificate: is required with the key"},
    {WITH_USER("{client-certificate: a, client-certificate-data: " PEM_BASE64 ", client-key-data: " PEM_BASE64
               "}"),
     ":10: users[0].user.client-certificate-data: cannot be combined with client-certificate"},
    {WITH_USER("{client-certificate-data: " PEM_BASE64 ", client-key: k, client-key-data: " PEM_BASE64 "}"),
     ":10: users[0].user.client-key-data: cannot be combined with client-key"},
    {WITH_USER("{client-certificate: /nowhere/c, client-key-data: " PEM_BASE64 "}"),
     ":10: users[0].user.client-certificate: cannot be read: No such file or directory"},
    {WITH_USER("{client-certificate-data: " PEM_BASE64 ", client-key: /nowhere/k}"),
     ":10: users[0].user.client-key: cannot be read: No such file or directory"},
    {WITH_USER("{as-groups: [a]}"),
     ":10: users[0].user.as: is required with as-uid, as-groups or as-user-extra"},
    {WITH_USER("{as: a, as-groups: b}"), ":10: users[0].user.as-groups: is not a list"},
    {WITH_USER("{as: a, as-groups: [[b]]}"),
     ":10: users[0].user.as-groups: has an element that is not a string"},
    {WITH_USER("{as: a, as-user-extra: [b]}"), ":10: users[0].user.as-user-extra: is not a mapping"},
    {WITH_USER("{as: a, as-user-extra: {b: c}}"),
     ":10: users[0].user.as-user-extra: has a member that is not a list"},
    {WITH_USER("{as: a, as-user-extra: {b: [{}]}}"),
     ":10: users[0].user.as-user-extra: has an element that is not a string"},
    {WITH_USER("\n    auth-provider:\n      name: gcp\n      config: {access-token: s3cret}"),
     ":11: users[0].user.auth-provider: the provider \"gcp\" is not supported; use its exec plug-in"},
    {WITH_USER("{auth-provider: {config: {}}}"),
     ":10: users[0].user.auth-provider: the provider \"\" is not supported; use its exec plug-in"},
    /* Exec. */
    {WITH_USER("{exec: s3cret}"), ":10: users[0].user.exec: is not a mapping"},
    {WITH_USER("{exec: {}}"), ":10: users[0].user.exec.command: is missing"},
    {WITH_USER("{exec: {command: p}}"), ":10: users[0].user.exec.apiVersion: is missing"},
    {WITH_USER("\n    exec:\n      command: p\n      apiVersion: client.authentication.k8s.io/v1alpha1"),
     ":13: users[0].user.exec.apiVersion: is neither client.authentication.k8s.io/v1 nor v1beta1"},
    {WITH_USER("{exec: {command: p, apiVersion: client.authentication.k8s.io/v1}}"),
     ":10: users[0].user.exec.interactiveMode: is missing"},
    {WITH_USER("{exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: never}}"),
     ":10: users[0].user.exec.interactiveMode: is neither Never nor IfAvailable nor Always"},
    {WITH_USER("{exec: {args: p}}"), ":10: users[0].user.exec.args: is not a list"},
    {WITH_USER("{exec: {env: {a: b}}}"), ":10: users[0].user.exec.env: is not a list"},
    {WITH_USER("{exec: {env: [a]}}"), ":10: users[0].user.exec.env: has an element that is not a mapping"},
    {WITH_USER("{exec: {env: [{value: s3cret}]}}"),
     ":10: users[0].user.exec.env: has an element without a name"},
    {WITH_USER("{exec: {env: [{name: 'a=s3cret'}]}}"),
     ":10: users[0].user.exec.env: has a name that contains '='"},
    {WITH_USER("{exec: {env: [{name: a, value: [s3cret]}]}}"),
     ":10: users[0].user.exec.env: has a value that is not a string"},
    {WITH_USER("{exec: {provideClusterInfo: 1}}"),
     ":10: users[0].user.exec.provideClusterInfo: is neither true nor false"},
};

static void each_error_is_reported_with_file_line_and_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki_config config;
        ki_error err = {0};
        char expected[400];
        int rc = kubeconfig_resolve(&config, bad[i].text, NULL, &err);
        ki_config_fini(&config);
        snprintf(expected, sizeof(expected), KUBECONFIG_NAME "%s", bad[i].message);
        if (rc != KI_ERR_CONFIG || err.code != rc || strcmp(err.message, expected) != 0)
            fail_msg("%s\n%d: %s\ninstead of %s", bad[i].text, rc, err.message, expected);
    }
}

static void no_message_shows_a_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_null(strstr(bad[i].message, "s3cret"));
}

static void a_long_name_of_a_file_is_shown_from_its_end(void **state)
{
    (void)state;
    char path[301];
    ki_error err = {0};
    ki_kubeconfig kubeconfig = {0};
    memset(path, 'x', sizeof(path) - 1);
    memcpy(path + 290, "/my-config", 10);
    path[0] = '/';
    path[300] = 0;
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, path, KI_STR("users: 1"), &err), KI_ERR_CONFIG);
    assert_memory_equal(err.message, "...xxx", 6);
    assert_non_null(strstr(err.message, "/my-config:1: users: is not a list"));
    ki_kubeconfig_fini(&kubeconfig);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void more_than_the_limits_is_refused(void **state)
{
    (void)state;
    kubeconfig_assert_too_much(kubeconfig_repeat("", "k%d: v\n", KI_KUBECONFIG_MEMBERS_MAX + 1),
                               ":1001: a mapping with more than 1000 members");
    kubeconfig_assert_too_much(kubeconfig_repeat("x:\n", "- %d\n", KI_KUBECONFIG_NODES_MAX),
                               ": more than 100000 values");
    kubeconfig_assert_too_much(kubeconfig_repeat("users:\n", "- name: u%d\n", KI_KUBECONFIG_ENTRIES_MAX + 1),
                               ":10002: users: more than 10000");
    kubeconfig_assert_too_much(
        kubeconfig_repeat("", "# 3456789 123456789 123456789 123456789 123456789 123456789 123456789\n",
                          120000),
        ":1: larger than the limit of 8388608 bytes");
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void running_out_of_memory_anywhere_is_an_error(void **state)
{
    (void)state;
    static const char text[] = KUBECONFIG_HEAD
        "clusters:\n- name: k\n  cluster: {server: k, certificate-authority-data: " PEM_BASE64
        ", proxy-url: 'http://p', extensions: [{name: client.authentication.k8s.io/exec, extension: {a: "
        "[1]}}]}\n"
        "users:\n- name: u\n  user: {<<: [{as: x}, {as-uid: &y z}], <<: {token: *y}, &k unknown: *y, token: "
        "t,"
        " tokenFile: f, as: a, as-groups: [b, c], as-user-extra: {d: [e]}, other: {*k : *y},"
        " exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: p, args: [g], env: [{name: h}],"
        " provideClusterInfo: true}}\n";
    const ki_config_overrides overrides = {
        .ns = "n", .as_groups = (const char *const[]){"x", NULL}, .certificate_authority = "/dev/null"};
    for (size_t n = 1;; n++) {
        ki_config config;
        ki_error err = {0};
        failing_allocator_fail_at(n);
        int rc = kubeconfig_resolve(&config, text, &overrides, &err);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        ki_config_fini(&config);
        assert_int_equal(failing_allocator_live_count(), 0);
        if (!has_failed) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    }
}

static void a_copy_is_whole_or_not_there(void **state)
{
    (void)state;
    ki_config config = resolved(
        WITH_USER("{token: t, as: a, as-groups: [b], as-user-extra: {c: [d]}, exec: {interactiveMode: Never,"
                  " apiVersion: client.authentication.k8s.io/v1, command: p, args: [q], env: [{name: r}]}}"));
    size_t before = failing_allocator_live_count();
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        ki_config copy = {0};
        failing_allocator_fail_at(n);
        int rc = ki_config_copy(&copy, &config);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        if (rc == 0) {
            assert_string_equal(copy.exec->args[0], "q");
            assert_string_equal(copy.as_extra[0].value, "d");
            assert_ptr_not_equal(copy.token, config.token);
        }
        ki_config_fini(&copy);
        assert_int_equal(failing_allocator_live_count(), before);
    }
    ki_config_fini(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_of_a_cluster_are_read),
        cmocka_unit_test(all_fields_of_a_user_are_read),
        cmocka_unit_test(a_user_may_have_a_name_and_a_password),
        cmocka_unit_test(all_fields_of_exec_are_read),
        cmocka_unit_test(a_bare_command_is_left_for_path),
        cmocka_unit_test(the_extension_for_plug_ins_becomes_json),
        cmocka_unit_test(a_server_without_a_scheme_gets_one),
        cmocka_unit_test(relative_paths_start_at_the_directory_of_the_file),
        cmocka_unit_test(unusual_but_valid_files_are_accepted),
        cmocka_unit_test(an_empty_file_has_no_settings),
        cmocka_unit_test(the_first_file_with_a_name_wins),
        cmocka_unit_test(each_error_is_reported_with_file_line_and_field),
        cmocka_unit_test(no_message_shows_a_value),
        cmocka_unit_test(a_long_name_of_a_file_is_shown_from_its_end),
        cmocka_unit_test(more_than_the_limits_is_refused),
        WITH_MEMORY_CHECK(running_out_of_memory_anywhere_is_an_error),
        WITH_MEMORY_CHECK(a_copy_is_whole_or_not_there),
    };
    return RUN_TESTS(tests);
}
