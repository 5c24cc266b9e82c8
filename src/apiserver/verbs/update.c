/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/defaults.h"
#include "apiserver/validate/validate.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

#define MODIFIED_MESSAGE                                                                                     \
    "the object has been modified; please apply your changes to the latest version and try again"

static bool is_one_of(const struct ki_as_resource *resource, const char *const *plurals)
{
    while (*plurals != NULL && strcmp(*plurals, resource->plural) != 0)
        plurals++;
    return *plurals != NULL;
}

/* Whether an update must contain a resourceVersion. */
static bool wants_version(const struct ki_as_resource *resource)
{
    static const char *const plurals[] = {"apiservices",
                                          "csidrivers",
                                          "csinodes",
                                          "customresourcedefinitions",
                                          "leases",
                                          "mutatingwebhookconfigurations",
                                          "poddisruptionbudgets",
                                          "runtimeclasses",
                                          "validatingwebhookconfigurations",
                                          "volumeattachments",
                                          NULL};
    return resource->is_custom || is_one_of(resource, plurals);
}

/* Whether an update of this kind creates a missing object. */
static bool is_made_by_update(const struct ki_as_resource *resource)
{
    static const char *const plurals[] = {
        "clusterrolebindings", "clusterroles", "endpoints",      "events",   "leases", "limitranges",
        "rolebindings",        "roles",        "runtimeclasses", "services", NULL};
    return !resource->is_custom && is_one_of(resource, plurals);
}

/* Reads the version of a sent object; "" and "0" mean none. The error is Go's message, which Kubernetes
 * passes on unchanged. */
static int read_version(const struct ki_as_verb *verb, ki_str text, uint64_t *out)
{
    uint64_t number = 0;
    const char *wrong = NULL;
    for (size_t i = 0; i < text.len && wrong == NULL; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.ptr[i] - '0';
        if (digit > 9)
            wrong = "invalid syntax";
        else if (number > (UINT64_MAX - digit) / 10)
            wrong = "value out of range";
        else
            number = number * 10 + digit;
    }
    if (wrong != NULL)
        return ki_as_fail(verb->failure, 500, "", NULL, "strconv.ParseUint: parsing \"%.*s\": %s",
                          KI_STR_ARGS(text), wrong);
    *out = number;
    return 0;
}

