/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults beyond the rows of defaults.txt: which kinds contain pods, and values computed from others. */
#include <ctype.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/defaults_parts.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/base64.h"

static int default_namespace(json_t *tree)
{
    json_t *labels = NULL;
    const char *name = ki_as_tree_text(tree, "metadata.name");
    int rc = ki_as_tree_object(tree, "metadata.labels", &labels);
    if (rc == 0 && labels != NULL && name[0] != 0 &&
        json_object_set_new(labels, "kubernetes.io/metadata.name", json_string(name)) < 0)
        rc = KI_ERR_NO_MEMORY;
    return rc;
}

static int encode(json_t *data, const char *key, ki_str text)
{
    size_t bytes = KI_BASE64_ENCODED_BYTES(text.len);
    char *encoded = ki_malloc(bytes + 1);
    if (encoded == NULL)
        return KI_ERR_NO_MEMORY;
    size_t len = ki_base64_encode(text, encoded);
    int rc = json_object_set_new(data, key, json_stringn(encoded, len));
    ki_free(encoded);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* stringData is write-only: it is merged into data. */
static int default_secret(json_t *tree)
{
    json_t *texts = json_object_get(tree, "stringData");
    json_t *data = NULL;
    const char *key = NULL;
    json_t *text = NULL;
    if (!json_is_object(texts))
        return 0;
    int rc = ki_as_tree_object(tree, "data", &data);
    json_object_foreach(texts, key, text)
    {
        if (rc == 0 && data != NULL && json_is_string(text))
            rc = encode(data, key, ki_as_json_str(text));
    }
    if (rc == 0)
        (void)json_object_del(tree, "stringData");
    return rc;
}

static int default_definition(json_t *tree)
{
    const char *kind = ki_as_tree_text(tree, "spec.names.kind");
    char singular[128];
    size_t len = strlen(kind);
    if (len == 0 || len >= sizeof(singular))
        return 0;
    for (size_t i = 0; i <= len; i++)
        singular[i] = (char)tolower((unsigned char)kind[i]);
    int rc = ki_as_tree_default(tree, "spec.names.singular", json_string(singular));
    if (rc == 0)
        rc = ki_as_tree_default(tree, "spec.names.listKind", json_sprintf("%sList", kind));
    return rc;
}

static const struct kind {
    const char *group;
    const char *plural;
    const char *pod_spec; /* path of the pod spec; NULL if the kind has none */
    int (*more)(json_t *tree);
} kinds[] = {
    {"", "namespaces", NULL, default_namespace},
    {"", "podtemplates", "template.spec", NULL},
    {"", "replicationcontrollers", "spec.template.spec", NULL},
    {"", "secrets", NULL, default_secret},
    {"", "services", NULL, ki_as_defaults_service},
    {"apiextensions.k8s.io", "customresourcedefinitions", NULL, default_definition},
    {"apps", "daemonsets", "spec.template.spec", NULL},
    {"apps", "deployments", "spec.template.spec", NULL},
    {"apps", "replicasets", "spec.template.spec", NULL},
    {"apps", "statefulsets", "spec.template.spec", NULL},
    {"batch", "cronjobs", "spec.jobTemplate.spec.template.spec", NULL},
    {"batch", "jobs", "spec.template.spec", NULL},
};

int ki_as_defaults_of_kind(const struct ki_as_resource *resource, json_t *tree)
{
    if (strcmp(resource->plural, "pods") == 0 && resource->group[0] == '\0')
        return ki_as_defaults_pod(tree, resource->tolerations);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind *kind = &kinds[i];
        if (strcmp(kind->plural, resource->plural) != 0 || strcmp(kind->group, resource->group) != 0)
            continue;
        return kind->more != NULL ? kind->more(tree)
                                  : ki_as_defaults_pod_spec(ki_as_tree_at(tree, kind->pod_spec));
    }
    return 0;
}
