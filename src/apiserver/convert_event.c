/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>

#include "apiserver/convert_parts.h"

/* The same field in v1, and in events.k8s.io. */
static const char *const names[][2] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"count", "deprecatedCount"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"reportingComponent", "reportingController"},
};

static int rename_fields(json_t *tree, int from, int to)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *value = json_object_get(tree, names[i][from]);
        if (value != NULL && json_object_set(tree, names[i][to], value) < 0)
            return KI_ERR_NO_MEMORY;
        (void)json_object_del(tree, names[i][from]);
    }
    return 0;
}

int ki_as_event_show(json_t *tree)
{
    return rename_fields(tree, 0, 1);
}

int ki_as_event_keep(json_t *tree)
{
    return rename_fields(tree, 1, 0);
}
