/* SPDX-License-Identifier: Apache-2.0 */
/* Which files, variables and overrides are used. */
#include "config/load.h"

#include <kinformer/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"
#include "support/unit.h"

/* A valid certificate as far as that can be checked without cryptography. */
#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"
/* Certificate and key. */
#define PEM_BASE64                                                                                           \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BSXdBQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0KLS0tLS1CRUdJTiBQUk" \
    "lWQVRFIEtFWS0tLS0tCk1BTUNBUUE9Ci0tLS0tRU5EIFBSSVZBVEUgS0VZLS0tLS0K"

static temp_dir dir;

#define USER(fields)                                                                                         \
    "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: web}},"              \
    " {name: d, context: {cluster: l}}]\nclusters: [{name: k, cluster: {server: https://k,"                  \
    " tls-server-name: kube}}, {name: l, cluster: {server: https://l}}]\nusers: [{name: u, user: " fields    \
    "}, {name: v, user: {token: other}}]\n"

static int set_up(void **state)
{
    (void)state;
    static const char *const variables[] = {
        "KUBECONFIG",
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "NO_PROXY",
        "no_proxy",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
    };
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    temp_dir_make(&dir);
    return setenv("HOME", dir.path, 1);
}

static int tear_down(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static int load(ki_config *config, const ki_config_overrides *overrides, ki_error *err)
{
    *config = (ki_config){0};
    return ki_config_load_with(config, overrides, temp_dir_path(&dir, "pod"), err);
}

static ki_config loaded(const ki_config_overrides *overrides)
{
    ki_config config;
    ki_error err = {0};
    if (load(&config, overrides, &err) < 0)
        fail_msg("%s", err.message);
    return config;
}

static void assert_refused(const ki_config_overrides *overrides, const char *format, const char *path)
{
    ki_config config;
    ki_error err = {0};
    char expected[400];
    snprintf(expected, sizeof(expected), "%s%s", path, format);
    assert_int_equal(load(&config, overrides, &err), KI_ERR_CONFIG);
    assert_string_equal(err.message, expected);
    assert_null(config.server);
}

static void assert_server(const ki_config_overrides *overrides, const char *server)
{
    ki_config config = loaded(overrides);
    assert_string_equal(config.server, server);
    ki_config_fini(&config);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void the_file_in_the_home_directory_is_the_default(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{token: t}"));
    ki_config config = loaded(NULL);
    assert_string_equal(config.server, "https://k");
    assert_string_equal(config.token, "t");
    assert_string_equal(config.ns, "web");
    ki_config_fini(&config);
}

static void the_variable_takes_precedence_over_the_home_directory(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{}"));
    temp_dir_write(&dir, "a", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n");
    temp_dir_write(&dir, "sub/b", "clusters: [{name: k, cluster: {server: https://b}}]\n");
    char list[600];
    snprintf(list, sizeof(list), ":%s/nowhere:%s/a::%s/sub/b:%s/a:", dir.path, dir.path, dir.path, dir.path);
    setenv("KUBECONFIG", list, 1);
    assert_server(NULL, "https://b");
}

static void an_explicit_file_takes_precedence(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", "users: broken\n");
    setenv("KUBECONFIG", "/nowhere", 1);
    assert_server(&(ki_config_overrides){.kubeconfig = temp_dir_write(&dir, "mine", USER("{}"))},
                  "https://k");
}

static void an_explicit_file_must_exist(void **state)
{
    (void)state;
    const char *path = temp_dir_path(&dir, "nowhere");
    assert_refused(&(ki_config_overrides){.kubeconfig = path}, ": No such file or directory", path);
    assert_refused(&(ki_config_overrides){.kubeconfig = dir.path}, ": Is a directory", dir.path);
}

static void paths_are_relative_to_the_file_even_if_its_name_is_relative(void **state)
{
    (void)state;
    char before[512];
    assert_non_null(getcwd(before, sizeof(before)));
    temp_dir_write(&dir, "sub/mine", USER("{tokenFile: token}"));
    temp_dir_write(&dir, "sub/token", "t");
    assert_int_equal(chdir(dir.path), 0);
    ki_config config = loaded(&(ki_config_overrides){.kubeconfig = "sub/mine"});
    assert_int_equal(chdir(before), 0);
    assert_int_equal(config.token_file[0], '/');
    assert_non_null(strstr(config.token_file, "/sub/token"));
    ki_config_fini(&config);
}

static void an_error_in_any_of_the_files_is_named(void **state)
{
    (void)state;
    char list[600];
    const char *second = temp_dir_write(&dir, "b", "\nusers: {}\n");
    snprintf(list, sizeof(list), "%s:%s", temp_dir_write(&dir, "a", USER("{}")), second);
    setenv("KUBECONFIG", list, 1);
    assert_refused(NULL, ":2: users: is not a list", second);
}

static void without_any_configuration_the_error_lists_the_options(void **state)
{
    (void)state;
    assert_refused(NULL,
                   "no cluster is configured: there is no kubeconfig ($KUBECONFIG, ~/.kube/config), no "
                   "server was given, and this is not a pod: $KUBERNETES_SERVICE_HOST is not set",
                   "");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    assert_refused(NULL,
                   "no cluster is configured: there is no kubeconfig ($KUBECONFIG, ~/.kube/config), no "
                   "server was given, and this is not a pod: $KUBERNETES_SERVICE_PORT is not set",
                   "");
}

/* ---- overrides ----------------------------------------------------------------------------------------- */

static void a_server_alone_is_enough(void **state)
{
    (void)state;
    ki_config config = loaded(&(ki_config_overrides){.server = "localhost:8001", .token = "t", .ns = "n"});
    assert_string_equal(config.server, "http://localhost:8001");
    assert_string_equal(config.token, "t");
    assert_string_equal(config.ns, "n");
    ki_config_fini(&config);
}

static void context_cluster_and_user_are_chosen_by_name(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, ".kube/config", USER("{}"));
    assert_server(&(ki_config_overrides){.context = "d"}, "https://l");
    assert_server(&(ki_config_overrides){.cluster = "l"}, "https://l");
    ki_config config = loaded(&(ki_config_overrides){.user = "v"});
    assert_string_equal(config.token, "other");
    assert_string_equal(config.user, "v");
    ki_config_fini(&config);
    char expected[300];
    snprintf(expected, sizeof(expected), " in %s", path);
    assert_refused(&(ki_config_overrides){.context = "x"}, expected, "context: there is no context \"x\"");
    assert_refused(&(ki_config_overrides){.cluster = "x"}, expected, "cluster: there is no cluster \"x\"");
    assert_refused(&(ki_config_overrides){.user = "x"}, expected, "user: there is no user \"x\"");
}

static void a_given_server_drops_the_tls_name_of_the_other(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{token: t}"));
    ki_config config = loaded(&(ki_config_overrides){.server = "https://x"});
    assert_string_equal(config.server, "https://x");
    assert_null(config.tls_server_name);
    assert_string_equal(config.token, "t");
    ki_config_fini(&config);
    config = loaded(&(ki_config_overrides){.tls_server_name = "y"});
    assert_string_equal(config.server, "https://k");
    assert_string_equal(config.tls_server_name, "y");
    ki_config_fini(&config);
}

static void given_trust_settings_replace_all_others(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config",
                   "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k,"
                   " cluster: {server: https://k, certificate-authority-data: " PEM_BASE64 "}}]\n");
    ki_config config = loaded(&(ki_config_overrides){.insecure_skip_tls_verify = true});
    assert_null(config.ca_pem);
    assert_true(config.insecure_skip_tls_verify);
    ki_config_fini(&config);
    config = loaded(&(ki_config_overrides){.certificate_authority = temp_dir_write(&dir, "ca", CERTIFICATE)});
    assert_null(config.ca_pem);
    assert_non_null(strstr(config.ca_file, "/ca"));
    ki_config_fini(&config);
}

static void a_given_token_replaces_other_credentials_except_certificates(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config",
                   USER("{username: a, password: b, tokenFile: f, exec: {command: p},"
                        " client-certificate-data: " PEM_BASE64 ","
                        " client-key-data: " PEM_BASE64 "}"));
    ki_config config = loaded(&(ki_config_overrides){.token = "mine"});
    assert_string_equal(config.token, "mine");
    assert_null(config.username);
    assert_null(config.password);
    assert_null(config.token_file);
    assert_null(config.exec);
    assert_non_null(config.client_key_pem);
    ki_config_fini(&config);
}

