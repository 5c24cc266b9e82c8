/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/connection_flags.h"

#include <stdbool.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/secret_word.h"

#define AT(member) offsetof(cli_connection, member)

static const cli_flag flags[] = {
    {"kubeconfig", 0, CLI_FLAG_TEXT, AT(kubeconfig), "FILE",
     "kubeconfig to use instead of $KUBECONFIG and ~/.kube/config", NULL},
    {"context", 0, CLI_FLAG_TEXT, AT(context), "NAME", "context to use", NULL},
    {"cluster", 0, CLI_FLAG_TEXT, AT(cluster), "NAME", "cluster to use instead of the context's", NULL},
    {"user", 0, CLI_FLAG_TEXT, AT(user), "NAME", "user to use instead of the context's", NULL},
    {"server", 's', CLI_FLAG_TEXT, AT(server), "URL", "address of the API server; no kubeconfig is needed",
     NULL},
    {"token", 0, CLI_FLAG_SECRET, AT(token), "TOKEN", "bearer token; or $KINFORMER_TOKEN", NULL},
    {"token-file", 0, CLI_FLAG_TEXT, AT(token_file), "FILE",
     "file with the token; read again every 50s and after a 401", NULL},
    {"username", 0, CLI_FLAG_TEXT, AT(username), "NAME", "user name for basic authentication", NULL},
    {"password", 0, CLI_FLAG_SECRET, AT(password), "TEXT",
     "password for basic authentication; or $KINFORMER_PASSWORD", NULL},
    {"password-file", 0, CLI_FLAG_TEXT, AT(password_file), "FILE", "file whose first line is the password",
     NULL},
    {"client-certificate", 0, CLI_FLAG_TEXT, AT(client_certificate), "FILE", "client certificate (PEM)",
     NULL},
    {"client-key", 0, CLI_FLAG_TEXT, AT(client_key), "FILE", "private key of the client certificate (PEM)",
     NULL},
    {"certificate-authority", 0, CLI_FLAG_TEXT, AT(certificate_authority), "FILE",
     "CA certificates to verify the server with (PEM)", NULL},
    {"insecure-skip-tls-verify", 0, CLI_FLAG_BOOL, AT(insecure_skip_tls_verify), NULL,
     "do not verify the server's certificate", NULL},
    {"allow-plaintext-credentials", 0, CLI_FLAG_BOOL, AT(allow_plaintext_credentials), NULL,
     "send tokens and passwords over http:// too", NULL},
    {"tls-server-name", 0, CLI_FLAG_TEXT, AT(tls_server_name), "NAME",
     "name to verify in the server's certificate", NULL},
    {"as", 0, CLI_FLAG_TEXT, AT(as), "USER", "user to impersonate", NULL},
    {"as-uid", 0, CLI_FLAG_TEXT, AT(as_uid), "UID", "UID to impersonate", NULL},
    {"as-group", 0, CLI_FLAG_TEXTS, AT(as_groups), "GROUP", "group to impersonate; may be repeated", NULL},
    {"disable-compression", 0, CLI_FLAG_BOOL, AT(disable_compression), NULL,
     "accepted for compatibility with kubectl; responses are never compressed", NULL},
    {"request-timeout", 0, CLI_FLAG_TIMEOUT, AT(request_timeout_ms), "DURATION",
     "how long a response may take to begin (default 60s); see below", NULL},
};

cli_flag_group cli_connection_flags(cli_connection *connection)
{
    return (cli_flag_group){"Cluster and credentials, as with kubectl", flags,
                            sizeof(flags) / sizeof(flags[0]), connection};
}

/* An empty value counts as not set, as in kubectl. */
static const char *said(const char *text)
{
    return text == NULL || text[0] == 0 ? NULL : text;
}

/* Flags take precedence over the environment. */
int cli_connection_read_secrets(cli_connection *connection, ki_error *err)
{
    const char *file = said(connection->password_file);
    bool has_token = said(connection->token) != NULL, has_name = said(connection->username) != NULL;
    bool has_password = said(connection->password) != NULL;
    if (has_token && said(connection->token_file) != NULL)
        return cli_fail(err, "--token and --token-file cannot be used together");
    if (has_password && file != NULL)
        return cli_fail(err, "--password and --password-file cannot be used together");
    if (file != NULL)
        return cli_secret_word_read("--password-file", file, &connection->password, err);
    if (has_name && !has_password)
        connection->password = cli_secret_word_of("KINFORMER_PASSWORD");
    if (!has_token && !has_name && !has_password && said(connection->token_file) == NULL)
        connection->token = cli_secret_word_of("KINFORMER_TOKEN");
    return 0;
}

/* A request timeout that is shorter than the connect timeout limits the connection, too; 0 for the
 * default. */
static uint64_t connect_timeout_ms(const cli_connection *connection)
{
    const uint64_t usual_ms = 30 * 1000;
    return connection->request_timeout_ms < usual_ms ? connection->request_timeout_ms : 0;
}

ki_client_options cli_connection_options(const cli_connection *connection)
{
    return (ki_client_options){
        .insecure_skip_tls_verify = connection->insecure_skip_tls_verify,
        .allow_plaintext_credentials = connection->allow_plaintext_credentials,
        .kubeconfig = said(connection->kubeconfig),
        .context = said(connection->context),
        .cluster = said(connection->cluster),
        .kube_user = said(connection->user),
        .server = said(connection->server),
        .token = said(connection->token),
        .token_file = said(connection->token_file),
        .certificate_authority = said(connection->certificate_authority),
        .tls_server_name = said(connection->tls_server_name),
        .client_certificate = said(connection->client_certificate),
        .client_key = said(connection->client_key),
        .username = said(connection->username),
        .password = said(connection->password),
        .as_user = said(connection->as),
        .as_uid = said(connection->as_uid),
        .as_groups = connection->as_groups.count == 0 ? NULL : connection->as_groups.items,
        .connect_timeout_ms = connect_timeout_ms(connection),
        .request_timeout_ms = connection->request_timeout_ms,
    };
}

const char *cli_connection_advice(const char *message)
{
    return strstr(message, "set allow_plaintext_credentials in ki_client_options") == NULL
               ? NULL
               : "use --allow-plaintext-credentials to send them anyway";
}
