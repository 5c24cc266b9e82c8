/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/apiserver_flags.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/secret_word.h"

#define AT(member) offsetof(cli_apiserver_flags, member)

static const cli_flag where_flags[] = {
    {"port", 'p', CLI_FLAG_NUMBER, AT(port), "N", "port to listen on (default 8001); 0 picks a free one",
     NULL},
    {"bind", 0, CLI_FLAG_TEXT, AT(bind), "ADDRESS",
     "address to listen on (default 127.0.0.1: this machine only)", NULL},
    {"tls", 0, CLI_FLAG_BOOL, AT(tls), NULL, "serve HTTPS with a certificate made for this run", NULL},
    {"tls-cert-file", 0, CLI_FLAG_TEXT, AT(certificate), "FILE", "serve HTTPS with this certificate (PEM)",
     NULL},
    {"tls-private-key-file", 0, CLI_FLAG_TEXT, AT(key), "FILE", "private key of that certificate (PEM)",
     NULL},
    {"token", 0, CLI_FLAG_SECRETS, AT(tokens), "TOKEN",
     "require this bearer token; may be repeated; or $KINFORMER_APISERVER_TOKEN", NULL},
    {"token-file", 0, CLI_FLAG_TEXTS, AT(token_files), "FILE",
     "file whose first line is a token; may be repeated", NULL},
    {"allow-host", 0, CLI_FLAG_TEXTS, AT(hosts), "NAME",
     "host name accepted without a token, besides localhost and addresses; may be repeated", NULL},
    {"kubeconfig-out", 0, CLI_FLAG_TEXT, AT(kubeconfig_out), "FILE", "write a kubeconfig for this server",
     NULL},
};

static const cli_flag what_flags[] = {
    {"load", 'f', CLI_FLAG_TEXTS, AT(load), "PATH",
     "load objects (YAML or JSON) from a file or a folder; may be repeated", NULL},
    {"simulate", 0, CLI_FLAG_TEXT, AT(simulate), "deployments",
     "make replicas of Deployments available after a moment, without pods", NULL},
    {"history", 0, CLI_FLAG_NUMBER, AT(history), "N", "changes to keep for each resource (default 10000)",
     NULL},
    {"history-bytes", 0, CLI_FLAG_NUMBER, AT(history_bytes), "BYTES",
     "bytes of objects in the history of a resource (default 268435456)", NULL},
    {"objects-max", 0, CLI_FLAG_NUMBER, AT(objects_max), "N", "objects to accept (default 1000000)", NULL},
    {"watches-max", 0, CLI_FLAG_NUMBER, AT(watches_max), "N", "watches to accept (default 10000)", NULL},
    {"body-max", 0, CLI_FLAG_NUMBER, AT(body_max), "BYTES", "largest request body (default 3145728)", NULL},
    {"object-max", 0, CLI_FLAG_NUMBER, AT(object_max), "BYTES", "largest object (default 3145728)", NULL},
    {"in-flight-max", 0, CLI_FLAG_NUMBER, AT(in_flight_max), "BYTES",
     "bytes of requests and responses in flight (default 1073741824)", NULL},
    {"bookmarks", 0, CLI_FLAG_DURATION, AT(bookmark_ms), "DURATION",
     "interval between bookmarks (default 1m)", NULL},
};

static const cli_flag fault_flags[] = {
    {"fault", 0, CLI_FLAG_TEXTS, AT(faults), "FAULT", "inject a fault; see below; may be repeated", NULL},
    {"debug", 0, CLI_FLAG_BOOL, AT(debug), NULL, "serve /debug/…", NULL},
    {"seed", 0, CLI_FLAG_NUMBER, AT(seed), "N", "seed for random choices; 0 picks one", NULL},
};

void cli_apiserver_flags_init(cli_apiserver_flags *flags, cli_flag_group out_groups[CLI_APISERVER_GROUPS])
{
    *flags = (cli_apiserver_flags){.port = 8001};
    out_groups[0] =
        (cli_flag_group){"Listening", where_flags, sizeof(where_flags) / sizeof(where_flags[0]), flags};
    out_groups[1] = (cli_flag_group){"Contents and limits", what_flags,
                                     sizeof(what_flags) / sizeof(what_flags[0]), flags};
    out_groups[2] =
        (cli_flag_group){"Faults", fault_flags, sizeof(fault_flags) / sizeof(fault_flags[0]), flags};
}