static void a_given_username_and_password_replace_other_credentials(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{token: t, tokenFile: f, exec: {command: p}}"));
    ki_config config = loaded(&(ki_config_overrides){.username = "me", .password = "s3cret"});
    assert_string_equal(config.username, "me");
    assert_string_equal(config.password, "s3cret");
    assert_null(config.token);
    assert_null(config.token_file);
    assert_null(config.exec);
    ki_config_fini(&config);
    assert_refused(&(ki_config_overrides){.token = "t", .username = "me"},
                   "token: cannot be combined with username and password", "");
}

static void a_given_certificate_replaces_file_and_data(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config",
                   USER("{token: t, client-certificate-data: " PEM_BASE64 ","
                        " client-key: /nowhere}"));
    ki_config config =
        loaded(&(ki_config_overrides){.client_certificate = temp_dir_write(&dir, "crt", CERTIFICATE),
                                      .client_key = temp_dir_write(&dir, "key", KEY)});
    assert_null(config.client_certificate_pem);
    assert_non_null(strstr(config.client_certificate_file, "/crt"));
    assert_non_null(strstr(config.client_key_file, "/key"));
    assert_string_equal(config.token, "t");
    ki_config_fini(&config);
    assert_refused(&(ki_config_overrides){.client_certificate = "/no", .client_key = "/no"},
                   "client-certificate: cannot be read: No such file or directory", "");
}

