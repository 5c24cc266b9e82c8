/* SPDX-License-Identifier: Apache-2.0 */
/* list_pods - an informer of all pods whose first list asks for the newest version, whole or in pages. By
 * default an informer asks for any version first, which servers answer without pages.
 * Ends when it has synced. */
#include <kinformer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 300 * 1000 };

static void ask_for_newest(ki_list_options *options, void *user)
{
    (void)user;
    if (ki_str_equal(options->resource_version, KI_STR("0"))) {
        options->resource_version = KI_STR("");
    }
}

static int sync(ki_client *client, int64_t page_size, ki_error *err)
{
    ki_informer_options options = {
        .page_size = page_size, .watch_list = KI_WATCH_LIST_NEVER, .tweak = ask_for_newest};
    ki_informer_status status = {0};
    ki_informer *pods = ki_informer_new(client, &KI_CORE_V1_PODS, &options, err);
    int rc = pods == NULL ? err->code : ki_informer_start(pods, err);
    if (rc == 0) {
        rc = ki_informer_wait_for_sync(pods, PATIENCE_MS, err);
    }
    if (rc == 0) {
        ki_informer_read_status(pods, &status);
        printf("{\"objects\":%zu,\"bytes_read\":%llu}\n", ki_store_count(ki_informer_store(pods)),
               (unsigned long long)status.bytes_read);
    }
    ki_informer_free(pods);
    return rc;
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: %s KUBECONFIG json|protobuf PAGE_SIZE\n", arguments[0]);
        return 2;
    }
    ki_error err = {0};
    ki_wire wire = strcmp(arguments[2], "json") == 0 ? KI_WIRE_JSON : KI_WIRE_PROTOBUF;
    ki_client *client = ki_client_new(&(ki_client_options){.kubeconfig = arguments[1], .wire = wire}, &err);
    int rc = client == NULL ? err.code : sync(client, strtoll(arguments[3], NULL, 10), &err);
    if (rc < 0) {
        fprintf(stderr, "list_pods: %s\n", err.message);
    }
    ki_client_free(client);
    return rc < 0;
}
