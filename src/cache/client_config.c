/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of a client to a configuration, for this client or for later. */
#include <kinformer/config.h>
#include <string.h>

#include "cache/client.h"
#include "util/alloc.h"
#include "util/error.h"

static ki_config_overrides overrides_of(const ki_client_options *options)
{
    return (ki_config_overrides){
        .kubeconfig = options->kubeconfig,
        .kubeconfig_text = options->kubeconfig_text,
        .context = options->context,
        .cluster = options->cluster,
        .user = options->user,
        .server = options->server,
        .token = options->token,
        .token_file = options->token_file,
        .certificate_authority = options->certificate_authority,
        .certificate_authority_pem = options->certificate_authority_pem,
        .tls_server_name = options->tls_server_name,
        .client_certificate = options->client_certificate,
        .client_certificate_pem = options->client_certificate_pem,
        .client_key = options->client_key,
        .client_key_pem = options->client_key_pem,
        .username = options->username,
        .password = options->password,
        .as = options->as,
        .as_uid = options->as_uid,
        .as_groups = options->as_groups,
        .ns = options->ns,
        .insecure_skip_tls_verify = options->insecure_skip_tls_verify != 0,
        .allow_plaintext_credentials = options->allow_plaintext_credentials != 0,
    };
}

/* Two answers to one question: neither is silently the right one. */
static int copy_given(ki_config *out_config, const ki_client_options *options, ki_error *err)
{
    static const ki_config_overrides none;
    ki_config_overrides said = overrides_of(options);
    bool has_texts = memcmp(&said, &none, offsetof(ki_config_overrides, insecure_skip_tls_verify)) != 0;
    if (has_texts || said.insecure_skip_tls_verify || said.allow_plaintext_credentials)
        return ki_fail(err, KI_ERR_INVALID,
                       "client: there is a config, and beside it another option says where to connect or as "
                       "whom; give it to ki_config_new()");
    return ki_config_copy(out_config, options->config) < 0 ? ki_fail_no_memory(err) : 0;
}

int ki_client_load(const ki_client_options *options, ki_config *out_config, ki_error *err)
{
    ki_config_overrides overrides = overrides_of(options);
    if (options->config != NULL)
        return copy_given(out_config, options, err);
    return ki_config_load(out_config, &overrides, err);
}

ki_config *ki_config_new(const ki_client_options *options, ki_error *err)
{
    static const ki_client_options defaults = {0};
    ki_config *config = ki_calloc(1, sizeof(*config));
    if (config == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    int rc = ki_client_load(options == NULL ? &defaults : options, config, err);
    if (rc == 0)
        rc = ki_config_hold_files(config, err);
    if (rc == 0)
        return config;
    ki_config_free(config);
    return NULL;
}

void ki_config_free(ki_config *config)
{
    if (config == NULL)
        return;
    ki_config_fini(config);
    ki_free(config);
}
