/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/event.h"

static const struct {
    ki_str name;
    int result;
} types[] = {
    {{"ADDED", 5}, KI_CHANGE_ADDED},     {{"MODIFIED", 8}, KI_CHANGE_UPDATED},
    {{"DELETED", 7}, KI_CHANGE_DELETED}, {{"BOOKMARK", 8}, KI_CHANGE_BOOKMARK},
    {{"ERROR", 5}, KI_WATCH_ERROR},
};

int ki_event_result(ki_str type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (ki_str_equal(types[i].name, type))
            return types[i].result;
    return 0;
}

int ki_event_bookmark(ki_json object, ki_buf *out_version, int *out_ends_initial_events)
{
    ki_json version = ki_json_find(object, "/metadata/resourceVersion");
    ki_json end = ki_json_find(object, "/metadata/annotations/k8s.io~1initial-events-end");
    *out_ends_initial_events = ki_json_string_equals(end, KI_STR("true"));
    out_version->len = 0;
    if (ki_json_type_of(version) != KI_JSON_STRING)
        return 0;
    int rc = ki_buf_reserve(out_version, version.raw.len);
    return rc < 0 ? rc : ki_json_string_copy(version, out_version->data, out_version->cap, &out_version->len);
}
