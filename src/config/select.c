/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses context, cluster and user, and applies the overrides. */
#include <assert.h>
#include <string.h>

#include "config/kubeconfig_fields.h"
#include "config/load.h"
#include "config/path.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* The file that a message names: the first one, which takes precedence. NULL if there is none. */
static const char *first_path(const ki_kubeconfig *kubeconfig)
{
    const ki_kubeconfig_file *file = kubeconfig->files;
    while (file != NULL && file->next != NULL)
        file = file->next;
    return file == NULL ? NULL : file->path;
}

/* An override names something that does not exist. */
static int fail_unknown(const ki_kubeconfig *kubeconfig, const char *kind, const char *name, ki_error *err)
{
    const char *path = first_path(kubeconfig);
    if (path == NULL)
        return ki_fail(err, KI_ERR_CONFIG, "%s \"%.60s\" not found: there is no kubeconfig", kind, name);
    return ki_fail(err, KI_ERR_CONFIG, "%s: there is no %s \"%.60s\" in %s", kind, kind, name, path);
}

static int find_context(const ki_kubeconfig *kubeconfig, const ki_config_overrides *overrides,
                        const ki_kubeconfig_entry **out_entry, ki_error *err)
{
    const ki_yaml_node *current = kubeconfig->current_context;
    const char *name = overrides->context != NULL ? overrides->context
                       : current != NULL          ? current->text
                                                  : NULL;
    *out_entry = name == NULL ? NULL : ki_kubeconfig_find(kubeconfig, KI_KUBECONFIG_CONTEXTS, name);
    assert(*out_entry == NULL || (*out_entry)->list == KI_KUBECONFIG_CONTEXTS);
    if (*out_entry != NULL)
        return 0;
    if (overrides->context != NULL)
        return fail_unknown(kubeconfig, "context", name, err);
    if (name != NULL)
        return ki_kubeconfig_fail(err, kubeconfig->current_context_file, current->line,
                                  "current-context: there is no context \"%.60s\"", name);
    if (overrides->server == NULL && overrides->cluster == NULL)
        return ki_fail(err, KI_ERR_CONFIG, "%s: current-context: is missing, and no context was given",
                       first_path(kubeconfig) == NULL ? "kubeconfig" : first_path(kubeconfig));
    return 0;
}

/* The name of a cluster or a user: from an override, or else from the context; NULL if neither has one. */
typedef struct wanted {
    ki_kubeconfig_list list;
    const char *overriding;
    const char *of_context;
} wanted;

static int find_entry(const ki_kubeconfig *kubeconfig, const ki_kubeconfig_entry *context, const wanted *what,
                      const ki_kubeconfig_entry **out_entry, ki_error *err)
{
    const char *name = what->overriding != NULL ? what->overriding : what->of_context;
    const char *kind = ki_kubeconfig_entry_kind(what->list);
    *out_entry = name == NULL ? NULL : ki_kubeconfig_find(kubeconfig, what->list, name);
    assert(*out_entry == NULL || (*out_entry)->list == what->list);
    if (name == NULL || *out_entry != NULL)
        return 0;
    if (what->overriding != NULL)
        return fail_unknown(kubeconfig, kind, name, err);
    return ki_kubeconfig_fail_field(err, context, kind, "there is no %s \"%.60s\"", kind, name);
}

static int set_text(char **text, const char *value)
{
    char *copy = value == NULL || value[0] == 0 ? NULL : ki_str_copy(ki_str_of(value));
    if (value != NULL && value[0] != 0 && copy == NULL)
        return KI_ERR_NO_MEMORY;
    ki_secret_free(*text);
    *text = copy;
    return 0;
}

static int read_cluster(ki_config *config, const ki_kubeconfig_entry *context, ki_config_origin *origin,
                        const ki_config_overrides *overrides, ki_error *err)
{
    if (origin->cluster == NULL && overrides->server == NULL)
        return ki_kubeconfig_fail_field(err, context, "cluster", "is missing");
    if (origin->cluster == NULL)
        return 0;
    assert(origin->cluster->list == KI_KUBECONFIG_CLUSTERS);
    origin->server = origin->tls_name = origin->trust = origin->cluster;
    if (set_text(&config->cluster, origin->cluster->name) < 0)
        return ki_fail_no_memory(err);
    return ki_kubeconfig_read_cluster(config, origin->cluster, err);
}

