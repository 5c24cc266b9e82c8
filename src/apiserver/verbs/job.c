/* SPDX-License-Identifier: Apache-2.0 */
/* A new Job gets a selector that matches its own pods only. */
#include <assert.h>

#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

#define UID_LABEL "batch.kubernetes.io/controller-uid"
#define NAME_LABEL "batch.kubernetes.io/job-name"

/* Adds a label unless it is set. Takes the value. Returns -1 if out of memory. */
static int add(json_t *labels, const char *name, json_t *value)
{
    if (json_object_get(labels, name) == NULL)
        return value == NULL ? -1 : json_object_set_new(labels, name, value);
    json_decref(value);
    return 0;
}

static int label(const json_t *tree, json_t *labels)
{
    assert(json_is_object(labels));
    const char *uid = ki_as_tree_text(tree, "metadata.uid");
    const char *name = ki_as_tree_text(tree, "metadata.name"); /* "" is rejected later */
    int rc = add(labels, UID_LABEL, json_string(uid));
    if (rc == 0)
        rc = add(labels, NAME_LABEL, json_string(name));
    if (rc == 0)
        rc = add(labels, "controller-uid", json_string(uid));
    return rc < 0 ? rc : add(labels, "job-name", json_string(name));
}

/* A Job without labels gets those of its pods. */
static int copy_labels(json_t *tree, const json_t *labels)
{
    assert(json_is_object(labels));
    json_t *metadata = ki_as_metadata(tree);
    if (json_object_size(json_object_get(metadata, "labels")) > 0)
        return 0;
    json_t *copy = json_copy((json_t *)labels);
    return copy == NULL ? -1 : json_object_set_new(metadata, "labels", copy);
}

int ki_as_job_begin(const struct ki_as_verb *verb, json_t *tree)
{
    assert(ki_as_tree_text(tree, "metadata.uid")[0] != '\0');
    const char *uid = ki_as_tree_text(tree, "metadata.uid");
    json_t *labels = NULL;
    json_t *selected = NULL;
    bool has_pods = json_is_object(ki_as_tree_at(tree, "spec.template.spec"));
    if (!has_pods || json_is_true(ki_as_tree_at(tree, "spec.manualSelector")))
        return 0;
    int rc = ki_as_tree_object(tree, "spec.template.metadata.labels", &labels);
    if (rc == 0)
        rc = ki_as_tree_object(tree, "spec.selector.matchLabels", &selected);
    if (rc == 0 && labels != NULL && selected != NULL) {
        rc = label(tree, labels);
        if (rc == 0)
            rc = add(selected, UID_LABEL, json_string(uid));
        if (rc == 0)
            rc = copy_labels(tree, labels);
    }
    return rc < 0 ? ki_as_fail_no_memory(verb->failure) : 0;
}
