/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "apiserver/kind/defaults.h"
#include "apiserver/validate/validate.h"
#include "apiserver/verbs/verbs_parts.h"

/* How often Kubernetes tries to find a generated name that does not exist. */
enum { NAME_TRIES = 8 };

/* A new object must have no version. Its status is removed, except for nodes and for whole objects. */
static int check_new(const struct ki_as_verb *verb, json_t *body, bool is_apply)
{
    ki_str version = ki_as_metadata_text(body, "resourceVersion");
    /* A version that is not a number is ignored, and so is the version of an apply or a dry run. */
    bool has_version =
        !is_apply && !verb->call->is_dry_run && version.len > 0 && !ki_str_equal(version, KI_STR("0"));
    for (size_t i = 0; i < version.len; i++)
        has_version = has_version && version.ptr[i] >= '0' && version.ptr[i] <= '9';
    if (has_version && !verb->call->is_whole)
        return ki_as_fail(verb->failure, 500, "", NULL,
                          "resourceVersion should not be set on objects to be created");
    (void)json_object_del(ki_as_metadata(body), "resourceVersion");
    if (verb->resource->has_status && !verb->call->is_whole &&
        !ki_as_resource_is(verb->resource, "", "nodes"))
        (void)json_object_del(body, "status");
    return 0;
}

static int find_name(const struct ki_as_verb *verb, json_t *body)
{
    if (ki_as_metadata_text(body, "name").len > 0 || ki_as_metadata_text(body, "generateName").len == 0)
        return 0;
    for (int i = 0; i < NAME_TRIES; i++) {
        if (ki_as_metadata_generate_name(verb, body) < 0)
            return -1;
        ki_str ns = ki_as_metadata_text(body, "namespace");
        if (ki_as_collection_find(verb->collection, ns, ki_as_metadata_text(body, "name")) == NULL)
            break;
    }
    return 0;
}

/* Stores the object with managedFields that record its manager. */
static int store_managed(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out)
{
    assert(verb->managed.len == 0);
    struct ki_as_verb own = *verb;
    ki_buf *text = ki_as_storage_scratch(verb->storage, KI_AS_SCRATCH_MANAGED);
    int rc = 0;
    if (ki_as_is_empty(json_object_get(ki_as_metadata(body), "managedFields")))
        rc = ki_as_managed_text(verb, body, text);
    else
        rc = ki_as_managed_update(verb, body, NULL);
    own.managed = ki_buf_str(text);
    if (rc == 0)
        rc = ki_as_verb_store(&own, body, out);
    return rc;
}

/* With `is_apply`, managedFields are already set. */
static int create(const struct ki_as_verb *verb, json_t *body, bool is_apply, struct ki_as_object **out)
{
    assert(json_is_object(ki_as_metadata(body)) && out != NULL);
    if (check_new(verb, body, is_apply) < 0 || find_name(verb, body) < 0)
        return -1;
    ki_str ns = ki_as_metadata_text(body, "namespace");
    ki_str name = ki_as_metadata_text(body, "name");
    if (verb->resource->is_namespaced && ki_as_namespace_check(verb, ns, name) < 0)
        return -1;
    if (verb->resource->is_custom && ki_as_definition_check(verb, name, is_apply) < 0)
        return -1;
    if (ki_as_defaults_apply(verb->resource, body) < 0)
        return ki_as_fail_no_memory(verb->failure);
    bool is_definition =
        ki_as_resource_is(verb->resource, "apiextensions.k8s.io", "customresourcedefinitions");
    if (is_definition && ki_as_definition_prepare(verb, body, NULL) < 0)
        return -1;
    if (ki_as_metadata_set_new(verb, body) < 0)
        return -1;
    if (ki_as_resource_is(verb->resource, "batch", "jobs") && ki_as_job_begin(verb, body) < 0)
        return -1;
    int rc = verb->call->is_sketch ? ki_as_validate_sketch(verb->resource, body, verb->failure)
                                   : ki_as_validate(verb->resource, body, verb->failure);
    if (rc < 0)
        return rc;
    const struct ki_as_object *there = ki_as_collection_find(verb->collection, ns, name);
    if (there != NULL)
        return ki_as_fail_already_exists(verb->failure, verb->resource, name, there->is_deleting);
    return is_apply ? ki_as_verb_store(verb, body, out) : store_managed(verb, body, out);
}

int ki_as_create_locked(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out)
{
    return create(verb, body, false, out);
}

int ki_as_create_applied_locked(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out)
{
    return create(verb, body, true, out);
}

int ki_as_create(const struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                 struct ki_as_failure *failure)
{
    struct ki_as_verb verb;
    ki_as_storage_lock(call->storage);
    int rc = ki_as_verb_begin(&verb, call, failure);
    if (rc == 0)
        rc = ki_as_body_check(&verb, body);
    if (rc == 0)
        rc = ki_as_create_locked(&verb, body, out);
    ki_as_storage_unlock(call->storage);
    return rc;
}
