/* SPDX-License-Identifier: Apache-2.0 */
#include "http_informer.h"

#include <stdio.h>
#include <stdlib.h>

static ki_client *connect_to(const char *scheme, unsigned port, ki_client_options *options)
{
    ki_error err = {0};
    char server[64];
    (void)snprintf(server, sizeof(server), "%s://127.0.0.1:%u", scheme, port);
    options->server = server;
    /* The user's kubeconfig must not be used. */
    setenv("HOME", "/nonexistent", 1);
    unsetenv("KUBECONFIG");
    ki_client *client = ki_client_new(options, &err);
    if (client == NULL) {
        fprintf(stderr, "client: %s\n", err.message);
    }
    return client;
}

ki_client *http_client_new(unsigned port, size_t handler_threads)
{
    return connect_to("http", port, &(ki_client_options){.handler_threads = handler_threads});
}

ki_client *http_client_new_tls(unsigned port)
{
    return connect_to("https", port, &(ki_client_options){.insecure_skip_tls_verify = 1});
}

ki_informer *http_informer_new(ki_client *client, const char *ns)
{
    ki_error err = {0};
    const ki_informer_options options = {.ns = ns, .watch_list = KI_WATCH_LIST_NEVER};
    ki_informer *informer = ki_informer_new(client, &KI_CORE_V1_PODS, &options, &err);
    if (informer == NULL) {
        fprintf(stderr, "informer: %s\n", err.message);
    }
    return informer;
}

bool http_informer_sync(ki_informer *informer)
{
    ki_error err = {0};
    if (ki_informer_start(informer, &err) < 0 ||
        ki_informer_wait_for_sync(informer, HTTP_TIMEOUT_MS, &err) < 0) {
        fprintf(stderr, "sync: %s\n", err.message);
        return false;
    }
    return true;
}
