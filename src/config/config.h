/* SPDX-License-Identifier: Apache-2.0 */
/* config - where to connect, and as whom: what a kubeconfig, the files of a pod and the program say, as one.
 *
 *   From:     config/load.c        (files, environment, overrides)
 *   To:       http/http.c          (how to connect), config/credentials.c (as whom)
 *   Locks:    none; plain data with an owner.
 *   Not here: reading files that change (config/credentials.h); requests.
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
    char *command;     /* resolved against its file when it contains a '/' and is relative */
    char **args;       /* NULL-terminated */
    ki_config_pair *env;
    size_t env_count;
    char *install_hint;
    char *interactive_mode; /* Never, IfAvailable, Always */
    char *cluster_config;   /* JSON of the cluster's extension for plug-ins */
    bool provide_cluster_info;
} ki_config_exec;

/* A zeroed one is empty. All texts are its own; NULL: not said, never "". Relative paths have been
 * resolved. PEM beside a file is what was read of it (ki_config_hold_files()). */
struct ki_config {
    char *server; /* "https://host:6443/prefix": http or https, no user, no slash at the end */
    char *ca_file;
    char *ca_pem;
    char *tls_server_name;
    char *proxy_url; /* of the cluster or of the environment; NULL: none, whatever the environment says.
                      * What `ca_…`, `client_…` and `insecure_…` say holds for https proxies too. */
    bool insecure_skip_tls_verify;
    bool disable_compression;
    bool allow_plaintext_credentials; /* tokens and passwords also go to a server without TLS */
    char *ns;                         /* of the context */

    char *token;
    char *token_file; /* goes before the token */
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

/* Wipes all texts. Takes a zeroed one. */
void ki_config_fini(ki_config *config);

/* Whether the server is asked over TLS. A server without a scheme is when anything is said about TLS, as for
 * kubectl. */
bool ki_config_uses_tls(const ki_config *config);

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_config_copy(ki_config *out_config, const ki_config *config);

/* What the caller wants otherwise; NULL: not said. As kubectl's flags of these names. */
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
    const char *certificate_authority_pem; /* instead of the file, as below */
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
    bool insecure_skip_tls_verify; /* behind all texts, as the next */
    bool allow_plaintext_credentials;
} ki_config_overrides;

/* Reads what the files hold into the configuration, beside their names: authorities, certificate, key, token.
 * Who uses it later looks at the files again, and goes on with this where they cannot be read. Returns 0,
 * KI_ERR_CONFIG, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_config_hold_files(ki_config *config, ki_error *err);

/* As kubectl: `kubeconfig`, else $KUBECONFIG (a list, merged), else ~/.kube/config, else the files of a
 * pod; with `server` and no file that is enough. `overrides` may be NULL. Reads the environment, so no
 * other thread may change that meanwhile. Returns 0; KI_ERR_CONFIG with file, line and field;
 * KI_ERR_NO_MEMORY. No message has a secret in it. */
KI_NODISCARD int ki_config_load(ki_config *out_config, const ki_config_overrides *overrides, ki_error *err);

#endif
