/* SPDX-License-Identifier: Apache-2.0 */
#include "support/apiserver/as_rig.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

enum { TEXT_BYTES = 4096, EVENTS = 8 };

void as_rig_init(struct as_rig *rig, size_t history_events_max)
{
    *rig = (struct as_rig){0};
    rig->storage = ki_as_storage_new(&(struct ki_as_storage_options){
        .history_events_max = history_events_max, .first_version = 1000, .objects_max = 500, .seed = 7});
    assert_non_null(rig->storage);
}

void as_rig_fini(struct as_rig *rig)
{
    ki_as_failure_fini(&rig->failure);
    ki_as_storage_free(rig->storage);
}

struct ki_as_resource *as_rig_resource(struct as_rig *rig, const char *qualified)
{
    const char *dot = strchr(qualified, '.');
    ki_str plural = {qualified, dot == NULL ? strlen(qualified) : (size_t)(dot - qualified)};
    ki_as_storage_lock(rig->storage);
    struct ki_as_resource *resource = ki_as_resources_find(
        ki_as_storage_resources(rig->storage), ki_str_of(dot == NULL ? "" : dot + 1), KI_STR("v1"), plural);
    ki_as_storage_unlock(rig->storage);
    assert_non_null(resource);
    return resource;
}

struct ki_as_resource *as_rig_served(struct as_rig *rig, const char *group, const char *version,
                                     const char *plural)
{
    ki_as_storage_lock(rig->storage);
    struct ki_as_resource *resource = ki_as_resources_find(
        ki_as_storage_resources(rig->storage), ki_str_of(group), ki_str_of(version), ki_str_of(plural));
    ki_as_storage_unlock(rig->storage);
    return resource;
}

struct ki_as_collection *as_rig_collection(struct as_rig *rig, const char *qualified)
{
    const struct ki_as_resource *resource = as_rig_resource(rig, qualified);
    ki_as_storage_lock(rig->storage);
    struct ki_as_collection *collection = ki_as_storage_collection(rig->storage, resource);
    ki_as_storage_unlock(rig->storage);
    assert_non_null(collection);
    return collection;
}

uint64_t as_rig_version(struct as_rig *rig)
{
    ki_as_storage_lock(rig->storage);
    uint64_t version = ki_as_storage_version(rig->storage);
    ki_as_storage_unlock(rig->storage);
    return version;
}

struct ki_as_object *as_rig_find(struct as_rig *rig, const char *qualified, ki_str ns, ki_str name)
{
    const struct ki_as_collection *collection = as_rig_collection(rig, qualified);
    ki_as_storage_lock(rig->storage);
    struct ki_as_object *object = ki_as_collection_find(collection, ns, name);
    ki_as_storage_unlock(rig->storage);
    return object;
}

size_t as_rig_count(struct as_rig *rig, const char *qualified)
{
    const struct ki_as_collection *collection = as_rig_collection(rig, qualified);
    ki_as_storage_lock(rig->storage);
    size_t count = ki_as_collection_count(collection);
    ki_as_storage_unlock(rig->storage);
    return count;
}

int as_rig_rewind(struct as_rig *rig, uint64_t by)
{
    ki_as_storage_lock(rig->storage);
    int rc = ki_as_storage_rewind(rig->storage, by);
    ki_as_storage_unlock(rig->storage);
    return rc;
}

static const char *plural_of(const char *key)
{
    return strchr(key, '/') == NULL ? "nodes" : "configmaps";
}

struct ki_as_object *as_rig_object(struct as_rig *rig, const char *key, const char *app)
{
    char version[32];
    const char *slash = strchr(key, '/');
    (void)snprintf(version, sizeof(version), "%llu",
                   (unsigned long long)ki_as_storage_next_version(rig->storage));
    json_t *tree =
        json_pack("{s:{s:s, s:s, s:s, s:{s:s}}}", "metadata", "name", slash == NULL ? key : slash + 1, "uid",
                  "u-1", "resourceVersion", version, "labels", "app", app);
    if (tree != NULL && slash != NULL)
        (void)json_object_set_new(json_object_get(tree, "metadata"), "namespace",
                                  json_stringn(key, (size_t)(slash - key)));
    struct ki_as_object *object =
        tree == NULL ? NULL : ki_as_object_make(&(struct ki_as_object_parts){.tree = tree});
    json_decref(tree);
    return object;
}

void as_rig_put(struct as_rig *rig, const char *key, const char *app)
{
    struct ki_as_collection *collection = as_rig_collection(rig, plural_of(key));
    ki_as_storage_lock(rig->storage);
    struct ki_as_object *object = as_rig_object(rig, key, app);
    assert_non_null(object);
    assert_int_equal(ki_as_storage_put(rig->storage, collection, object), 0);
    ki_as_storage_unlock(rig->storage);
    ki_as_object_unref(object);
}

void as_rig_remove(struct as_rig *rig, const char *key)
{
    struct ki_as_collection *collection = as_rig_collection(rig, plural_of(key));
    ki_as_storage_lock(rig->storage);
    struct ki_as_object *last = as_rig_object(rig, key, "gone");
    assert_non_null(last);
    assert_int_equal(ki_as_storage_remove(rig->storage, collection, last), 0);
    ki_as_storage_unlock(rig->storage);
    ki_as_object_unref(last);
}

