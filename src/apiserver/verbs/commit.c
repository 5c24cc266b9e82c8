/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/object/convert.h"
#include "apiserver/object/fields.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

enum { DELETION_BYTES = 4096 };

static bool is_definition(const struct ki_as_verb *verb)
{
    return ki_as_resource_is(verb->resource, "apiextensions.k8s.io", "customresourcedefinitions");
}

static bool is_namespace(const struct ki_as_verb *verb)
{
    return ki_as_resource_is(verb->resource, "", "namespaces");
}

static int begin(struct ki_as_verb *verb)
{
    assert(verb->storage != NULL && verb->resource != NULL);
    verb->collection = ki_as_storage_collection(verb->storage, verb->resource);
    return verb->collection == NULL ? ki_as_fail_no_memory(verb->failure) : 0;
}

int ki_as_verb_begin(struct ki_as_verb *verb, const struct ki_as_call *call, struct ki_as_failure *failure)
{
    assert(call->storage != NULL && call->resource != NULL && failure != NULL);
    *verb = (struct ki_as_verb){
        .call = call, .storage = call->storage, .resource = call->resource, .failure = failure};
    /* The definition may have changed or been deleted since the request was read. */
    if (call->resource->is_custom)
        verb->resource =
            ki_as_resources_find(ki_as_storage_resources(call->storage), ki_str_of(call->resource->group),
                                 ki_str_of(call->resource->version), ki_str_of(call->resource->plural));
    return verb->resource == NULL ? ki_as_fail_no_such_path(failure) : begin(verb);
}

int ki_as_verb_open(struct ki_as_verb *verb, const struct ki_as_call *call, struct ki_as_object **out_current,
                    struct ki_as_failure *failure)
{
    assert(out_current != NULL);
    ki_as_storage_lock(call->storage);
    int rc = ki_as_verb_begin(verb, call, failure);
    struct ki_as_object *current =
        rc < 0 ? NULL : ki_as_collection_find(verb->collection, call->ns, call->name);
    *out_current = current == NULL ? NULL : ki_as_object_ref(current);
    return rc;
}

void ki_as_verb_close(const struct ki_as_verb *verb, struct ki_as_object *current)
{
    ki_as_object_unref(current);
    ki_as_storage_unlock(verb->storage);
}

int ki_as_verb_begin_other(struct ki_as_verb *verb, const struct ki_as_verb *of, const char *group,
                           const char *plural)
{
    struct ki_as_verb other = *of;
    other.managed = (ki_str){0};
    other.resource = ki_as_resources_find(ki_as_storage_resources(of->storage), ki_str_of(group),
                                          KI_STR("v1"), ki_str_of(plural));
    assert(other.resource != NULL); /* built in */
    int rc = begin(&other);
    *verb = other;
    return rc;
}

json_t *ki_as_verb_tree(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    json_t *tree = ki_as_shown_tree(verb->resource, object);
    if (tree == NULL)
        (void)ki_as_fail_no_memory(verb->failure);
    return tree;
}

/* Encodes with the next version, except in a dry run. */
static struct ki_as_object *encode_stored(const struct ki_as_verb *verb, const json_t *tree)
{
    struct ki_as_pair fields[KI_AS_FIELDS_MAX];
    char scratch[KI_AS_FIELDS_MAX * 64];
    struct ki_as_object_parts parts = {.tree = tree, .fields = fields, .managed = verb->managed};
    /* Custom objects keep copies of their fields' names: the history may outlive the definition that owns
     * them. */
    parts.has_own_names = verb->resource->is_custom;
    parts.field_count = ki_as_fields_of(ki_as_stored_resource(verb->resource), tree, fields, scratch);
    assert(parts.field_count <= KI_AS_FIELDS_MAX);
    parts.version = verb->call->is_dry_run ? 0 : ki_as_storage_next_version(verb->storage);
    parts.scratch = ki_as_storage_scratch(verb->storage, KI_AS_SCRATCH_TEXT);
    struct ki_as_object *object = ki_as_object_make(&parts);
    if (object == NULL)
        (void)ki_as_fail_no_memory(verb->failure);
    return object;
}

