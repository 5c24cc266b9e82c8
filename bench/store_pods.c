/* SPDX-License-Identifier: Apache-2.0 */
#include "store_pods.h"

#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

ki_object *store_pods_make(size_t number, uint64_t version)
{
    char json[256];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"namespace-%zu\",\"name\":\"pod-%zu-x7k2p\","
                     "\"resourceVersion\":\"%" PRIu64 "\"}}",
                     number % STORE_PODS_NAMESPACES, number, version);
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    if (object == NULL) {
        abort();
    }
    return object;
}

void store_pods_init(struct store_pods *pods, size_t count, uint64_t version)
{
    pods->objects = malloc(count * sizeof(ki_object *));
    pods->count = count;
    if (pods->objects == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        pods->objects[i] = store_pods_make(i, version);
    }
}

void store_pods_fini(struct store_pods *pods)
{
    for (size_t i = 0; i < pods->count; i++) {
        (void)ki_object_unref(pods->objects[i]);
    }
    free(pods->objects);
}