static void impersonation_can_be_overridden(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{as: a, as-groups: [b]}"));
    ki_config config = loaded(
        &(ki_config_overrides){.as = "x", .as_uid = "7", .as_groups = (const char *const[]){"y", "z", NULL}});
    assert_string_equal(config.as, "x");
    assert_string_equal(config.as_uid, "7");
    assert_string_equal(config.as_groups[1], "z");
    assert_null(config.as_groups[2]);
    ki_config_fini(&config);
    assert_refused(&(ki_config_overrides){.context = "d", .as_groups = (const char *const[]){"y", NULL}},
                   "as: is required with as-uid, as-groups or as-user-extra", "");
    temp_dir_write(&dir, ".kube/config", USER("{}"));
    assert_refused(&(ki_config_overrides){.as_groups = (const char *const[]){"y", NULL}},
                   "as: is required with as-uid, as-groups or as-user-extra", "");
}

static void errors_in_overrides_are_named(void **state)
{
    (void)state;
    assert_refused(&(ki_config_overrides){.server = "https://jane:s3cret@k"},
                   "server: contains a user name; put it into the users section", "");
    assert_refused(&(ki_config_overrides){.server = "https://k", .certificate_authority = "/nowhere"},
                   "certificate-authority: cannot be read: No such file or directory", "");
    assert_refused(&(ki_config_overrides){.server = "https://k",
                                          .certificate_authority = "/dev/null",
                                          .insecure_skip_tls_verify = true},
                   "insecure-skip-tls-verify: cannot be combined with a certificate authority", "");
    assert_refused(&(ki_config_overrides){.server = "https://k", .context = "x"},
                   "context \"x\" not found: there is no kubeconfig", "");
    temp_dir_write(&dir, ".kube/config", USER("{}"));
    assert_refused(
        &(ki_config_overrides){.certificate_authority = "/dev/null", .insecure_skip_tls_verify = true},
        "insecure-skip-tls-verify: cannot be combined with a certificate authority", "");
}

/* ---- contents of files --------------------------------------------------------------------------------- */

static void assert_user_refused(const char *user, const char *expected)
{
    char text[2000];
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: https://k}}]\nusers:\n- name: u\n  user: {%s}\n",
             user);
    const char *path = temp_dir_write(&dir, ".kube/config", text);
    assert_refused(NULL, expected, path);
}

