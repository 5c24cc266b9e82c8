/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a configuration from the options of a client, for one client or for several. */
#include <assert.h>
#include <kinformer/config.h>
#include <string.h>

#include "client/client.h"
#include "util/alloc.h"
#include "util/error.h"

static ki_config_overrides overrides_of(const ki_client_options *options)
{
    return (ki_config_overrides){
        .kubeconfig = options->kubeconfig,
        .kubeconfig_text = options->kubeconfig_text,
        .context = options->context,
        .cluster = options->cluster,
        .user = options->kube_user,
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
        .as = options->as_user,
        .as_uid = options->as_uid,
        .as_groups = options->as_groups,
        .ns = options->ns,
        .insecure_skip_tls_verify = options->insecure_skip_tls_verify != 0,
        .allow_plaintext_credentials = options->allow_plaintext_credentials != 0,
    };
}

/* The pointers in ki_config_overrides, with their names for error messages. */
#define OPTION(name)                                                                                         \
    {                                                                                                        \
#name, offsetof(ki_config_overrides, name)                                                           \
    }
static const struct {
    const char *name;
    size_t offset;
} pointers[] = {
    OPTION(kubeconfig),
    OPTION(kubeconfig_text),
    OPTION(context),
    OPTION(cluster),
    OPTION(user),
    OPTION(server),
    OPTION(token),
    OPTION(token_file),
    OPTION(certificate_authority),
    OPTION(certificate_authority_pem),
    OPTION(tls_server_name),
    OPTION(client_certificate),
    OPTION(client_certificate_pem),
    OPTION(client_key),
    OPTION(client_key_pem),
    OPTION(username),
    OPTION(password),
    OPTION(as),
    OPTION(as_uid),
    OPTION(as_groups),
    OPTION(ns),
};
enum { POINTERS = sizeof(pointers) / sizeof(pointers[0]) };
_Static_assert(POINTERS * sizeof(void *) == offsetof(ki_config_overrides, insecure_skip_tls_verify),
               "an override has no name");

/* The name of the first option for server or credentials that is set, or NULL. */
static const char *name_of_first(const ki_config_overrides *said)
{
    static const void *const none;
    for (size_t i = 0; i < POINTERS; i++)
        if (memcmp((const char *)said + pointers[i].offset, &none, sizeof(none)) != 0)
            return pointers[i].name;
    if (said->insecure_skip_tls_verify)
        return "insecure_skip_tls_verify";
    return said->allow_plaintext_credentials ? "allow_plaintext_credentials" : NULL;
}

/* `config` and other options could contradict each other, and neither may silently win. */
static int copy_given(ki_config *out_config, const ki_client_options *options, ki_error *err)
{
    assert(options->config != NULL);
    ki_config_overrides said = overrides_of(options);
    const char *name = name_of_first(&said);
    if (name != NULL)
        return ki_fail(err, KI_ERR_INVALID,
                       "client: `%s` cannot be used with `config`: pass it to ki_config_new() instead", name);
    return ki_config_copy(out_config, options->config) < 0 ? ki_fail_no_memory(err) : 0;
}

int ki_client_load(const ki_client_options *options, ki_config *out_config, ki_error *err)
{
    assert(options != NULL && out_config != NULL);
    ki_config_overrides overrides = overrides_of(options);
    if (options->config != NULL)
        return copy_given(out_config, options, err);
    /* "" is the URL of an API server that could not be started: the error that says why stays. */
    if (options->server != NULL && options->server[0] == 0 && err != NULL && err->code < 0)
        return err->code;
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
        rc = ki_config_preload_files(config, err);
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