static struct ki_as_object *encode(const struct ki_as_verb *verb, const json_t *tree)
{
    if (!ki_as_is_converted(verb->resource))
        return encode_stored(verb, tree);
    struct ki_as_object *object = NULL;
    json_t *stored = ki_as_json_copy(tree);
    if (stored == NULL || ki_as_convert_to_stored(verb->resource, stored) < 0)
        (void)ki_as_fail_no_memory(verb->failure);
    else
        object = encode_stored(verb, stored);
    json_decref(stored);
    return object;
}

/* The message is etcd's. An object being deleted may exceed the limit by its deletion fields. */
static int check_size(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    size_t bytes_max = ki_as_storage_object_bytes_max(verb->storage);
    if (object->text.len <= bytes_max + (object->is_deleting ? DELETION_BYTES : 0))
        return 0;
    return ki_as_fail(verb->failure, 500, "", NULL, "etcdserver: request is too large: limit is %zu",
                      bytes_max);
}

static int fail_storage(const struct ki_as_verb *verb, int code)
{
    assert(code == KI_ERR_TOO_LARGE || code == KI_ERR_NO_MEMORY);
    if (code == KI_ERR_TOO_LARGE)
        return ki_as_fail(verb->failure, 500, "InternalError", NULL,
                          "the server's limit of objects is reached");
    return ki_as_fail_no_memory(verb->failure);
}

/* A definition is served before it is stored, so that nothing can fail after it was stored. */
static int put(const struct ki_as_verb *verb, const json_t *tree, struct ki_as_object *object)
{
    assert(!verb->call->is_dry_run);
    if (!is_definition(verb)) {
        int rc = ki_as_storage_put(verb->storage, verb->collection, object);
        return rc < 0 ? fail_storage(verb, rc) : 0;
    }
    bool is_new = ki_as_collection_find(verb->collection, object->ns, object->name) == NULL;
    if (ki_as_definition_serve(verb, tree) < 0)
        return -1;
    int rc = ki_as_storage_put(verb->storage, verb->collection, object);
    if (rc < 0 && is_new)
        ki_as_definition_end(verb, object);
    if (rc == 0 && !is_new)
        ki_as_definition_changed(verb, object);
    return rc < 0 ? fail_storage(verb, rc) : 0;
}

int ki_as_verb_store(const struct ki_as_verb *verb, json_t *tree, struct ki_as_object **out)
{
    assert(json_is_object(tree) && out != NULL);
    struct ki_as_object *object = encode(verb, tree);
    if (object == NULL)
        return -1;
    if (check_size(verb, object) < 0 || (!verb->call->is_dry_run && put(verb, tree, object) < 0)) {
        ki_as_object_unref(object);
        return -1;
    }
    *out = object;
    return 0;
}

/* ---- deletion ------------------------------------------------------------------------------------------ */

bool ki_as_verb_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    if (is_namespace(verb))
        return ki_as_namespace_is_empty(verb->storage, object->name);
    return !is_definition(verb) || ki_as_definition_is_empty(verb, object);
}

static bool may_go(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    return !object->has_finalizers && ki_as_verb_is_empty(verb, object);
}

/* Removes an object of another collection that was waiting for its content to be deleted. */
static int remove_waiting(const struct ki_as_verb *verb, ki_str name)
{
    struct ki_as_object *waiting = ki_as_collection_find(verb->collection, KI_STR(""), name);
    if (waiting == NULL || !waiting->is_deleting || !may_go(verb, waiting))
        return 0;
    struct ki_as_object *gone = NULL;
    int rc = ki_as_verb_remove(verb, waiting, NULL, &gone);
    ki_as_object_unref(gone);
    return rc;
}

/* After an object was removed, its namespace or its definition may have to be removed, too. */
static int follow(const struct ki_as_verb *verb, const struct ki_as_object *gone)
{
    struct ki_as_verb other;
    if (is_definition(verb))
        ki_as_definition_end(verb, gone);
    if (verb->resource->is_custom) {
        char name[512];
        int len = snprintf(name, sizeof(name), "%s.%s", verb->resource->plural, verb->resource->group);
        assert(len > 0 && (size_t)len < sizeof(name));
        if (ki_as_verb_begin_other(&other, verb, "apiextensions.k8s.io", "customresourcedefinitions") < 0 ||
            remove_waiting(&other, (ki_str){name, (size_t)len}) < 0)
            return -1;
    }
    if (gone->ns.len == 0)
        return 0;
    if (ki_as_verb_begin_other(&other, verb, "", "namespaces") < 0)
        return -1;
    return remove_waiting(&other, gone->ns);
}

