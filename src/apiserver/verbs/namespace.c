/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>

#include "apiserver/verbs/verbs_parts.h"

int ki_as_namespace_check(const struct ki_as_verb *verb, ki_str ns, ki_str name)
{
    assert(verb->resource->is_namespaced);
    struct ki_as_verb other;
    if (ki_as_verb_begin_other(&other, verb, "", "namespaces") < 0)
        return -1;
    const struct ki_as_object *found = ki_as_collection_find(other.collection, KI_STR(""), ns);
    if (found == NULL)
        return ki_as_fail_not_found(verb->failure, other.resource, ns);
    if (!found->is_deleting)
        return 0;
    json_t *details = json_pack(
        "{s:s%, s:s*, s:s, s:[{s:s, s:o, s:s}]}", "name", name.len == 0 ? "" : name.ptr, name.len, "group",
        verb->resource->group[0] == '\0' ? NULL : verb->resource->group, "kind", verb->resource->plural,
        "causes", "reason", "NamespaceTerminating", "message",
        json_sprintf("namespace %.*s is being terminated", KI_STR_ARGS(ns)), "field", "metadata.namespace");
    return ki_as_fail(
        verb->failure, 403, "Forbidden", details,
        "%s \"%.*s\" is forbidden: unable to create new content in namespace %.*s because it is being "
        "terminated",
        verb->resource->qualified, KI_STR_ARGS(name), KI_STR_ARGS(ns));
}

/* The state of an iteration over all collections. */
struct sweep {
    const struct ki_as_verb *verb;
    ki_str ns;
    bool is_empty;
    int rc;
};

static bool is_without(struct ki_as_collection *collection, void *user)
{
    struct sweep *sweep = user;
    if (ki_as_collection_is_namespaced(collection) &&
        ki_as_collection_next(collection, sweep->ns, NULL) != NULL)
        sweep->is_empty = false;
    return sweep->is_empty;
}

bool ki_as_namespace_is_empty(struct ki_as_storage *storage, ki_str ns)
{
    assert(ns.len > 0);
    struct sweep sweep = {.ns = ns, .is_empty = true};
    ki_as_storage_visit(storage, is_without, &sweep);
    return sweep.is_empty;
}

static bool empty(struct ki_as_collection *collection, void *user)
{
    struct sweep *sweep = user;
    if (!ki_as_collection_is_namespaced(collection))
        return true;
    struct ki_as_verb verb = *sweep->verb;
    verb.resource = ki_as_collection_resource(collection);
    verb.collection = collection;
    if (verb.resource != NULL)
        sweep->rc = ki_as_verb_delete_all(&verb, sweep->ns);
    else
        sweep->rc = ki_as_definition_empty_unserved(sweep->verb, collection, sweep->ns);
    return sweep->rc == 0;
}

int ki_as_namespace_empty(const struct ki_as_verb *verb, ki_str ns)
{
    assert(ns.len > 0);
    struct sweep sweep = {.verb = verb, .ns = ns};
    ki_as_storage_visit(verb->storage, empty, &sweep);
    return sweep.rc;
}
