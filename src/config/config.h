/* SPDX-License-Identifier: Apache-2.0 */
/* config - how to connect and with which credentials: kubeconfig, files of a pod and options, combined.
 *
 *   From:     config/ (config/load.c: files, environment, overrides), client/, credentials/, http/
 *   To:       http/http.c          (connecting), credentials/credentials.c (authentication)
 *   Locks:    none; plain data with an owner.
 *   Not here: reading files that change (credentials/credentials.h); requests.
 */
#ifndef KI_CONFIG_CONFIG_H
#define KI_CONFIG_CONFIG_H

#include <kinformer/config.h>
#include <stdbool.h>

/* A name and a value, as in exec.env and impersonation. */
typedef struct ki_config_pair {
    char *name;
    char *value;
} ki_config_pair;

/* users[].user.exec */
typedef struct ki_config_exec {
    char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    char *command;     /* resolved against the directory of its file if it is relative and contains a '/' */
    char **args;       /* NULL-terminated */
    ki_config_pair *env;
    size_t env_count;
    char *install_hint;
    char *interactive_mode; /* Never, IfAvailable, Always */
    char *cluster_config;   /* JSON of the cluster's extension for plug-ins */
    bool provide_cluster_info;
} ki_config_exec;

/* A zeroed struct is empty. It owns all texts; NULL means not set, "" does not occur. Relative paths have
 * been resolved. If both a file and PEM are set, the PEM is a copy of the file's content
 * (ki_config_preload_files()). */
struct ki_config {
    char *server; /* "https://host:6443/prefix": http or https, no user, no trailing slash */
    char *ca_file;
    char *ca_pem;
    char *tls_server_name;
    char *proxy_url; /* of the cluster or of the environment; NULL for none, whatever the environment.
                      * `ca_…`, `client_…` and `insecure_…` apply to https proxies too. */
    bool insecure_skip_tls_verify;
    bool disable_compression;
    bool allow_plaintext_credentials; /* send tokens and passwords to a server without TLS, too */
    char *ns;                         /* of the context */

    char *token;
    char *token_file; /* takes precedence over the token */
    char *username;
    char *password;
    char *client_certificate_file;
    char *client_certificate_pem;
    char *client_key_file;
    char *client_key_pem;
    char *as; /* impersonation */
    char *as_uid;
    char **as_groups; /* NULL-terminated */
    ki_config_pair *as_extra;
    size_t as_extra_count;
    ki_config_exec *exec;

    char *context; /* names, for messages */
    char *cluster;
    char *user;
};

/* Wipes and frees all texts. A zeroed struct is allowed. */
void ki_config_fini(ki_config *config);

/* Whether the connection uses TLS. A server without a scheme does if any TLS option is set, as in kubectl. */
bool ki_config_uses_tls(const ki_config *config);

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_config_copy(ki_config *out_config, const ki_config *config);

/* Options of the caller; NULL means not set. They correspond to kubectl's flags of these names. */
typedef struct ki_config_overrides {
    const char *kubeconfig;
    const char *kubeconfig_text; /* instead of files */
    const char *context;
    const char *cluster;
    const char *user;
    const char *server;
    const char *token;
    const char *token_file;
    const char *certificate_authority;
    const char *certificate_authority_pem; /* instead of the file, like those below */
    const char *tls_server_name;
    const char *client_certificate;
    const char *client_certificate_pem;
    const char *client_key;
    const char *client_key_pem;
    const char *username;
    const char *password;
    const char *as;
    const char *as_uid;
    const char *const *as_groups; /* NULL-terminated */
    const char *ns;
    bool insecure_skip_tls_verify; /* after all texts, like the next */
    bool allow_plaintext_credentials;
} ki_config_overrides;

/* Reads certificate authorities, certificate, key and token from their files and stores them with the file
 * names. Later readers check the files again, and fall back to these copies if a file cannot be read.
 * Returns 0, KI_ERR_CONFIG, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_config_preload_files(ki_config *config, ki_error *err);

/* Looks where kubectl does: `kubeconfig`, else $KUBECONFIG (a list, merged), else ~/.kube/config, else the
 * files of a pod. With `server`, no file is needed. `overrides` may be NULL. Reads the environment, so no
 * other thread may change it meanwhile. Returns 0; KI_ERR_CONFIG with file, line and field;
 * KI_ERR_NO_MEMORY. Messages contain no secrets. */
KI_NODISCARD int ki_config_load(ki_config *out_config, const ki_config_overrides *overrides, ki_error *err);

#endif
