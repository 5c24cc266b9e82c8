/* SPDX-License-Identifier: Apache-2.0 */
/* The namespace of a client without a configuration: what its options say. */
#include "cache/client.h"

const char *ki_client_namespace(const ki_client *client)
{
    return client == NULL || client->options.ns == NULL ? "default" : client->options.ns;
}
