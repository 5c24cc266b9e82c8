/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>

#include "reference.h"

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void mix_string(struct reference_result *result, const cJSON *value)
{
    if (cJSON_IsString(value)) {
        reference_mix(result, value->valuestring, strlen(value->valuestring));
    }
}

static void mix_labels(struct reference_result *result, const cJSON *labels)
{
    const cJSON *label;
    cJSON_ArrayForEach(label, labels)
    {
        reference_mix(result, label->string, strlen(label->string));
        mix_string(result, label);
    }
}

static void mix_owners(struct reference_result *result, const cJSON *owners)
{
    const cJSON *owner;
    cJSON_ArrayForEach(owner, owners)
    {
        mix_string(result, member(owner, "uid"));
    }
}

static void mix_object(struct reference_result *result, const cJSON *object)
{
    const cJSON *metadata = member(object, "metadata");
    mix_string(result, member(metadata, "name"));
    mix_string(result, member(metadata, "namespace"));
    mix_string(result, member(metadata, "uid"));
    mix_string(result, member(metadata, "resourceVersion"));
    mix_string(result, member(metadata, "creationTimestamp"));
    mix_labels(result, member(metadata, "labels"));
    mix_owners(result, member(metadata, "ownerReferences"));
    result->objects++;
}

bool reference_cjson_list(const char *data, size_t length, struct reference_result *result)
{
    cJSON *list = cJSON_ParseWithLength(data, length);
    if (list == NULL) {
        return false;
    }
    mix_string(result, member(list, "kind"));
    mix_string(result, member(list, "apiVersion"));
    const cJSON *item;
    cJSON_ArrayForEach(item, member(list, "items"))
    {
        mix_object(result, item);
    }
    cJSON_Delete(list);
    return true;
}

static bool read_event(const char *line, size_t length, struct reference_result *result)
{
    cJSON *event = cJSON_ParseWithLength(line, length);
    if (event == NULL) {
        return false;
    }
    const cJSON *object = member(event, "object");
    mix_string(result, member(event, "type"));
    mix_string(result, member(object, "kind"));
    mix_string(result, member(object, "apiVersion"));
    mix_object(result, object);
    cJSON_Delete(event);
    return true;
}

bool reference_cjson_watch(const char *data, size_t length, struct reference_result *result)
{
    return reference_lines(data, length, read_event, result);
}
