/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/objects.h"

#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

enum { PADDING_MAX = 4096 };

ki_object *object_of(const char *name, uint64_t version, size_t padding)
{
    char json[PADDING_MAX + 512];
    int n = snprintf(json, sizeof(json),
                     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\","
                     "\"name\":\"%s\",\"resourceVersion\":\"%" PRIu64 "\",\"labels\":{\"x\":\"%0*d\"}}}",
                     name, version, (int)padding, 0);
    if (n < 0 || (size_t)n >= sizeof(json))
        abort();
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    if (object == NULL)
        abort();
    return object;
}

uint64_t object_version(const ki_object *object)
{
    ki_str text = ki_object_resource_version(object);
    uint64_t version = 0;
    for (size_t i = 0; i < text.len; i++)
        version = version * 10 + (uint64_t)(text.ptr[i] - '0');
    return version;
}
