/* SPDX-License-Identifier: Apache-2.0 */
/* Roles, and who has them. */
#include <string.h>

#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

/* What a role allows is about resources of groups, or about paths. */
static void check_role_rules(struct ki_as_check *check, const json_t *tree, bool is_cluster)
{
    const struct ki_as_path *path = KI_AS_PATH("rules");
    size_t index = 0;
    json_t *rule = NULL;
    json_array_foreach(json_object_get(tree, "rules"), index, rule)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *paths = json_object_get(rule, "nonResourceURLs");
        bool has_paths = json_array_size(paths) > 0;
        bool has_groups = json_array_size(json_object_get(rule, "apiGroups")) > 0;
        bool has_resources = json_array_size(json_object_get(rule, "resources")) > 0;
        if (has_paths && !is_cluster)
            ki_as_check_invalid(check, KI_AS_MEMBER(at, "nonResourceURLs"), paths,
                                "namespaced rules cannot apply to non-resource URLs");
        if (has_paths && (has_groups || has_resources))
            ki_as_check_invalid(check, KI_AS_MEMBER(at, "nonResourceURLs"), paths,
                                "rules cannot apply to both regular resources and non-resource URLs");
        if (!has_paths && !has_groups)
            ki_as_check_required(check, KI_AS_MEMBER(at, "apiGroups"),
                                 "resource rules must supply at least one api group");
        if (!has_paths && !has_resources)
            ki_as_check_required(check, KI_AS_MEMBER(at, "resources"),
                                 "resource rules must supply at least one resource");
    }
}

void ki_as_check_role(struct ki_as_check *check, const json_t *tree)
{
    check_role_rules(check, tree, false);
}

void ki_as_check_cluster_role(struct ki_as_check *check, const json_t *tree)
{
    check_role_rules(check, tree, true);
}

void ki_as_check_binding(struct ki_as_check *check, const json_t *tree)
{
    if (ki_as_tree_text(tree, "roleRef.name")[0] == 0)
        ki_as_check_required(check, KI_AS_PATH("roleRef.name"), "");
}

/* What is in a namespace says nothing of the whole cluster. */
void ki_as_check_cluster_binding(struct ki_as_check *check, const json_t *tree)
{
    static const char *const kinds[] = {"ClusterRole", NULL};
    const struct ki_as_path *path = KI_AS_PATH("subjects");
    size_t index = 0;
    json_t *subject = NULL;
    ki_as_check_binding(check, tree);
    ki_as_check_one_of(check, KI_AS_PATH("roleRef.kind"), ki_as_tree_at(tree, "roleRef.kind"), kinds);
    json_array_foreach(json_object_get(tree, "subjects"), index, subject)
    {
        if (strcmp(ki_as_tree_text(subject, "kind"), "ServiceAccount") == 0 &&
            ki_as_tree_text(subject, "namespace")[0] == 0)
            ki_as_check_required(check, KI_AS_MEMBER(KI_AS_ELEMENT(path, index), "namespace"), "");
    }
}
