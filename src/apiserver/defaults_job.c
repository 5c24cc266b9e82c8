/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/defaults.h"
#include "apiserver/tree.h"

/* The same labels, by their old names and by those of today. */
static int label(json_t *labels, const char *const names[2], const char *text)
{
    for (size_t i = 0; i < 2; i++)
        if (json_object_set_new(labels, names[i], json_string(text)) < 0)
            return KI_ERR_NO_MEMORY;
    return 0;
}

static int label_pods(json_t *tree)
{
    static const char *const uids[] = {"batch.kubernetes.io/controller-uid", "controller-uid"};
    static const char *const names[] = {"batch.kubernetes.io/job-name", "job-name"};
    json_t *metadata = json_object_get(tree, "metadata");
    json_t *labels = NULL;
    int rc = ki_as_tree_object(tree, "spec.template.metadata.labels", &labels);
    if (rc < 0 || labels == NULL)
        return rc;
    rc = label(labels, uids, ki_as_tree_text(metadata, "uid"));
    if (rc == 0)
        rc = label(labels, names, ki_as_tree_text(metadata, "name"));
    if (rc == 0 && json_object_size(json_object_get(metadata, "labels")) == 0 &&
        json_object_set_new(metadata, "labels", ki_as_json_copy(labels)) < 0)
        rc = KI_ERR_NO_MEMORY;
    return rc;
}

static int select_pods(json_t *tree)
{
    json_t *wanted = NULL;
    int rc = ki_as_tree_object(tree, "spec.selector.matchLabels", &wanted);
    if (rc < 0 || wanted == NULL)
        return rc;
    json_t *uid = json_object_get(json_object_get(tree, "metadata"), "uid");
    return json_object_set(wanted, "batch.kubernetes.io/controller-uid", uid) < 0 ? KI_ERR_NO_MEMORY : 0;
}

int ki_as_job_begin(json_t *tree)
{
    json_t *spec = json_object_get(tree, "spec");
    if (!json_is_object(json_object_get(spec, "template")) || ki_as_tree_is_true(spec, "manualSelector"))
        return 0;
    int rc = ki_as_tree_default(spec, "manualSelector", json_false());
    if (rc == 0)
        rc = label_pods(tree);
    return rc < 0 ? rc : select_pods(tree);
}
