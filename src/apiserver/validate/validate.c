/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/validate.h"

#include <assert.h>
#include <string.h>

#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

int ki_as_check_conclude(struct ki_as_check *check, const struct ki_as_resource *resource, const json_t *tree,
                         struct ki_as_failure *failure)
{
    assert(check->said <= check->count);
    assert(!check->is_quiet && check->budget == NULL);
    if (check->count == 0)
        return 0;
    if (json_array_size(check->causes) < check->said) {
        json_decref(check->causes);
        return ki_as_fail_no_memory(failure);
    }
    if (check->count > check->said)
        ki_as_cause_add(&check->causes, "FieldValueTooMany", "", "and %zu more", check->count - check->said);
    return ki_as_fail_invalid(failure, resource, ki_str_of(ki_as_tree_text(tree, "metadata.name")),
                              check->causes);
}

static bool is_definition(const struct ki_as_resource *resource)
{
    return ki_as_resource_is(resource, "apiextensions.k8s.io", "customresourcedefinitions");
}

/* Checks that rows of rules.txt cannot express. */
static void check_by_kind(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *tree)
{
    if (is_definition(resource))
        ki_as_check_definition(check, tree);
    else
        ki_as_check_workload(check, resource, tree);
}

static int validate(const struct ki_as_resource *resource, const json_t *tree, bool is_sketch,
                    struct ki_as_failure *failure)
{
    assert(resource != NULL && tree != NULL && failure != NULL);
    struct ki_as_check check = {0};
    struct ki_as_check rules = {0};
    if (ki_as_check_types(resource, tree, is_sketch ? NULL : &rules, failure) < 0) {
        json_decref(rules.causes);
        return -1;
    }
    ki_as_check_metadata(&check, resource, json_object_get(tree, "metadata"));
    ki_as_check_join(&check, &rules);
    if (!resource->is_custom && !is_sketch)
        check_by_kind(&check, resource, tree);
    else if (resource->schema != NULL)
        ki_as_check_schema(&check, NULL, resource->schema, tree);
    return ki_as_check_conclude(&check, resource, tree, failure);
}

int ki_as_validate(const struct ki_as_resource *resource, const json_t *tree, struct ki_as_failure *failure)
{
    return validate(resource, tree, false, failure);
}

int ki_as_validate_sketch(const struct ki_as_resource *resource, const json_t *tree,
                          struct ki_as_failure *failure)
{
    /* An incomplete definition could not be served. */
    return validate(resource, tree, !is_definition(resource), failure);
}

bool ki_as_is_sketch(const struct ki_as_resource *resource, const json_t *tree)
{
    struct ki_as_check check = {.is_quiet = true};
    struct ki_as_failure failure = {0};
    if (resource->is_custom)
        return false;
    int rc = ki_as_check_types(resource, tree, &check, &failure);
    ki_as_failure_fini(&failure);
    check_by_kind(&check, resource, tree);
    json_decref(check.causes);
    return rc < 0 || check.count > 0;
}
