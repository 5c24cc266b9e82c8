/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/convert.h"

#include <string.h>

#include "apiserver/convert_parts.h"
#include "apiserver/defaults.h"

static const struct ki_as_resource kept_events = {.group = "",
                                                  .version = "v1",
                                                  .plural = "events",
                                                  .kind = "Event",
                                                  .api_version = "v1",
                                                  .is_namespaced = true};

struct conversion {
    const char *plural;
    const char *group;
    const char *version; /* NULL: all of the group */
    const struct ki_as_resource *kept;
    int (*show)(json_t *tree);
    int (*keep)(json_t *tree);
};

static const struct conversion conversions[] = {
    {"events", "events.k8s.io", NULL, &kept_events, ki_as_event_show, ki_as_event_keep},
    {"horizontalpodautoscalers", "autoscaling", "v1", &ki_as_autoscaler_kept, ki_as_autoscaler_show,
     ki_as_autoscaler_keep},
};

/* NULL for nearly all. */
static const struct conversion *conversion_of(const struct ki_as_resource *resource)
{
    for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++) {
        const struct conversion *at = &conversions[i];
        if (strcmp(resource->plural, at->plural) == 0 && strcmp(resource->group, at->group) == 0 &&
            (at->version == NULL || strcmp(resource->version, at->version) == 0))
            return at;
    }
    return NULL;
}

bool ki_as_is_converted(const struct ki_as_resource *resource)
{
    return conversion_of(resource) != NULL;
}

const struct ki_as_resource *ki_as_stored_resource(const struct ki_as_resource *resource)
{
    const struct conversion *conversion = conversion_of(resource);
    return conversion == NULL ? resource : conversion->kept;
}

json_t *ki_as_shown_tree(const struct ki_as_resource *resource, const struct ki_as_object *object)
{
    const struct conversion *conversion = conversion_of(resource);
    json_t *tree = ki_as_object_tree(object, resource->kind, resource->api_version);
    if (tree != NULL && conversion != NULL && conversion->show(tree) < 0) {
        json_decref(tree);
        tree = NULL;
    }
    return tree;
}

/* What one form may leave out the other always shows. */
int ki_as_convert_to_stored(const struct ki_as_resource *resource, json_t *tree)
{
    const struct conversion *conversion = conversion_of(resource);
    int rc = conversion == NULL ? 0 : conversion->keep(tree);
    return rc < 0 ? rc : ki_as_defaults_apply(ki_as_stored_resource(resource), tree);
}
