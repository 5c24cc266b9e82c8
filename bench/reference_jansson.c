/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include "reference.h"

static void mix_string(struct reference_result *result, const json_t *value)
{
    if (json_is_string(value)) {
        reference_mix(result, json_string_value(value), json_string_length(value));
    }
}

static void mix_labels(struct reference_result *result, json_t *labels)
{
    const char *key;
    json_t *value;
    json_object_foreach(labels, key, value)
    {
        reference_mix(result, key, strlen(key));
        mix_string(result, value);
    }
}

static void mix_owners(struct reference_result *result, const json_t *owners)
{
    for (size_t i = 0; i < json_array_size(owners); i++) {
        mix_string(result, json_object_get(json_array_get(owners, i), "uid"));
    }
}

static void mix_object(struct reference_result *result, const json_t *object)
{
    const json_t *metadata = json_object_get(object, "metadata");
    mix_string(result, json_object_get(metadata, "name"));
    mix_string(result, json_object_get(metadata, "namespace"));
    mix_string(result, json_object_get(metadata, "uid"));
    mix_string(result, json_object_get(metadata, "resourceVersion"));
    mix_string(result, json_object_get(metadata, "creationTimestamp"));
    mix_labels(result, json_object_get(metadata, "labels"));
    mix_owners(result, json_object_get(metadata, "ownerReferences"));
    result->objects++;
}

bool reference_jansson_list(const char *data, size_t length, struct reference_result *result)
{
    json_t *list = json_loadb(data, length, 0, NULL);
    if (list == NULL) {
        return false;
    }
    mix_string(result, json_object_get(list, "kind"));
    mix_string(result, json_object_get(list, "apiVersion"));
    const json_t *items = json_object_get(list, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        mix_object(result, json_array_get(items, i));
    }
    json_decref(list);
    return true;
}

static bool read_event(const char *line, size_t length, struct reference_result *result)
{
    json_t *event = json_loadb(line, length, 0, NULL);
    if (event == NULL) {
        return false;
    }
    const json_t *object = json_object_get(event, "object");
    mix_string(result, json_object_get(event, "type"));
    mix_string(result, json_object_get(object, "kind"));
    mix_string(result, json_object_get(object, "apiVersion"));
    mix_object(result, object);
    json_decref(event);
    return true;
}

bool reference_jansson_watch(const char *data, size_t length, struct reference_result *result)
{
    return reference_lines(data, length, read_event, result);
}
