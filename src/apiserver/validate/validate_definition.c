/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the names and versions of CustomResourceDefinitions. validate_structural.c checks whether a schema
 * is structural. */
#include <string.h>

#include "apiserver/kind/keyed_list.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

enum { SELECTABLE_MAX = 8 };

static void check_versions(struct ki_as_check *check, const struct ki_as_path *path, const json_t *versions)
{
    size_t index = 0;
    size_t stored = 0;
    struct ki_as_identity identity = ki_as_identity_of("name");
    struct ki_as_keyed_list names = {0};
    bool is_unique = true;
    json_t *version = NULL;
    if (ki_as_keyed_list_init(&names, &identity, versions, 0) < 0)
        ki_as_check_no_memory(check);
    json_array_foreach(versions, index, version)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const struct ki_as_path *schema = KI_AS_MEMBER(at, "schema");
        const json_t *name = json_object_get(version, "name");
        ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_label_1035);
        if (!json_is_object(ki_as_tree_at(version, "schema.openAPIV3Schema")))
            ki_as_check_required(check, KI_AS_MEMBER(schema, "openAPIV3Schema"), "");
        ki_as_check_patterns(check, KI_AS_MEMBER(schema, "openAPIV3Schema"),
                             ki_as_tree_at(version, "schema.openAPIV3Schema"));
        /* With a single version, Kubernetes reports its schema as spec.validation. */
        const struct ki_as_path *place =
            json_array_size(versions) == 1 ? KI_AS_PATH("spec.validation") : schema;
        ki_as_check_structural(check, KI_AS_MEMBER(place, "openAPIV3Schema"),
                               ki_as_tree_at(version, "schema.openAPIV3Schema"));
        size_t selectable = json_array_size(json_object_get(version, "selectableFields"));
        if (selectable > SELECTABLE_MAX)
            ki_as_check_too_many(check, KI_AS_MEMBER(at, "selectableFields"), selectable, SELECTABLE_MAX);
        stored += json_is_true(json_object_get(version, "storage")) ? 1 : 0;
        long first = ki_as_keyed_list_find(&names, version);
        is_unique = is_unique && (name == NULL || first < 0 || (size_t)first == index);
    }
    ki_as_keyed_list_fini(&names);
    if (!is_unique)
        ki_as_check_invalid(check, path, versions, "must contain unique version names");
    if (stored != 1)
        ki_as_check_invalid(check, path, versions, "must have exactly one version marked as storage version");
}

/* The name of a definition must be PLURAL.GROUP of the resource that it defines. */
static void check_whole_name(struct ki_as_check *check, const json_t *tree)
{
    ki_str name = ki_as_json_str(ki_as_tree_at(tree, "metadata.name"));
    ki_str plural = ki_as_json_str(ki_as_tree_at(tree, "spec.names.plural"));
    ki_str group = ki_as_json_str(ki_as_tree_at(tree, "spec.group"));
    bool is_good = name.len == plural.len + 1 + group.len && name.ptr[plural.len] == '.' &&
                   ki_str_equal((ki_str){name.ptr, plural.len}, plural) &&
                   ki_str_equal((ki_str){name.ptr + plural.len + 1, group.len}, group);
    if (!is_good && name.len > 0)
        ki_as_check_invalid_text(check, KI_AS_PATH("metadata.name"), name,
                                 "must be spec.names.plural+\".\"+spec.group");
}

/* Groups of the Kubernetes project require an approval annotation. */
static void check_approval(struct ki_as_check *check, const json_t *tree)
{
    static const char *const protected[] = {"k8s.io", "kubernetes.io"};
    static const char name[] = "api-approved.kubernetes.io";
    ki_str group = ki_as_json_str(ki_as_tree_at(tree, "spec.group"));
    bool is_protected = false;
    for (size_t i = 0; i < sizeof(protected) / sizeof(protected[0]); i++) {
        ki_str end = ki_str_of(protected[i]);
        bool is_end = group.len >= end.len && memcmp(group.ptr + group.len - end.len, end.ptr, end.len) == 0;
        is_protected |= is_end && (group.len == end.len || group.ptr[group.len - end.len - 1] == '.');
    }
    if (is_protected && json_object_get(ki_as_tree_at(tree, "metadata.annotations"), name) == NULL)
        ki_as_check_required(check, KI_AS_KEY(KI_AS_PATH("metadata.annotations"), name),
                             "protected groups must have approval annotation \"api-approved.kubernetes.io\", "
                             "see https://github.com/kubernetes/enhancements/pull/1111");
}

void ki_as_check_definition(struct ki_as_check *check, const json_t *tree)
{
    const struct ki_as_path *path = KI_AS_PATH("spec");
    const json_t *group = ki_as_tree_at(tree, "spec.group");
    ki_str text = ki_as_json_str(group);
    if (text.len > 0 && memchr(text.ptr, '.', text.len) == NULL)
        ki_as_check_invalid(check, KI_AS_MEMBER(path, "group"), group,
                            "should be a domain with at least one dot");
    check_whole_name(check, tree);
    if (ki_as_tree_is_true(tree, "spec.preserveUnknownFields"))
        ki_as_check_invalid(check, KI_AS_MEMBER(path, "preserveUnknownFields"),
                            ki_as_tree_at(tree, "spec.preserveUnknownFields"),
                            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                            "spec.versions[*].schema instead");
    check_approval(check, tree);
    check_versions(check, KI_AS_MEMBER(path, "versions"), ki_as_tree_at(tree, "spec.versions"));
}
