/* SPDX-License-Identifier: Apache-2.0 */
/* The server and the credentials of a client. */
#include <assert.h>

#include "client/client.h"

/* This many bytes are read and decoded in less than a millisecond. ki_client_dispatch() checks its budget
 * between two such pieces. */
enum { BYTES_AT_ONCE = 128 * 1024 };

int ki_client_connect_as_configured(ki_client *client, ki_error *err)
{
    assert(client->ns == NULL);
    const ki_client_options *options = &client->options;
    ki_http_options http = {.connect_timeout_ms = options->connect_timeout_ms,
                            .request_timeout_ms = options->request_timeout_ms,
                            .head_bytes_max = options->head_bytes_max,
                            .connections_max = options->connections_max,
                            .use_http2 = options->http2 != 0,
                            .use_gzip = options->gzip != 0,
                            .user_agent = options->user_agent};
    ki_config config = {0};
    int rc = ki_client_load(options, &config, err);
    if (rc == 0)
        rc = ki_client_connect(client, &config, &http, err);
    if (rc == 0) {
        client->ns = config.ns; /* ownership moves */
        config.ns = NULL;
    }
    ki_config_fini(&config);
    return rc;
}

int ki_client_set_token(ki_client *client, const char *token)
{
    if (client == NULL || token == NULL || client->credentials == NULL)
        return KI_ERR_INVALID;
    if (ki_client_is_foreign(client))
        return KI_ERR_FORKED;
    return ki_credentials_set_token(client->credentials, token);
}

const char *ki_client_namespace(const ki_client *client)
{
    return client == NULL || client->ns == NULL ? "default" : client->ns;
}

int ki_client_connect(ki_client *client, const ki_config *config, const ki_http_options *options,
                      ki_error *err)
{
    assert(client->http == NULL && client->credentials == NULL);
    ki_http_options http = options != NULL ? *options : (ki_http_options){0};
    ki_error why = {0};
    client->credentials = ki_credentials_new(config, client->io, &why);
    if (client->credentials != NULL) {
        http.config = config;
        http.credentials = client->credentials;
        http.loop = client->io;
        http.metrics = client->metrics;
        if (client->options.mode == KI_MODE_EVENT_LOOP && http.bytes_at_once == 0)
            http.bytes_at_once = BYTES_AT_ONCE;
        client->http = ki_http_new(&http, &why);
    }
    if (client->http != NULL)
        return 0;
    ki_credentials_free(client->credentials);
    client->credentials = NULL;
    if (err != NULL)
        *err = why;
    return why.code;
}
