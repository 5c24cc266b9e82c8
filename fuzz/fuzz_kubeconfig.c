/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_kubeconfig - kubeconfigs from any bytes, alone and merged with another one, and the output of exec
 * plug-ins.
 *
 * Input: a kubeconfig, a NUL, and a second one; the whole input is also read as the output of a plug-in. A
 *        refusal has a message, which may contain names from a kubeconfig but nothing from a plug-in's
 *        output. What is accepted is complete.
 */
#include <kinformer/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/load.h"
#include "credentials/exec_credential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void require_refusal(int rc, const ki_error *err)
{
    require(rc == KI_ERR_CONFIG && err->code == rc && err->message[0] != 0);
}

static void require_whole(const ki_config *config)
{
    require(config->server != NULL && strncasecmp(config->server, "http", 4) == 0);
    require(config->server[strlen(config->server) - 1] != '/');
    require(config->ca_pem == NULL || config->ca_file == NULL);
    require(config->token == NULL || config->username == NULL);
    require((config->client_certificate_file != NULL || config->client_certificate_pem != NULL) ==
            (config->client_key_file != NULL || config->client_key_pem != NULL));
    if (config->exec != NULL) {
        require(config->exec->command != NULL && config->exec->api_version != NULL);
        require(config->exec->interactive_mode != NULL);
        if (config->exec->cluster_config != NULL)
            require(ki_json_validate(ki_str_of(config->exec->cluster_config), NULL) == 0);
    }
}

static void resolve(const ki_kubeconfig *kubeconfig, const ki_config_overrides *overrides)
{
    ki_config config = {0}, copy = {0};
    ki_config_origin origin = {0};
    ki_error err = {0};
    int rc = ki_config_select(&config, kubeconfig, overrides, &origin, &err);
    if (rc == 0) {
        require(ki_config_override(&config, overrides, &origin) == 0);
        rc = ki_config_validate(&config, &origin, &err);
    }
    if (rc == 0) {
        require_whole(&config);
        require(ki_config_copy(&copy, &config) == 0);
        require_whole(&copy);
    } else {
        require_refusal(rc, &err);
    }
    ki_config_fini(&config);
    ki_config_fini(&copy);
}

static void run_kubeconfigs(ki_str first, ki_str second)
{
    ki_kubeconfig kubeconfig = {0};
    ki_error err = {0};
    int rc = ki_kubeconfig_add(&kubeconfig, "/etc/first", first, &err);
    if (rc == 0 && second.len > 0)
        rc = ki_kubeconfig_add(&kubeconfig, "/etc/second", second, &err);
    if (rc == 0) {
        resolve(&kubeconfig, &(ki_config_overrides){0});
        resolve(&kubeconfig, &(ki_config_overrides){.server = "https://k", .token = "t", .as = "a"});
        resolve(&kubeconfig, &(ki_config_overrides){.context = "c", .cluster = "k", .user = "u"});
    } else {
        require(rc == KI_ERR_CONFIG && strncmp(err.message, "/etc/", 5) == 0);
    }
    ki_kubeconfig_fini(&kubeconfig);
}

static void run_answer(ki_str text)
{
    ki_exec_credential credential = {0};
    ki_error err = {0};
    int rc = ki_exec_credential_parse(text, "client.authentication.k8s.io/v1", &credential, &err);
    if (rc < 0) {
        require_refusal(rc, &err);
        require(strstr(err.message, "s3cret") == NULL);
    } else {
        require(credential.token != NULL || credential.certificate_pem != NULL);
    }
    ki_exec_credential_fini(&credential);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *end = size > 0 ? memchr(bytes, 0, size) : NULL;
    size_t len = end == NULL ? size : (size_t)(end - bytes);
    size_t rest = end == NULL ? size : len + 1;
    run_kubeconfigs((ki_str){bytes, len}, (ki_str){bytes + rest, size - rest});
    run_answer((ki_str){bytes, size});
    return 0;
}
