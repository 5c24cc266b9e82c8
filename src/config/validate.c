/* SPDX-License-Identifier: Apache-2.0 */
/* Checks combinations of fields, as kubectl does. Messages show names, but no values other than the
 * address of a server, without credentials. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "config/kubeconfig_fields.h"
#include "config/load.h"
#include "config/proxy.h"
#include "config/redact.h"
#include "config/url.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

static int check_readable(const ki_kubeconfig_entry *entry, const char *field, const char *path,
                          ki_error *err)
{
    if (path == NULL || access(path, R_OK) == 0)
        return 0;
    return ki_kubeconfig_fail_field(err, entry, field, "cannot be read: %s", strerror(errno));
}

/* ---- the cluster --------------------------------------------------------------------------------------- */

/* Adds a missing scheme and removes trailing slashes. */
static int complete_server(ki_config *config)
{
    bool has_scheme = strstr(config->server, "://") != NULL;
    const char *scheme = has_scheme ? "" : ki_config_uses_tls(config) ? "https://" : "http://";
    size_t bytes = strlen(scheme) + strlen(config->server) + 1;
    char *server = ki_malloc(bytes);
    if (server == NULL)
        return KI_ERR_NO_MEMORY;
    int len = snprintf(server, bytes, "%s%s", scheme, config->server);
    assert(len >= 0 && (size_t)len == bytes - 1);
    while (len > 0 && server[len - 1] == '/')
        server[--len] = 0;
    ki_secret_free(config->server);
    config->server = server;
    return 0;
}

static int check_server(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    ki_url url;
    char shown[128];
    if (config->server == NULL)
        return ki_kubeconfig_fail_field(err, entry, "server", "is missing");
    (void)ki_redact_invalid_url(shown, sizeof(shown), ki_str_of(config->server));
    if (complete_server(config) < 0)
        return ki_fail_no_memory(err);
    int rc = ki_url_check(config->server, &url);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_kubeconfig_fail_field(err, entry, "server", "is not an address: \"%s\"", shown);
    assert(url.scheme.len > 0 && url.host.len > 0);
    if (strncasecmp(config->server, "http://", 7) != 0 && strncasecmp(config->server, "https://", 8) != 0)
        return ki_kubeconfig_fail_field(err, entry, "server", "the scheme must be http or https");
    if (url.user.ptr != NULL)
        return ki_kubeconfig_fail_field(err, entry, "server",
                                        "contains a user name; put it into the users section");
    if (url.path.len > 0 && strpbrk(url.path.ptr, "?#") != NULL)
        return ki_kubeconfig_fail_field(err, entry, "server", "contains a query");
    return 0;
}

static int check_proxy(const ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    const char *problem = NULL;
    int rc = config->proxy_url == NULL ? 0 : ki_proxy_check(config->proxy_url, &problem);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return rc == 0 ? 0 : ki_kubeconfig_fail_field(err, entry, "proxy-url", "%s", problem);
}

static int check_cluster(ki_config *config, const ki_config_origin *origin, ki_error *err)
{
    if (config->ca_file != NULL && config->ca_pem != NULL)
        return ki_kubeconfig_fail_field(err, origin->trust, "certificate-authority-data",
                                        "cannot be combined with certificate-authority");
    if (config->insecure_skip_tls_verify && (config->ca_file != NULL || config->ca_pem != NULL))
        return ki_kubeconfig_fail_field(err, origin->trust, "insecure-skip-tls-verify",
                                        "cannot be combined with a certificate authority");
    int rc = check_proxy(config, origin->cluster, err);
    if (rc == 0)
        rc = check_server(config, origin->server, err);
    if (rc == 0 && config->tls_server_name != NULL && !ki_url_is_host(config->tls_server_name))
        rc = ki_kubeconfig_fail_field(err, origin->tls_name, "tls-server-name",
                                      "is neither a host name nor an address");
    if (rc == 0)
        rc = check_readable(origin->trust, "certificate-authority", config->ca_file, err);
    return rc;
}

/* ---- the user ------------------------------------------------------------------------------------------ */

static int check_certificate(const ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    bool has_certificate = config->client_certificate_file != NULL || config->client_certificate_pem != NULL;
    bool has_key = config->client_key_file != NULL || config->client_key_pem != NULL;
    if (config->client_certificate_file != NULL && config->client_certificate_pem != NULL)
        return ki_kubeconfig_fail_field(err, entry, "client-certificate-data",
                                        "cannot be combined with client-certificate");
    if (config->client_key_file != NULL && config->client_key_pem != NULL)
        return ki_kubeconfig_fail_field(err, entry, "client-key-data", "cannot be combined with client-key");
    if (has_certificate && !has_key)
        return ki_kubeconfig_fail_field(err, entry, "client-key", "is required with the certificate");
    if (has_key && !has_certificate)
        return ki_kubeconfig_fail_field(err, entry, "client-certificate", "is required with the key");
    int rc = check_readable(entry, "client-certificate", config->client_certificate_file, err);
    if (rc == 0)
        rc = check_readable(entry, "client-key", config->client_key_file, err);
    return rc;
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static int check_exec(ki_config_exec *exec, const ki_kubeconfig_entry *entry, ki_error *err)
{
    static const char v1[] = "client.authentication.k8s.io/v1";
    static const char v1beta1[] = "client.authentication.k8s.io/v1beta1";
    if (exec->command == NULL)
        return ki_kubeconfig_fail_field(err, entry, "exec.command", "is missing");
    if (exec->api_version == NULL)
        return ki_kubeconfig_fail_field(err, entry, "exec.apiVersion", "is missing");
    bool is_v1 = strcmp(exec->api_version, v1) == 0;
    if (!is_v1 && strcmp(exec->api_version, v1beta1) != 0)
        return ki_kubeconfig_fail_field(err, entry, "exec.apiVersion", "is neither %s nor v1beta1", v1);
    if (exec->interactive_mode == NULL && is_v1)
        return ki_kubeconfig_fail_field(err, entry, "exec.interactiveMode", "is missing");
    if (exec->interactive_mode == NULL) {
        exec->interactive_mode = ki_str_copy(KI_STR("IfAvailable"));
        return exec->interactive_mode == NULL ? ki_fail_no_memory(err) : 0;
    }
    if (!is_one_of(exec->interactive_mode, "Never", "IfAvailable", "Always"))
        return ki_kubeconfig_fail_field(err, entry, "exec.interactiveMode",
                                        "is neither Never nor IfAvailable nor Always");
    return 0;
}

static int check_user(ki_config *config, const ki_config_origin *origin, ki_error *err)
{
    const ki_kubeconfig_entry *entry = origin->user;
    if (config->token != NULL && (config->username != NULL || config->password != NULL))
        return ki_kubeconfig_fail_field(err, origin->authorization, "token",
                                        "cannot be combined with username and password");
    bool has_more = config->as_uid != NULL || config->as_groups != NULL || config->as_extra_count > 0;
    if (config->as == NULL && has_more)
        return ki_kubeconfig_fail_field(err, origin->impersonation, "as",
                                        "is required with as-uid, as-groups or as-user-extra");
    int rc = check_certificate(config, origin->certificate, err);
    if (rc == 0 && config->exec != NULL)
        rc = check_exec(config->exec, entry, err);
    return rc;
}

int ki_config_validate(ki_config *config, const ki_config_origin *origin, ki_error *err)
{
    int rc = check_cluster(config, origin, err);
    return rc < 0 ? rc : check_user(config, origin, err);
}
