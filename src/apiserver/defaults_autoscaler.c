/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/convert_parts.h"
#include "apiserver/defaults_parts.h"
#include "apiserver/tree.h"

enum { CPU_PERCENT = 80 };

#define END                                                                                                  \
    {                                                                                                        \
        NULL, KI_AS_DEFAULT_TEXT, NULL, 0                                                                    \
    }

static const struct ki_as_default behavior[] = {
    KI_AS_NUMBER("spec.behavior?.scaleUp.stabilizationWindowSeconds", 0),
    KI_AS_TEXT("spec.behavior?.scaleUp.selectPolicy", "Max"),
    KI_AS_TEXT("spec.behavior?.scaleDown.selectPolicy", "Max"),
    END,
};

/* Unless somebody has said it. */
static int fill(json_t *tree, const char *path, json_t *value)
{
    return value == NULL ? KI_ERR_NO_MEMORY : ki_as_tree_default(tree, path, value);
}

static int fill_behavior(json_t *tree)
{
    int rc = ki_as_defaults_fill(tree, behavior);
    if (rc < 0 || !json_is_object(ki_as_tree_at(tree, "spec.behavior")))
        return rc;
    rc = fill(tree, "spec.behavior.scaleUp.policies",
              json_pack("[{s:s, s:i, s:i}, {s:s, s:i, s:i}]", "type", "Pods", "value", 4, "periodSeconds", 15,
                        "type", "Percent", "value", 100, "periodSeconds", 15));
    if (rc < 0)
        return rc;
    return fill(tree, "spec.behavior.scaleDown.policies",
                json_pack("[{s:s, s:i, s:i}]", "type", "Percent", "value", 100, "periodSeconds", 15));
}

/* autoscaling/v1 has other metrics only where an annotation says so, which is read later. */
static int fill_v1(json_t *tree)
{
    const json_t *annotations = ki_as_tree_at(tree, "metadata.annotations");
    if (json_object_get(annotations, "autoscaling.alpha.kubernetes.io/metrics") != NULL)
        return 0;
    return fill(tree, "spec.targetCPUUtilizationPercentage", json_integer(CPU_PERCENT));
}

int ki_as_defaults_autoscaler(const struct ki_as_resource *resource, json_t *tree)
{
    int rc = fill(tree, "spec.minReplicas", json_integer(1));
    json_t *spec = json_object_get(tree, "spec");
    if (rc < 0 || !json_is_object(spec))
        return rc;
    if (strcmp(resource->version, "v1") == 0)
        return fill_v1(tree);
    ki_as_autoscaler_tidy(tree);
    if (json_is_array(json_object_get(spec, "metrics")) &&
        json_array_size(json_object_get(spec, "metrics")) == 0)
        (void)json_object_del(spec, "metrics");
    rc = fill(tree, "spec.metrics",
              json_pack("[{s:s, s:{s:s, s:{s:s, s:i}}}]", "type", "Resource", "resource", "name", "cpu",
                        "target", "type", "Utilization", "averageUtilization", CPU_PERCENT));
    return rc < 0 ? rc : fill_behavior(tree);
}