/* Rejects the providers that client-go has replaced by exec plug-ins. */
static int refuse_auth_provider(const ki_kubeconfig_entry *entry, ki_error *err)
{
    const ki_yaml_node *provider = ki_yaml_member(entry->value, "auth-provider");
    if (provider == NULL || ki_yaml_is_null(provider))
        return 0;
    const ki_yaml_node *name = ki_yaml_member(provider, "name");
    return ki_kubeconfig_fail_field(err, entry, "auth-provider",
                                    "the provider \"%.40s\" is not supported; use its exec plug-in",
                                    name != NULL && name->kind == KI_YAML_SCALAR ? name->text : "");
}

static int read_user(ki_config *config, ki_config_origin *origin, ki_error *err)
{
    if (origin->user == NULL)
        return 0;
    assert(origin->user->list == KI_KUBECONFIG_USERS);
    origin->authorization = origin->certificate = origin->impersonation = origin->user;
    if (set_text(&config->user, origin->user->name) < 0)
        return ki_fail_no_memory(err);
    int rc = refuse_auth_provider(origin->user, err);
    if (rc == 0)
        rc = ki_kubeconfig_read_user(config, origin->user, err);
    if (rc == 0 && config->exec != NULL && config->exec->provide_cluster_info && origin->cluster != NULL)
        rc = ki_kubeconfig_read_exec_extension(origin->cluster, &config->exec->cluster_config, err);
    return rc;
}

int ki_config_select(ki_config *config, const ki_kubeconfig *kubeconfig, const ki_config_overrides *overrides,
                     ki_config_origin *out_origin, ki_error *err)
{
    assert(config != NULL && out_origin != NULL);
    const ki_kubeconfig_entry *context = NULL;
    ki_config_origin origin = {0};
    int rc = find_context(kubeconfig, overrides, &context, err);
    if (rc == 0 && context != NULL) {
        rc = ki_kubeconfig_read_context(config, context, err);
        if (rc == 0 && set_text(&config->context, context->name) < 0)
            rc = ki_fail_no_memory(err);
    }
    const wanted cluster = {KI_KUBECONFIG_CLUSTERS, overrides->cluster, config->cluster};
    const wanted user = {KI_KUBECONFIG_USERS, overrides->user, config->user};
    if (rc == 0)
        rc = find_entry(kubeconfig, context, &cluster, &origin.cluster, err);
    if (rc == 0)
        rc = find_entry(kubeconfig, context, &user, &origin.user, err);
    if (rc == 0)
        rc = read_cluster(config, context, &origin, overrides, err);
    if (rc == 0)
        rc = read_user(config, &origin, err);
    if (rc == 0)
        *out_origin = origin;
    return rc;
}

/* ---- overrides ----------------------------------------------------------------------------------------- */

static int set_path(char **text, const char *path)
{
    char *absolute = path == NULL ? NULL : ki_path_absolute(ki_str_of(path));
    if (path != NULL && absolute == NULL)
        return KI_ERR_NO_MEMORY;
    ki_secret_free(*text);
    *text = absolute;
    return 0;
}

/* Replaces both the file and the PEM; validation checks that both certificate and key are given. */
static int set_part(char **file, char **pem, const char *path, const char *data)
{
    int rc = set_path(file, path);
    return rc < 0 ? rc : set_text(pem, data);
}

static bool says_trust(const ki_config_overrides *overrides)
{
    return overrides->certificate_authority != NULL || overrides->certificate_authority_pem != NULL ||
           overrides->insecure_skip_tls_verify;
}

/* If the server is overridden, the kubeconfig's TLS server name does not apply. Any override of trust
 * settings replaces all of them. */