static void files_with_other_contents_are_refused_with_their_field(void **state)
{
    (void)state;
    assert_user_refused("client-certificate: /etc/passwd, client-key: /etc/passwd",
                        ":6: users[0].user.client-certificate: /etc/passwd: has no certificate");
    assert_user_refused("client-certificate-data: " PEM_BASE64 ", client-key: /etc/passwd",
                        ":6: users[0].user.client-key: /etc/passwd: has no private key");
    assert_user_refused("tokenFile: /nowhere/token",
                        ":6: users[0].user.tokenFile: /nowhere/token: No such file or directory");
    assert_user_refused("tokenFile: /dev/null", ":6: users[0].user.tokenFile: /dev/null: is empty");
    assert_refused(&(ki_config_overrides){.server = "https://k", .certificate_authority = "/etc/passwd"},
                   "certificate-authority: /etc/passwd: has no certificate", "");
}

static void a_token_beside_a_missing_file_is_enough(void **state)
{
    (void)state;
    temp_dir_write(&dir, ".kube/config", USER("{token: t, tokenFile: /nowhere}"));
    assert_server(NULL, "https://k");
}

static void a_token_that_is_invalid_in_a_header_is_refused_with_its_field(void **state)
{
    (void)state;
    assert_user_refused("token: \"s3\\ncret\"",
                        ":6: users[0].user.token: contains a character that is not allowed in a header");
    assert_refused(&(ki_config_overrides){.token = "s3 cret"},
                   "token: contains a character that is not allowed in a header", "");
}

/* ---- pods ---------------------------------------------------------------------------------------------- */

