/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_info.h"

#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/secret.h"

#define V1 "client.authentication.k8s.io/v1"
#define V1BETA1 "client.authentication.k8s.io/v1beta1"

static void the_plug_in_gets_the_cluster_on_request(void **state)
{
    (void)state;
    temp_dir dir;
    temp_dir_make(&dir);
    ki_config_exec exec = {
        .api_version = V1BETA1, .provide_cluster_info = true, .cluster_config = "{\"audience\":\"x\"}"};
    ki_config config = {
        .exec = &exec,
        .server = "https://k",
        .tls_server_name = "kube",
        .ca_file = (char *)temp_dir_write(&dir, "ca", "foobar"),
        .proxy_url = "http://proxy",
        .insecure_skip_tls_verify = true,
        .disable_compression = true,
    };
    char *json = NULL;
    assert_int_equal(ki_exec_info_write(&config, true, &json, NULL), 0);
    assert_string_equal(json, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1BETA1
                              "\",\"spec\":{\"interactive\":true,\"cluster\":{\"server\":\"https://"
                              "k\",\"tls-server-name\":\"kube\","
                              "\"insecure-skip-tls-verify\":true,\"disable-compression\":true,"
                              "\"certificate-authority-data\":\"Zm9vYmFy\",\"config\":{\"audience\":\"x\"},"
                              "\"proxy-url\":\"http://proxy\"}}}");
    ki_secret_free(json);
    temp_dir_remove(&dir);
}

static void a_cluster_whose_certificates_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    ki_config_exec exec = {.api_version = V1, .provide_cluster_info = true};
    ki_config config = {.exec = &exec, .ca_file = "/nowhere/ca"};
    ki_error err = {0};
    char *json = NULL;
    assert_int_equal(ki_exec_info_write(&config, false, &json, &err), KI_ERR_NOT_FOUND);
    assert_string_equal(err.message, "/nowhere/ca: No such file or directory");
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plug_in_gets_the_cluster_on_request),
        cmocka_unit_test(a_cluster_whose_certificates_cannot_be_read_is_an_error),
    };
    return RUN_TESTS(tests);
}
