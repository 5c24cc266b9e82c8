/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

enum { WHY_BYTES = 256 };

static bool is_dry_run(const json_t *options)
{
    return json_array_size(json_object_get(options, "dryRun")) > 0;
}

static int check_preconditions(const struct ki_as_verb *verb, const struct ki_as_object *object,
                               const json_t *options)
{
    char why[WHY_BYTES];
    char version[32];
    const json_t *preconditions = json_object_get(options, "preconditions");
    ki_str wanted_uid = ki_as_json_str(json_object_get(preconditions, "uid"));
    ki_str wanted_version = ki_as_json_str(json_object_get(preconditions, "resourceVersion"));
    (void)snprintf(version, sizeof(version), "%llu", (unsigned long long)object->version);
    if (wanted_uid.len > 0 && !ki_str_equal(wanted_uid, object->uid))
        (void)snprintf(why, sizeof(why),
                       "the UID in the precondition (%.*s) does not match the UID in record (%.*s). The "
                       "object might have been deleted and then recreated",
                       KI_STR_ARGS(wanted_uid), KI_STR_ARGS(object->uid));
    else if (wanted_version.len > 0 && !ki_str_equal(wanted_version, ki_str_of(version)))
        (void)snprintf(why, sizeof(why),
                       "the ResourceVersion in the precondition (%.*s) does not match the ResourceVersion in "
                       "record (%s). The object might have been modified",
                       KI_STR_ARGS(wanted_version), version);
    else
        return 0;
    return ki_as_fail_conflict(verb->failure, verb->resource, object->name, why);
}

static int check_immortal(const struct ki_as_verb *verb, ki_str name)
{
    static const char *const immortal[] = {"default", "kube-public", "kube-system"};
    if (!ki_as_resource_is(verb->resource, "", "namespaces"))
        return 0;
    for (size_t i = 0; i < sizeof(immortal) / sizeof(immortal[0]); i++)
        if (ki_str_equal(name, ki_str_of(immortal[i])))
            return ki_as_fail_forbidden(verb->failure, verb->resource, name,
                                        "this namespace may not be deleted");
    return 0;
}

static int delete_locked(const struct ki_as_verb *verb, const json_t *options, struct ki_as_object **out,
                         bool *out_is_gone)
{
    assert(out != NULL);
    const struct ki_as_call *call = verb->call;
    struct ki_as_object *object = ki_as_collection_find(verb->collection, call->ns, call->name);
    if (check_immortal(verb, call->name) < 0)
        return -1;
    if (object == NULL)
        return ki_as_fail_not_found(verb->failure, verb->resource, call->name);
    if (check_preconditions(verb, object, options) < 0)
        return -1;
    return ki_as_verb_delete(verb, object, out, out_is_gone);
}

int ki_as_delete(const struct ki_as_call *call, const json_t *options, struct ki_as_object **out,
                 bool *out_is_gone, struct ki_as_failure *failure)
{
    assert(out_is_gone != NULL);
    struct ki_as_verb verb;
    struct ki_as_call own = *call;
    bool is_gone = false;
    own.is_dry_run = call->is_dry_run || is_dry_run(options);
    ki_as_storage_lock(call->storage);
    int rc = ki_as_verb_begin(&verb, &own, failure);
    if (rc == 0)
        rc = delete_locked(&verb, options, out, &is_gone);
    ki_as_storage_unlock(call->storage);
    if (rc == 0)
        *out_is_gone = is_gone;
    return rc;
}

/* Replaces each object of the page by the result of its deletion. */
static int delete_page(const struct ki_as_verb *verb, struct ki_as_page *page, const json_t *options)
{
    for (size_t i = 0; i < page->count; i++) {
        struct ki_as_object *object = page->objects[i];
        struct ki_as_object *done = NULL;
        bool is_gone = false;
        /* The deletion of an earlier object may have deleted this one, too. */
        if (ki_as_collection_find(verb->collection, object->ns, object->name) != object)
            continue;
        if (check_immortal(verb, object->name) < 0 || check_preconditions(verb, object, options) < 0 ||
            ki_as_verb_delete(verb, object, &done, &is_gone) < 0)
            return -1;
        assert(done != NULL);
        page->objects[i] = done;
        ki_as_object_unref(object);
    }
    page->version = ki_as_storage_version(verb->storage);
    return 0;
}

int ki_as_delete_collection(const struct ki_as_call *call, const struct ki_as_selector *selector,
                            const json_t *options, struct ki_as_page *out_page, struct ki_as_failure *failure)
{
    assert(out_page != NULL);
    struct ki_as_verb verb;
    struct ki_as_call own = *call;
    struct ki_as_page page = {0};
    own.is_dry_run = call->is_dry_run || is_dry_run(options);
    ki_as_storage_lock(call->storage);
    int rc = ki_as_verb_begin(&verb, &own, failure);
    struct ki_as_page_request request = {.ns = call->ns, .selector = selector, .limit = (size_t)call->limit};
    if (rc == 0)
        rc = ki_as_storage_page(call->storage, verb.collection, &request, &page, failure);
    if (rc == 0)
        rc = delete_page(&verb, &page, options);
    ki_as_storage_unlock(call->storage);
    if (rc == 0)
        *out_page = page;
    else
        ki_as_page_fini(&page);
    return rc;
}
