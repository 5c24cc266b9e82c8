/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/source.h"

#include "client/callback.h"
#include "client/client.h"
#include "reflector/http_source.h"
#include "util/error.h"

int ki_source_open(const ki_client *client, const ki_resource *resource, const ki_informer_options *options,
                   ki_list_watch *out_list_watch, ki_error *err)
{
    if (options->list_watch != NULL) {
        *out_list_watch = *options->list_watch;
        return 0;
    }
    if (client->options.source == NULL && client->http != NULL)
        return ki_http_source_open(client->http, resource, options, out_list_watch, err);
    if (client->options.source == NULL)
        return ki_fail(err, KI_ERR_INVALID, "%s: neither the client nor the options have a source",
                       resource->plural);
    ki_error why = {0};
    /* Calls that wait are refused in it: the informer they would wait for is being made. */
    ki_callback_enter();
    int rc = client->options.source(resource, options->ns, out_list_watch, &why, client->options.source_user);
    ki_callback_leave();
    if (rc < 0 && why.code == 0)
        return ki_fail(err, rc, "%s: the client's source failed: %s", resource->plural, ki_error_text(rc));
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}