int ki_as_verb_remove(const struct ki_as_verb *verb, struct ki_as_object *object, json_t *last,
                      struct ki_as_object **out)
{
    assert(object != NULL && out != NULL);
    struct ki_as_object *gone = NULL;
    if (verb->call->is_dry_run) {
        *out = ki_as_object_ref(object);
        return 0;
    }
    if (last != NULL)
        gone = encode(verb, last);
    else
        gone = ki_as_object_with_version(object, ki_as_storage_next_version(verb->storage));
    if (gone == NULL)
        return ki_as_fail_no_memory(verb->failure);
    int rc = ki_as_storage_remove(verb->storage, verb->collection, gone);
    if (rc == 0)
        rc = follow(verb, gone);
    else
        rc = fail_storage(verb, rc);
    if (rc < 0)
        ki_as_object_unref(gone);
    else
        *out = gone;
    return rc;
}

/* Sets deletionTimestamp, and the phase of a namespace or the condition of a definition. `*out` is a new
 * reference. */
static int mark(const struct ki_as_verb *verb, struct ki_as_object *object, struct ki_as_object **out)
{
    assert(object != NULL);
    if (object->is_deleting) {
        *out = ki_as_object_ref(object);
        return 0;
    }
    json_t *tree = ki_as_verb_tree(verb, object);
    if (tree == NULL)
        return -1;
    int rc = ki_as_metadata_mark_deleted(verb, tree);
    if (rc == 0 && is_namespace(verb) &&
        json_object_set_new(tree, "status", json_pack("{s:s}", "phase", "Terminating")) < 0)
        rc = ki_as_fail_no_memory(verb->failure);
    if (rc == 0 && is_definition(verb))
        rc = ki_as_definition_terminate(verb, tree);
    if (rc == 0)
        rc = ki_as_verb_store(verb, tree, out);
    json_decref(tree);
    return rc;
}

/* Deletes the content of a namespace or a definition; with the last of it, `object` may go as well. `object`
 * must be the stored version. */
static int empty(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    if (is_namespace(verb))
        return ki_as_namespace_empty(verb, object->name);
    return is_definition(verb) ? ki_as_definition_empty(verb, object) : 0;
}

/* Whether a delete removes the object now. A purge ignores finalizers. */
static bool is_let_go(const struct ki_as_verb *verb, const struct ki_as_object *object)
{
    return verb->call->is_purge ? ki_as_verb_is_empty(verb, object) : may_go(verb, object);
}

int ki_as_verb_delete(const struct ki_as_verb *verb, struct ki_as_object *object, struct ki_as_object **out,
                      bool *out_is_gone)
{
    assert(object != NULL && out_is_gone != NULL);
    bool is_plain = !is_namespace(verb) && is_let_go(verb, object);
    *out_is_gone = false;
    if (is_plain) {
        *out_is_gone = true;
        return ki_as_verb_remove(verb, object, NULL, out);
    }
    struct ki_as_object *marked = NULL;
    if (mark(verb, object, &marked) < 0)
        return -1;
    int rc = verb->call->is_dry_run ? 0 : empty(verb, marked);
    const struct ki_as_object *left = ki_as_collection_find(verb->collection, marked->ns, marked->name);
    if (rc == 0 && left == marked && !verb->call->is_dry_run && is_let_go(verb, marked)) {
        struct ki_as_object *gone = NULL;
        rc = ki_as_verb_remove(verb, marked, NULL, &gone);
        if (rc == 0) {
            ki_as_object_unref(marked);
            marked = gone;
        }
        left = NULL;
    }
    if (rc < 0) {
        ki_as_object_unref(marked);
        return -1;
    }
    *out_is_gone = left == NULL;
    *out = marked;
    return 0;
}

int ki_as_verb_delete_all(const struct ki_as_verb *verb, ki_str ns)
{
    struct ki_as_object *last = NULL;
    int rc = 0;
    for (struct ki_as_object *object = ki_as_collection_next(verb->collection, ns, NULL);
         rc == 0 && object != NULL; object = ki_as_collection_next(verb->collection, ns, last)) {
        bool is_gone = false;
        struct ki_as_object *done = NULL;
        rc = ki_as_verb_delete(verb, object, &done, &is_gone);
        ki_as_object_unref(last);
        last = done;
    }
    ki_as_object_unref(last);
    return rc;
}