static int check_version(const struct ki_as_verb *verb, const struct ki_as_update_input *update)
{
    const struct ki_as_object *current = update->current;
    uint64_t version = 0;
    ki_str uid = ki_as_metadata_text(update->tree, "uid");
    if (verb->call->is_whole)
        return 0;
    if (read_version(verb, ki_as_metadata_text(update->tree, "resourceVersion"), &version) < 0)
        return -1;
    if (version == 0 && wants_version(verb->resource)) {
        /* Other messages name the kind in this place; this one names the resource. */
        const struct ki_as_resource named = {.group = verb->resource->group, .kind = verb->resource->plural};
        json_t *causes = NULL;
        ki_as_cause_add(&causes, "FieldValueInvalid", "metadata.resourceVersion",
                        "Invalid value: 0: must be specified for an update");
        return ki_as_fail_invalid(verb->failure, &named, current->name, causes);
    }
    if (uid.len > 0 && !ki_str_equal(uid, current->uid)) {
        char why[256];
        (void)snprintf(why, sizeof(why),
                       "Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                       KI_STR_ARGS(uid), KI_STR_ARGS(current->uid));
        return ki_as_fail_conflict(verb->failure, verb->resource, current->name, why);
    }
    if (version > 0 && version != current->version)
        return ki_as_fail_conflict(verb->failure, verb->resource, current->name, MODIFIED_MESSAGE);
    return 0;
}

/* Copies a field from one object to the other. If `from` lacks the field, removes it from `to`. */
static int copy_field(const struct ki_as_verb *verb, json_t *to, const json_t *from, const char *name)
{
    assert(to != from);
    json_t *value = json_object_get(from, name);
    if (value == NULL)
        (void)json_object_del(to, name);
    else if (json_object_set(to, name, value) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

/* Whether an update of the status may change labels and other metadata. */
static bool has_free_metadata(const struct ki_as_resource *resource)
{
    static const char *const plurals[] = {"deployments", "volumeattachments", "customresourcedefinitions",
                                          "apiservices", NULL};
    return !resource->is_custom && !is_one_of(resource, plurals);
}

/* An update of the status changes only the status, managedFields and, in most built-in kinds (not
 * deployments), other metadata. */
static int keep_status_only(const struct ki_as_verb *verb, const struct ki_as_update_input *update)
{
    assert(update->is_status);
    json_t *status = json_incref(json_object_get(update->tree, "status"));
    json_t *managed = json_incref(json_object_get(ki_as_metadata(update->tree), "managedFields"));
    json_t *metadata = has_free_metadata(verb->resource) ? json_incref(ki_as_metadata(update->tree))
                                                         : json_copy(ki_as_metadata(update->before));
    (void)json_object_clear(update->tree);
    int rc = metadata == NULL ? -1 : json_object_update(update->tree, (json_t *)update->before);
    if (status == NULL)
        (void)json_object_del(update->tree, "status");
    else if (rc == 0)
        rc = json_object_set(update->tree, "status", status);
    if (rc == 0 && managed != NULL)
        rc = json_object_set(metadata, "managedFields", managed);
    if (rc == 0)
        rc = json_object_set(update->tree, "metadata", metadata);
    json_decref(status);
    json_decref(managed);
    json_decref(metadata);
    return rc < 0 ? ki_as_fail_no_memory(verb->failure) : 0;
}

/* If the new version of a service has no address, it keeps the old one. */
static int keep_address(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    json_t *spec = json_object_get(tree, "spec");
    bool has_none = strcmp(ki_as_tree_text(spec, "type"), "ExternalName") == 0;
    if (!json_is_object(spec) || has_none || ki_as_tree_text(spec, "clusterIP")[0] != 0)
        return 0;
    return copy_field(verb, spec, json_object_get(before, "spec"), "clusterIP");
}

/* Restores what clients must not change, sets defaults, tidies metadata, and prepares a definition. */
static int restore_and_fill(const struct ki_as_verb *verb, const struct ki_as_update_input *update)
{
    json_t *tree = update->tree;
    bool keeps_status = verb->resource->has_status && !verb->call->is_whole;
    if (update->is_status && keep_status_only(verb, update) < 0)
        return -1;
    if (!update->is_status && keeps_status && copy_field(verb, tree, update->before, "status") < 0)
        return -1;
    if (ki_as_metadata_carry(verb, tree, update->before) < 0 ||
        copy_field(verb, ki_as_metadata(tree), ki_as_metadata(update->before), "resourceVersion") < 0)
        return -1;
    if (json_object_get(ki_as_metadata(tree), "managedFields") == NULL &&
        copy_field(verb, ki_as_metadata(tree), ki_as_metadata(update->before), "managedFields") < 0)
        return -1;
    if (ki_as_resource_is(verb->resource, "", "services") && keep_address(verb, tree, update->before) < 0)
        return -1;
    if (ki_as_defaults_apply(verb->resource, tree) < 0)
        return ki_as_fail_no_memory(verb->failure);
    ki_as_metadata_tidy(tree);
    if (!ki_as_resource_is(verb->resource, "apiextensions.k8s.io", "customresourcedefinitions") ||
        update->is_status)
        return 0;
    return ki_as_definition_prepare(verb, tree, update->before);
}

/* The body may lack kind and apiVersion. */
static int name_kind(const struct ki_as_verb *verb, json_t *tree)
{
    if (json_object_set_new(tree, "kind", json_string(verb->resource->kind)) < 0 ||
        json_object_set_new(tree, "apiVersion", json_string(verb->resource->api_version)) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

/* A sketch is an incomplete object, as tests load them. */
static int validate(const struct ki_as_verb *verb, const struct ki_as_update_input *update)
{
    if (verb->call->is_sketch)
        return ki_as_validate_sketch(verb->resource, update->tree, verb->failure);
    if (ki_as_validate(verb->resource, update->tree, verb->failure) == 0)
        return 0;
    if (!ki_as_is_sketch(verb->resource, update->before))
        return -1;
    ki_as_failure_fini(verb->failure);
    return ki_as_validate_sketch(verb->resource, update->tree, verb->failure);
}

/* Stores the object with managedFields that record what the manager changed. */
static int store_managed(const struct ki_as_verb *verb, const struct ki_as_update_input *update,
                         bool is_released, struct ki_as_object **out)
{
    if (!update->is_apply && ki_as_managed_update(verb, update->tree, update->before) < 0)
        return -1;
    return is_released ? ki_as_verb_remove(verb, update->current, update->tree, out)
                       : ki_as_verb_store(verb, update->tree, out);
}

int ki_as_update_locked(const struct ki_as_verb *verb, const struct ki_as_update_input *update,
                        struct ki_as_object **out)
{
    assert(update->current != NULL && json_is_object(update->before));
    assert(json_is_object(ki_as_metadata(update->tree)));
    json_t *tree = update->tree;
    if (check_version(verb, update) < 0 || name_kind(verb, tree) < 0 || restore_and_fill(verb, update) < 0)
        return -1;
    if (validate(verb, update) < 0 ||
        ki_as_validate_update(verb->resource, update->before, tree, verb->failure) < 0)
        return -1;
    bool is_released = update->current->is_deleting &&
                       ki_as_is_empty(json_object_get(ki_as_metadata(tree), "finalizers")) &&
                       ki_as_verb_is_empty(verb, update->current);
    if (ki_as_json_equal(update->before, tree) && !is_released) {
        *out = ki_as_object_ref(update->current);
        return 0;
    }
    if (ki_as_metadata_increment_generation(verb, tree, update->before) < 0)
        return -1;
    return store_managed(verb, update, is_released, out);
}

static int update_object(const struct ki_as_verb *verb, struct ki_as_object *current, json_t *body,
                         struct ki_as_object **out)
{
    struct ki_as_update_input update = {
        .current = current, .tree = body, .before = ki_as_verb_tree(verb, current)};
    json_t *scaled = NULL;
    if (update.before == NULL)
        return -1;
    update.is_status = ki_str_equal(verb->call->subresource, KI_STR("status"));
    int rc = 0;
    if (ki_str_equal(verb->call->subresource, KI_STR("scale"))) {
        rc = ki_as_scale_apply(verb, update.before, body, &scaled);
        update.tree = scaled;
    } else {
        rc = ki_as_body_check(verb, body);
    }
    if (rc == 0)
        rc = ki_as_update_locked(verb, &update, out);
    json_decref(scaled);
    json_decref(update.before);
    return rc;
}

/* There is no such object. For some kinds, an update creates it. */
static int update_missing(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out)
{
    bool is_made = verb->call->is_whole || is_made_by_update(verb->resource);
    if (!is_made || verb->call->subresource.len > 0)
        return ki_as_fail_not_found(verb->failure, verb->resource, verb->call->name);
    if (ki_as_body_check(verb, body) < 0)
        return -1;
    return ki_as_create_locked(verb, body, out);
}

int ki_as_update(const struct ki_as_call *call, json_t *body, struct ki_as_object **out, bool *out_is_created,
                 struct ki_as_failure *failure)
{
    struct ki_as_verb verb;
    struct ki_as_object *current = NULL;
    int rc = ki_as_verb_open(&verb, call, &current, failure);
    if (rc == 0)
        rc = current != NULL ? update_object(&verb, current, body, out) : update_missing(&verb, body, out);
    if (rc == 0 && out_is_created != NULL)
        *out_is_created = current == NULL;
    ki_as_verb_close(&verb, current);
    return rc;
}