static int override_cluster(ki_config *config, const ki_config_overrides *overrides)
{
    int rc = 0;
    config->allow_plaintext_credentials = overrides->allow_plaintext_credentials;
    if (overrides->server != NULL)
        rc = set_text(&config->server, overrides->server);
    if (rc == 0 && (overrides->server != NULL || overrides->tls_server_name != NULL))
        rc = set_text(&config->tls_server_name, overrides->tls_server_name);
    if (rc < 0 || !says_trust(overrides))
        return rc;
    config->insecure_skip_tls_verify = overrides->insecure_skip_tls_verify;
    return set_part(&config->ca_file, &config->ca_pem, overrides->certificate_authority,
                    overrides->certificate_authority_pem);
}

static int override_groups(ki_config *config, const char *const *groups)
{
    ki_config given = {.as_groups = (char **)groups}, copy;
    int rc = ki_config_copy(&copy, &given);
    if (rc < 0)
        return rc;
    char **before = config->as_groups;
    config->as_groups = copy.as_groups;
    copy.as_groups = before;
    ki_config_fini(&copy);
    return 0;
}

static bool says_who(const ki_config_overrides *overrides)
{
    return overrides->token != NULL || overrides->token_file != NULL || overrides->username != NULL ||
           overrides->password != NULL;
}

/* A given token or user name replaces all credentials except certificates. */
static int override_authorization(ki_config *config, const ki_config_overrides *overrides)
{
    ki_config rest = {
        .token = config->token,
        .token_file = config->token_file,
        .username = config->username,
        .password = config->password,
        .exec = config->exec,
    };
    if (!says_who(overrides))
        return 0;
    config->token = config->token_file = config->username = config->password = NULL;
    config->exec = NULL;
    ki_config_fini(&rest);
    int rc = set_text(&config->token, overrides->token);
    if (rc == 0)
        rc = set_path(&config->token_file, overrides->token_file);
    if (rc == 0)
        rc = set_text(&config->username, overrides->username);
    return rc == 0 ? set_text(&config->password, overrides->password) : rc;
}

static int override_certificate(ki_config *config, const ki_config_overrides *overrides)
{
    int rc = 0;
    if (overrides->client_certificate != NULL || overrides->client_certificate_pem != NULL)
        rc = set_part(&config->client_certificate_file, &config->client_certificate_pem,
                      overrides->client_certificate, overrides->client_certificate_pem);
    if (rc == 0 && (overrides->client_key != NULL || overrides->client_key_pem != NULL))
        rc = set_part(&config->client_key_file, &config->client_key_pem, overrides->client_key,
                      overrides->client_key_pem);
    return rc;
}

static int override_user(ki_config *config, const ki_config_overrides *overrides)
{
    int rc = override_authorization(config, overrides);
    if (rc == 0)
        rc = override_certificate(config, overrides);
    if (rc == 0 && overrides->as != NULL)
        rc = set_text(&config->as, overrides->as);
    if (rc == 0 && overrides->as_uid != NULL)
        rc = set_text(&config->as_uid, overrides->as_uid);
    if (rc == 0 && overrides->as_groups != NULL && overrides->as_groups[0] != NULL)
        rc = override_groups(config, overrides->as_groups);
    return rc;
}

int ki_config_override(ki_config *config, const ki_config_overrides *overrides, ki_config_origin *origin)
{
    assert(config != NULL);
    int rc = override_cluster(config, overrides);
    if (overrides->server != NULL)
        origin->server = NULL;
    if (overrides->server != NULL || overrides->tls_server_name != NULL)
        origin->tls_name = NULL;
    if (says_trust(overrides))
        origin->trust = NULL;
    if (says_who(overrides))
        origin->authorization = NULL;
    if (overrides->client_certificate != NULL || overrides->client_key != NULL ||
        overrides->client_certificate_pem != NULL || overrides->client_key_pem != NULL)
        origin->certificate = NULL;
    if (overrides->as != NULL || overrides->as_uid != NULL || overrides->as_groups != NULL)
        origin->impersonation = NULL;
    if (rc == 0)
        rc = override_user(config, overrides);
    if (rc == 0 && overrides->ns != NULL)
        rc = set_text(&config->ns, overrides->ns);
    return rc;
}
