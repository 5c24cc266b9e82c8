/* SPDX-License-Identifier: Apache-2.0 */
/* connection_flags - flags for the connection and credentials, as in kubectl, for every command.
 *
 *   From:     cli/cmd_*.c, cli/watch_flags.c, cli/watch_notes.c
 *   To:       ki_client_options
 *   Locks:    none.
 */
#ifndef KI_CLI_CONNECTION_FLAGS_H
#define KI_CLI_CONNECTION_FLAGS_H

#include <kinformer/client.h>

#include "cli/flags.h"

typedef struct cli_connection {
    const char *kubeconfig;
    const char *context;
    const char *cluster;
    const char *user;
    const char *server;
    const char *token;
    const char *token_file;
    const char *username;
    const char *password;
    const char *password_file;
    const char *client_certificate;
    const char *client_key;
    const char *certificate_authority;
    int insecure_skip_tls_verify;
    int allow_plaintext_credentials;
    const char *tls_server_name;
    const char *as;
    const char *as_uid;
    cli_texts as_groups;
    int disable_compression; /* ignored: compression is never requested */
    uint64_t request_timeout_ms;
} cli_connection;

/* The flags that fill in `connection`. */
cli_flag_group cli_connection_flags(cli_connection *connection);

/* Reads token and password from files and the environment. Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_connection_read_secrets(cli_connection *connection, ki_error *err);

/* The corresponding client options; they borrow the strings, and point into `connection`. */
ki_client_options cli_connection_options(const cli_connection *connection);

/* The flag for the option that a message of the library recommends, as advice; NULL if it recommends none. */
const char *cli_connection_advice(const char *message);

#endif
