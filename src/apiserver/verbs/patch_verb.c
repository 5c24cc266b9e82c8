/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/patch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "apiserver/verbs/strict.h"

enum { MANAGER_BYTES = 129, WHY_BYTES = 256 };

static bool is_for_scale(const struct ki_as_verb *verb)
{
    return ki_str_equal(verb->call->subresource, KI_STR("scale"));
}

static int refuse_strategic(const struct ki_as_verb *verb)
{
    return ki_as_fail(
        verb->failure, 415, "UnsupportedMediaType", NULL,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

/* Unlike other bodies, an applied configuration must have kind and apiVersion. */
static int check_applied(const struct ki_as_verb *verb, const json_t *current, const json_t *body)
{
    const char *kind = ki_as_tree_text(body, "kind");
    const char *version = ki_as_tree_text(body, "apiVersion");
    const char *group_end = strchr(version, '/');
    ki_str uid = ki_as_metadata_text(body, "uid");
    if (is_for_scale(verb) || !json_is_object(body))
        return 0;
    if (strcmp(kind, verb->resource->kind) != 0 || strcmp(version, verb->resource->api_version) != 0)
        return ki_as_fail_bad_request(verb->failure, "invalid object type: %s%s, Kind=%s",
                                      group_end == NULL ? "/" : "", version, kind);
    if (current == NULL && uid.len > 0) {
        char why[WHY_BYTES];
        (void)snprintf(
            why, sizeof(why),
            "uid mismatch: the provided object specified uid %.*s, and no existing object was found",
            KI_STR_ARGS(uid));
        return ki_as_fail_conflict(verb->failure, verb->resource, verb->call->name, why);
    }
    return 0;
}

static int apply(const struct ki_as_verb *verb, const json_t *current, const json_t *body, json_t **out)
{
    assert(out != NULL);
    char manager[MANAGER_BYTES];
    ki_str name = verb->call->field_manager;
    size_t len = name.len < MANAGER_BYTES ? name.len : MANAGER_BYTES - 1;
    if (len > 0)
        memcpy(manager, name.ptr, len);
    manager[len] = '\0';
    struct ki_as_apply apply = {
        .resource = verb->resource,
        .current = current,
        .config = body,
        .manager = manager,
        .subresource = ki_str_equal(verb->call->subresource, KI_STR("status")) ? "status" : "",
        .is_forced = verb->call->is_forced,
    };
    if (check_applied(verb, current, body) < 0 || ki_as_strict_applied(verb, body) < 0)
        return -1;
    return ki_as_patch_apply(&apply, out, verb->failure);
}

static int patched(const struct ki_as_verb *verb, enum ki_as_patch_type type, const json_t *current,
                   const json_t *body, json_t **out)
{
    assert(current != NULL || type == KI_AS_PATCH_APPLY);
    switch (type) {
    case KI_AS_PATCH_JSON:
        return ki_as_patch_json(current, body, out, verb->failure);
    case KI_AS_PATCH_MERGE:
        return ki_as_patch_merge(current, body, out, verb->failure);
    case KI_AS_PATCH_STRATEGIC:
        if (verb->resource->is_custom)
            return refuse_strategic(verb);
        return ki_as_patch_strategic(current, body, out, verb->failure);
    case KI_AS_PATCH_APPLY:
        return apply(verb, current, body, out);
    }
    return ki_as_fail_bad_request(verb->failure, "unknown Content-Type header for patch");
}

/* Patches the Scale and applies the result to the object. `*tree` is replaced. */
static int patch_scale(const struct ki_as_verb *verb, enum ki_as_patch_type type, const json_t *before,
                       const json_t *body, json_t **tree)
{
    assert(*tree == NULL);
    struct ki_as_object *current = ki_as_collection_find(verb->collection, verb->call->ns, verb->call->name);
    assert(current != NULL);
    json_t *scale = ki_as_scale_of(verb->resource, current);
    json_t *wanted = NULL;
    int rc = scale == NULL ? ki_as_fail_no_memory(verb->failure) : patched(verb, type, scale, body, &wanted);
    if (rc == 0)
        rc = ki_as_scale_apply(verb, before, wanted, tree);
    json_decref(scale);
    json_decref(wanted);
    return rc;
}

static int patch_object(const struct ki_as_verb *verb, enum ki_as_patch_type type,
                        struct ki_as_object *current, const json_t *body, struct ki_as_object **out)
{
    json_t *before = ki_as_verb_tree(verb, current);
    json_t *tree = NULL;
    if (before == NULL)
        return -1;
    int rc = 0;
    if (is_for_scale(verb)) {
        rc = patch_scale(verb, type, before, body, &tree);
    } else {
        rc = patched(verb, type, before, body, &tree);
        struct ki_as_strict_patch patch = {.tree = tree,
                                           .shown = type == KI_AS_PATCH_STRATEGIC ? body : tree};
        if (rc == 0 && type != KI_AS_PATCH_APPLY)
            rc = ki_as_strict_patched(verb, &patch);
        if (rc == 0)
            rc = ki_as_body_check(verb, tree);
    }
    struct ki_as_update_input update = {.current = current, .before = before, .tree = tree};
    update.is_status = ki_str_equal(verb->call->subresource, KI_STR("status"));
    update.is_apply = type == KI_AS_PATCH_APPLY;
    if (rc == 0)
        rc = ki_as_update_locked(verb, &update, out);
    json_decref(tree);
    json_decref(before);
    return rc;
}

/* An apply creates a missing object. */
static int patch_missing(const struct ki_as_verb *verb, enum ki_as_patch_type type, json_t *body,
                         struct ki_as_object **out)
{
    json_t *tree = NULL;
    if (type != KI_AS_PATCH_APPLY || verb->call->subresource.len > 0)
        return ki_as_fail_not_found(verb->failure, verb->resource, verb->call->name);
    int rc = apply(verb, NULL, body, &tree);
    if (rc == 0)
        rc = ki_as_body_check(verb, tree);
    if (rc == 0)
        rc = ki_as_create_applied_locked(verb, tree, out);
    json_decref(tree);
    return rc;
}

int ki_as_patch(const struct ki_as_call *call, enum ki_as_patch_type type, json_t *body,
                struct ki_as_object **out, bool *out_is_created, struct ki_as_failure *failure)
{
    struct ki_as_verb verb;
    struct ki_as_object *current = NULL;
    int rc = ki_as_verb_open(&verb, call, &current, failure);
    if (rc == 0)
        rc = current != NULL ? patch_object(&verb, type, current, body, out)
                             : patch_missing(&verb, type, body, out);
    if (rc == 0 && out_is_created != NULL)
        *out_is_created = current == NULL;
    ki_as_verb_close(&verb, current);
    return rc;
}
