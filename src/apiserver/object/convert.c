/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/convert.h"

#include <assert.h>
#include <kinformer/error.h>

#include "apiserver/kind/defaults.h"

enum form { V1, EVENTS };

static const struct ki_as_resource kept_events = {.group = "",
                                                  .version = "v1",
                                                  .plural = "events",
                                                  .kind = "Event",
                                                  .api_version = "v1",
                                                  .is_namespaced = true};

/* The names of the same field in v1 and in events.k8s.io. */
static const char *const names[][2] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"count", "deprecatedCount"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"reportingComponent", "reportingController"},
};

static int rename_fields(json_t *tree, enum form from, enum form to)
{
    assert(from != to);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *value = json_object_get(tree, names[i][from]);
        if (value != NULL && json_object_set(tree, names[i][to], value) < 0)
            return KI_ERR_NO_MEMORY;
        (void)json_object_del(tree, names[i][from]);
    }
    return 0;
}

bool ki_as_is_converted(const struct ki_as_resource *resource)
{
    return ki_as_resource_is(resource, "events.k8s.io", "events");
}

const struct ki_as_resource *ki_as_stored_resource(const struct ki_as_resource *resource)
{
    return ki_as_is_converted(resource) ? &kept_events : resource;
}

json_t *ki_as_shown_tree(const struct ki_as_resource *resource, const struct ki_as_object *object)
{
    assert(resource != NULL && object != NULL);
    json_t *tree = ki_as_object_tree(object, resource->kind, resource->api_version);
    if (tree != NULL && ki_as_is_converted(resource) && rename_fields(tree, V1, EVENTS) < 0) {
        json_decref(tree);
        tree = NULL;
    }
    return tree;
}

/* The defaults are set again, because fields that are optional in one form are always present in the
 * other. */
int ki_as_convert_to_stored(const struct ki_as_resource *resource, json_t *tree)
{
    int rc = ki_as_is_converted(resource) ? rename_fields(tree, EVENTS, V1) : 0;
    return rc < 0 ? rc : ki_as_defaults_apply(ki_as_stored_resource(resource), tree);
}