/* ---- secrets ------------------------------------------------------------------------------------------- */

static int add_token(cli_texts *tokens, const char *token, ki_error *err)
{
    if (tokens->count == CLI_TEXTS_MAX)
        return cli_fail(err, "more than %d tokens", CLI_TEXTS_MAX);
    tokens->items[tokens->count++] = token;
    return 0;
}

int cli_apiserver_flags_read_secrets(cli_apiserver_flags *flags, ki_error *err)
{
    const char *of_environment = cli_secret_word_of("KINFORMER_APISERVER_TOKEN");
    int rc = 0;
    for (size_t i = 0; i < flags->token_files.count && rc == 0; i++) {
        const char *token = NULL;
        rc = cli_secret_word_read("--token-file", flags->token_files.items[i], &token, err);
        if (rc == 0)
            rc = add_token(&flags->tokens, token, err);
    }
    if (rc == 0 && flags->tokens.count == 0 && of_environment != NULL)
        rc = add_token(&flags->tokens, of_environment, err);
    return rc;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

int cli_apiserver_flags_check(const cli_apiserver_flags *flags, ki_error *err)
{
    if (flags->port > UINT16_MAX)
        return cli_fail(err, "-p (--port): %lld is not a port (0 to 65535)", (long long)flags->port);
    if ((flags->certificate == NULL) != (flags->key == NULL))
        return cli_fail(err, "--tls-cert-file and --tls-private-key-file must be used together");
    for (size_t i = 0; i < flags->tokens.count; i++)
        if (flags->tokens.items[i][0] == 0)
            return cli_fail(err, "--token: the token is empty");
    for (size_t i = 0; i < flags->hosts.count; i++)
        if (flags->hosts.items[i][0] == 0)
            return cli_fail(err, "--allow-host: the name is empty");
    if (flags->simulate != NULL && strcmp(flags->simulate, "deployments") != 0)
        return cli_fail(err, "--simulate: \"%s\" cannot be simulated, only deployments", flags->simulate);
    for (size_t i = 0; i < flags->faults.count; i++) {
        char texts[CLI_FAULT_BYTES];
        ki_fault fault;
        int rc = cli_fault_parse(flags->faults.items[i], &fault, texts, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int is_loopback(const char *address)
{
    struct in_addr in;
    struct in6_addr in6;
    if (address == NULL || strcmp(address, "localhost") == 0)
        return 1;
    if (inet_pton(AF_INET, address, &in) == 1)
        return ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &in6) == 1 && IN6_IS_ADDR_LOOPBACK(&in6);
}

const char *cli_apiserver_flags_warning(const cli_apiserver_flags *flags)
{
    if (is_loopback(flags->bind))
        return NULL;
    if (flags->tokens.count == 0)
        return "WARNING: without --token, anyone who can reach this address can read and change everything";
    if (!flags->tls && flags->certificate == NULL)
        return "WARNING: without --tls, tokens are sent in the clear and can be stolen";
    return NULL;
}

ki_apiserver_options cli_apiserver_options(const cli_apiserver_flags *flags)
{
    return (ki_apiserver_options){.bind = flags->bind,
                                  .port = (uint16_t)flags->port,
                                  .is_tls = flags->tls != 0,
                                  .allows_debug = flags->debug != 0,
                                  .certificate_file = flags->certificate,
                                  .key_file = flags->key,
                                  .tokens = flags->tokens.count > 0 ? flags->tokens.items : NULL,
                                  .seed = (uint64_t)flags->seed,
                                  .bookmark_ms = flags->bookmark_ms,
                                  .history_events = (size_t)flags->history,
                                  .objects_max = (size_t)flags->objects_max,
                                  .watches_max = (size_t)flags->watches_max,
                                  .body_bytes_max = (size_t)flags->body_max,
                                  .object_bytes_max = (size_t)flags->object_max,
                                  .history_bytes = (size_t)flags->history_bytes,
                                  .in_flight_bytes_max = (size_t)flags->in_flight_max,
                                  .hosts = flags->hosts.count > 0 ? flags->hosts.items : NULL,
                                  .simulate = flags->simulate != NULL ? KI_SIMULATE_DEPLOYMENTS : 0};
}