const char *as_rig_names(const struct ki_as_page *page)
{
    static char text[TEXT_BYTES];
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < page->count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i == 0 ? "" : " ",
                                KI_STR_ARGS(page->objects[i]->name));
    return text;
}

const char *as_rig_events(struct ki_as_watch *watch)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    static const char *const ends[] = {"", "expired", "gone"};
    static char text[TEXT_BYTES];
    struct ki_as_event events[EVENTS];
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    uint64_t version = 0;
    size_t len = 0;
    size_t count = 0;
    text[0] = '\0';
    while ((count = ki_as_watch_take(watch, events, EVENTS, &version, &end)) > 0)
        for (size_t i = 0; i < count; i++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %.*s %llu", len == 0 ? "" : ", ",
                                    types[events[i].type], KI_STR_ARGS(events[i].object->name),
                                    (unsigned long long)events[i].version);
            ki_as_object_unref(events[i].object);
        }
    (void)snprintf(text + len, sizeof(text) - len, "%s%s", len == 0 || end == KI_AS_WATCH_OPEN ? "" : ", ",
                   ends[end]);
    return text;
}

void as_rig_init_seeded(struct as_rig *rig)
{
    as_rig_init(rig, 0);
    assert_taken(ki_as_seed(rig->storage, &rig->failure), &rig->failure);
}

bool as_rig_try_init_seeded(struct as_rig *rig)
{
    *rig = (struct as_rig){0};
    rig->storage = ki_as_storage_new(&(struct ki_as_storage_options){.first_version = 1000, .seed = 1});
    return rig->storage != NULL && ki_as_seed(rig->storage, &rig->failure) == 0;
}

bool as_rig_try_create(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *tree = json_loads(body, 0, NULL);
    bool is_done = tree != NULL && ki_as_create(&call, tree, &object, &rig->failure) == 0;
    ki_as_object_unref(object);
    json_decref(tree);
    return is_done;
}

struct ki_as_call as_rig_call(struct as_rig *rig, const char *resource, const char *key)
{
    char qualified[128];
    const char *sub = strchr(resource, '/');
    const char *slash = strchr(key, '/');
    (void)snprintf(qualified, sizeof(qualified), "%.*s", (int)strcspn(resource, "/"), resource);
    struct ki_as_call call = {.storage = rig->storage, .resource = as_rig_resource(rig, qualified)};
    call.subresource = ki_str_of(sub == NULL ? "" : sub + 1);
    call.name = ki_str_of(slash == NULL ? key : slash + 1);
    if (slash != NULL)
        call.ns = (ki_str){key, (size_t)(slash - key)};
    return call;
}

/* Takes the reference. */
static json_t *tree_from(const struct ki_as_call *call, struct ki_as_object *object)
{
    json_t *tree = ki_as_object_tree(object, call->resource->kind, call->resource->api_version);
    assert_non_null(tree);
    ki_as_object_unref(object);
    return tree;
}

json_t *as_rig_create(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *tree = tree_of(body);
    assert_taken(ki_as_create(&call, tree, &object, &rig->failure), &rig->failure);
    json_decref(tree);
    return tree_from(&call, object);
}

json_t *as_rig_update(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *tree = tree_of(body);
    assert_taken(ki_as_update(&call, tree, &object, NULL, &rig->failure), &rig->failure);
    json_decref(tree);
    return tree_from(&call, object);
}

json_t *as_rig_get(struct as_rig *rig, const char *resource, const char *key)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    ki_as_storage_lock(rig->storage);
    struct ki_as_object *object =
        ki_as_collection_find(ki_as_storage_collection(rig->storage, call.resource), call.ns, call.name);
    if (object != NULL)
        (void)ki_as_object_ref(object);
    ki_as_storage_unlock(rig->storage);
    return object == NULL ? NULL : tree_from(&call, object);
}

bool as_rig_delete(struct as_rig *rig, const char *resource, const char *key)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    assert_taken(ki_as_delete(&call, NULL, &object, &is_gone, &rig->failure), &rig->failure);
    ki_as_object_unref(object);
    return is_gone;
}

void as_rig_refuse_create(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *tree = tree_of(body);
    assert_int_equal(ki_as_create(&call, tree, &object, &rig->failure), -1);
    assert_null(object);
    json_decref(tree);
}

void as_rig_refuse_update(struct as_rig *rig, const char *resource, const char *key, const char *body)
{
    struct ki_as_call call = as_rig_call(rig, resource, key);
    struct ki_as_object *object = NULL;
    json_t *tree = tree_of(body);
    assert_int_equal(ki_as_update(&call, tree, &object, NULL, &rig->failure), -1);
    assert_null(object);
    json_decref(tree);
}

const char *as_rig_text(json_t *tree, const char *path)
{
    static char text[TEXT_BYTES];
    assert_non_null(tree);
    (void)snprintf(text, sizeof(text), "%s", ki_as_tree_text(tree, path));
    json_decref(tree);
    return text;
}

long long as_rig_number(json_t *tree, const char *path)
{
    assert_non_null(tree);
    long long number = ki_as_tree_integer(tree, path, -1);
    json_decref(tree);
    return number;
}