static void set_pod(const char *host)
{
    setenv("KUBERNETES_SERVICE_HOST", host, 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    temp_dir_write(&dir, "pod/token", "t");
}

static void a_pod_without_a_kubeconfig_uses_its_service_account(void **state)
{
    (void)state;
    set_pod("10.0.0.1");
    temp_dir_write(&dir, "pod/ca.crt", CERTIFICATE);
    temp_dir_write(&dir, "pod/namespace", "web\n");
    ki_config config = loaded(NULL);
    assert_string_equal(config.server, "https://10.0.0.1:443");
    assert_string_equal(config.token_file, temp_dir_path(&dir, "pod/token"));
    assert_string_equal(config.ca_file, temp_dir_path(&dir, "pod/ca.crt"));
    assert_string_equal(config.ns, "web");
    assert_null(config.token);
    ki_config_fini(&config);
    config = loaded(&(ki_config_overrides){.ns = "other", .token = "mine"});
    assert_string_equal(config.ns, "other");
    assert_null(config.token_file);
    ki_config_fini(&config);
}

static void count_error(const ki_log_record *record, void *user)
{
    int *count = user;
    *count += record->level == KI_LOG_ERROR && strcmp(record->component, "config") == 0 &&
              strstr(record->message, "/pod/ca.crt: No such file or directory: ") != NULL;
}

static void a_pod_may_lack_certificates_and_namespace(void **state)
{
    (void)state;
    int errors = 0;
    set_pod("fd00::1");
    ki_set_log(count_error, KI_LOG_ERROR, &errors);
    ki_config config = loaded(NULL);
    ki_set_log(NULL, KI_LOG_ERROR, NULL);
    assert_int_equal(errors, 1); /* as client-go also logs it */
    assert_string_equal(config.server, "https://[fd00::1]:443");
    assert_null(config.ca_file);
    assert_null(config.ns);
    ki_config_fini(&config);
}

static void a_kubeconfig_takes_precedence_over_the_files_of_a_pod(void **state)
{
    (void)state;
    set_pod("10.0.0.1");
    temp_dir_write(&dir, ".kube/config", USER("{}"));
    assert_server(NULL, "https://k");
    assert_server(&(ki_config_overrides){.server = "https://x"}, "https://x");
}

static void an_empty_kubeconfig_falls_back_to_the_pod(void **state)
{
    (void)state;
    set_pod("10.0.0.1");
    const char *path = temp_dir_write(&dir, ".kube/config", "apiVersion: v1\nkind: Config\n");
    assert_server(NULL, "https://10.0.0.1:443");
    assert_refused(&(ki_config_overrides){.kubeconfig = path},
                   ": current-context: is missing, and no context was given", path);
}

/* ---- proxies ------------------------------------------------------------------------------------------- */

static void the_proxy_of_the_environment_is_the_default(void **state)
{
    (void)state;
    setenv("https_proxy", "jane:s3cret@proxy:3128", 1);
    setenv("NO_PROXY", "other", 1);
    ki_config config = loaded(&(ki_config_overrides){.server = "https://k"});
    assert_string_equal(config.proxy_url, "http://jane:s3cret@proxy:3128");
    ki_config_fini(&config);
    config = loaded(&(ki_config_overrides){.server = "https://other"});
    assert_null(config.proxy_url);
    ki_config_fini(&config);
    config = loaded(&(ki_config_overrides){.server = "http://k"});
    assert_null(config.proxy_url);
    ki_config_fini(&config);
}

static void a_variable_that_is_not_a_proxy_is_named_without_its_value(void **state)
{
    (void)state;
    setenv("HTTPS_PROXY", "ftp://jane:s3cret@proxy", 1);
    assert_refused(&(ki_config_overrides){.server = "https://k"},
                   "$HTTPS_PROXY: is not the address of an http, https or socks5 proxy", "");
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void assert_fails_without_memory(const ki_config_overrides *overrides)
{
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        ki_config config;
        ki_error err = {0};
        failing_allocator_fail_at(n);
        int rc = load(&config, overrides, &err);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        ki_config_fini(&config);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
}

static void running_out_of_memory_for_file_contents_is_an_error(void **state)
{
    (void)state;
    bool has_failed = true;
    set_pod("10.0.0.1");
    temp_dir_write(&dir, "pod/ca.crt", CERTIFICATE);
    failing_allocator_install();
    for (size_t n = 1; has_failed; n++) {
        ki_config config = loaded(NULL);
        failing_allocator_fail_at(n);
        int rc = ki_config_preload_files(&config, NULL);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        assert_int_equal(config.ca_pem != NULL && config.token != NULL, !has_failed);
        ki_config_fini(&config);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    failing_allocator_remove();
}

static void running_out_of_memory_anywhere_is_an_error(void **state)
{
    (void)state;
    failing_allocator_install();
    setenv("https_proxy", "proxy", 1);
    set_pod("10.0.0.1");
    temp_dir_write(&dir, "pod/namespace", "web");
    temp_dir_write(&dir, "pod/ca.crt", CERTIFICATE);
    assert_fails_without_memory(NULL);
    temp_dir_write(&dir, ".kube/config", USER("{token: t}"));
    assert_fails_without_memory(&(ki_config_overrides){.as = "a", .token = "b"});
    char list[300];
    snprintf(list, sizeof(list), "%s/.kube/config:/nowhere", dir.path);
    setenv("KUBECONFIG", list, 1);
    assert_fails_without_memory(&(ki_config_overrides){.server = "k"});
    failing_allocator_remove();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_file_in_the_home_directory_is_the_default),
        TEST(the_variable_takes_precedence_over_the_home_directory),
        TEST(an_explicit_file_takes_precedence),
        TEST(an_explicit_file_must_exist),
        TEST(paths_are_relative_to_the_file_even_if_its_name_is_relative),
        TEST(an_error_in_any_of_the_files_is_named),
        TEST(without_any_configuration_the_error_lists_the_options),
        TEST(a_server_alone_is_enough),
        TEST(context_cluster_and_user_are_chosen_by_name),
        TEST(a_given_server_drops_the_tls_name_of_the_other),
        TEST(given_trust_settings_replace_all_others),
        TEST(a_given_token_replaces_other_credentials_except_certificates),
        TEST(a_given_username_and_password_replace_other_credentials),
        TEST(a_given_certificate_replaces_file_and_data),
        TEST(impersonation_can_be_overridden),
        TEST(errors_in_overrides_are_named),
        TEST(files_with_other_contents_are_refused_with_their_field),
        TEST(a_token_beside_a_missing_file_is_enough),
        TEST(a_token_that_is_invalid_in_a_header_is_refused_with_its_field),
        TEST(a_pod_without_a_kubeconfig_uses_its_service_account),
        TEST(a_pod_may_lack_certificates_and_namespace),
        TEST(a_kubeconfig_takes_precedence_over_the_files_of_a_pod),
        TEST(an_empty_kubeconfig_falls_back_to_the_pod),
        TEST(the_proxy_of_the_environment_is_the_default),
        TEST(a_variable_that_is_not_a_proxy_is_named_without_its_value),
        TEST(running_out_of_memory_for_file_contents_is_an_error),
        TEST(running_out_of_memory_anywhere_is_an_error),
    };
    return RUN_TESTS(tests);
}
