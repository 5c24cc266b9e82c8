/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the objects of an embedded server without HTTP. */
#include <kinformer/apiserver.h>
#include <string.h>

#include "apiserver/serve/server.h"
#include "apiserver/value/decode.h"
#include "apiserver/value/load.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/strict.h"
#include "apiserver/verbs/verbs.h"
#include "util/error.h"

enum { WHY_BYTES = 512 };

static const char manager[] = "kinformer-apiserver";

static int code_of(const struct ki_as_failure *failure)
{
    return failure->code == 404      ? KI_ERR_NOT_FOUND
           : failure->status == NULL ? KI_ERR_NO_MEMORY
                                     : KI_ERR_INVALID;
}

static const char *message_of(const struct ki_as_failure *failure)
{
    const char *message = json_string_value(json_object_get(failure->status, "message"));
    if (message != NULL)
        return message;
    return failure->plain_text != NULL ? failure->plain_text : ki_error_text(code_of(failure));
}

static int fail_with(struct ki_as_failure *failure, ki_error *err)
{
    int code = code_of(failure);
    ki_error_set(err, code, 0, "%s", message_of(failure));
    ki_as_failure_fini(failure);
    return code;
}

/* Finds a served resource. *out is a new reference. */
static int find(const ki_apiserver *server, const ki_resource *resource, struct ki_as_resource **out,
                ki_error *err)
{
    int rc = ki_as_check_process(server, err);
    if (rc < 0)
        return rc;
    if (resource == NULL)
        return ki_fail(err, KI_ERR_INVALID, "no resource given");
    ki_as_storage_lock(server->storage);
    struct ki_as_resource *found =
        ki_as_resources_find(ki_as_storage_resources(server->storage), ki_str_of(resource->group),
                             ki_str_of(resource->version), ki_str_of(resource->plural));
    if (found != NULL)
        (void)ki_as_resource_ref(found);
    ki_as_storage_unlock(server->storage);
    *out = found;
    if (found != NULL)
        return 0;
    return ki_fail(err, KI_ERR_RESOURCE, "%s of %s is not served",
                   resource->plural == NULL ? "" : resource->plural,
                   resource->version == NULL ? "" : resource->version);
}

/* ---- put ----------------------------------------------------------------------------------------------- */

/* Modifies the tree. One update changes an existing object or creates a missing one,
 * so that no other request can intervene. */
static int put_tree(ki_apiserver *server, const struct ki_as_call *like, json_t *tree,
                    struct ki_as_failure *failure)
{
    struct ki_as_object *object = NULL;
    json_t *metadata = json_object_get(tree, "metadata");
    struct ki_as_call call = *like;
    call.storage = server->storage;
    call.field_manager = ki_str_of(manager);
    call.is_whole = true;
    (void)json_object_del(metadata, "resourceVersion");
    /* New references, because the update modifies the tree. */
    json_t *ns = json_incref(json_object_get(metadata, "namespace"));
    json_t *name = json_incref(json_object_get(metadata, "name"));
    call.ns = ki_as_json_str(ns);
    call.name = ki_as_json_str(name);
    if (call.ns.len == 0 && call.resource->is_namespaced)
        call.ns = KI_STR("default");
    int rc = call.name.len > 0 ? ki_as_update(&call, tree, &object, NULL, failure)
                               : ki_as_create(&call, tree, &object, failure);
    if (rc == 0)
        ki_as_object_unref(object);
    json_decref(ns);
    json_decref(name);
    return rc;
}

int ki_apiserver_put(ki_apiserver *server, const ki_resource *resource, const char *json, ki_error *err)
{
    json_error_t why;
    struct ki_as_failure failure = {0};
    struct ki_as_resource *found = NULL;
    int rc = find(server, resource, &found, err);
    if (rc < 0)
        return rc;
    json_t *tree = json == NULL ? NULL : ki_as_decode_body(ki_str_of(json), &why);
    if (!json_is_object(tree))
        rc = ki_fail(err, KI_ERR_INVALID, "the object is not JSON%s%s",
                     json == NULL || tree != NULL ? "" : ": ", json == NULL || tree != NULL ? "" : why.text);
    else if (put_tree(server, &(struct ki_as_call){.resource = found, .is_sketch = true}, tree, &failure) < 0)
        rc = fail_with(&failure, err);
    json_decref(tree);
    ki_as_resource_unref(found);
    return rc;
}

/* ---- delete -------------------------------------------------------------------------------------------- */

int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource, const char *ns, const char *name,
                        ki_error *err)
{
    struct ki_as_failure failure = {0};
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    struct ki_as_resource *found = NULL;
    int rc = find(server, resource, &found, err);
    if (rc < 0)
        return rc;
    struct ki_as_call call = {.storage = server->storage,
                              .resource = found,
                              .ns = ki_str_of(ns),
                              .name = ki_str_of(name),
                              .field_manager = ki_str_of(manager),
                              .is_purge = true};
    rc = ki_as_delete(&call, NULL, &object, &is_gone, &failure);
    ki_as_object_unref(object);
    ki_as_resource_unref(found);
    return rc < 0 ? fail_with(&failure, err) : 0;
}

/* ---- load ---------------------------------------------------------------------------------------------- */

struct loading {
    ki_apiserver *server;
    ki_apiserver_loaded *loaded;
    ki_error *err;
    const struct ki_as_load_place *place; /* of the object being loaded */
    bool is_definitions;                  /* this pass loads only namespaces and definitions */
};

static bool is_definition(const json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    return kind != NULL && (strcmp(kind, "CustomResourceDefinition") == 0 || strcmp(kind, "Namespace") == 0);
}

/* A new reference, or NULL. */
static struct ki_as_resource *find_kind(struct ki_as_storage *storage, const json_t *object)
{
    ki_as_storage_lock(storage);
    struct ki_as_resource *resource = ki_as_resources_find_kind(
        ki_as_storage_resources(storage), ki_as_json_str(json_object_get(object, "apiVersion")),
        ki_as_json_str(json_object_get(object, "kind")));
    if (resource != NULL)
        (void)ki_as_resource_ref(resource);
    ki_as_storage_unlock(storage);
    return resource;
}

/* Writes the position and the message to loaded->message. The error may truncate them. */
static int fail_load(const struct loading *loading, const struct ki_as_load_place *place, int code,
                     const char *why)
{
    char *message = loading->loaded->message;
    ki_as_load_place_write(place, message, sizeof(loading->loaded->message));
    size_t len = strlen(message);
    (void)snprintf(message + len, sizeof(loading->loaded->message) - len, "%s", why);
    return ki_fail(loading->err, code, "%s", message);
}

static void warn(const ki_apiserver *server, const struct ki_as_load_place *place, const json_t *warnings)
{
    const json_t *warning = NULL;
    size_t i = 0;
    json_array_foreach(warnings, i, warning)
    {
        char message[sizeof(((ki_apiserver_loaded *)0)->message)];
        ki_as_load_place_write(place, message, sizeof(message));
        size_t len = strlen(message);
        (void)snprintf(message + len, sizeof(message) - len, "%s", json_string_value(warning));
        server->on_warning(message, server->warning_user);
    }
}

/* Unknown fields are reported and removed. */
static int load_tree(const struct loading *loading, const struct ki_as_call *like, json_t *tree,
                     struct ki_as_failure *failure)
{
    struct ki_as_call call = *like;
    if (loading->server->on_warning == NULL)
        return put_tree(loading->server, like, tree, failure);
    call.warnings = json_array();
    int rc = call.warnings == NULL ? ki_as_fail_no_memory(failure) : ki_as_strict_body(&call, tree, failure);
    if (rc == 0)
        warn(loading->server, loading->place, call.warnings);
    if (rc == 0)
        rc = put_tree(loading->server, &call, tree, failure);
    json_decref(call.warnings);
    return rc;
}

static int fail_unserved(struct loading *loading, json_t *object, const struct ki_as_load_place *place)
{
    char why[WHY_BYTES];
    ki_str kind = ki_as_json_str(json_object_get(object, "kind"));
    ki_str version = ki_as_json_str(json_object_get(object, "apiVersion"));
    if (kind.len == 0 || version.len == 0)
        (void)snprintf(why, sizeof(why), "has no %s", kind.len == 0 ? "kind" : "apiVersion");
    else
        (void)snprintf(why, sizeof(why), "no kind \"%.*s\" of \"%.*s\" is served", KI_STR_ARGS(kind),
                       KI_STR_ARGS(version));
    return fail_load(loading, place, KI_ERR_RESOURCE, why);
}

static int on_object(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err)
{
    struct loading *loading = user;
    struct ki_as_failure failure = {0};
    loading->err = err;
    loading->place = place;
    if (is_definition(object) != loading->is_definitions)
        return 0;
    struct ki_as_resource *resource = find_kind(loading->server->storage, object);
    if (resource == NULL)
        return fail_unserved(loading, object, place);
    int rc = load_tree(loading, &(struct ki_as_call){.resource = resource}, object, &failure);
    if (rc < 0)
        rc = fail_load(loading, place, code_of(&failure), message_of(&failure));
    else
        loading->loaded->objects++;
    ki_as_failure_fini(&failure);
    ki_as_resource_unref(resource);
    return rc;
}

/* Namespaces and CustomResourceDefinitions are loaded first, because other objects need them. */
int ki_apiserver_load(ki_apiserver *server, const char *path, ki_apiserver_loaded *out_loaded, ki_error *err)
{
    ki_error own = {0};
    ki_apiserver_loaded loaded = {0};
    struct loading loading = {.server = server, .loaded = &loaded, .is_definitions = true};
    struct ki_as_load load = {.take = on_object, .user = &loading};
    if (err == NULL)
        err = &own;
    int rc = ki_as_check_process(server, err);
    if (rc == 0 && path == NULL)
        rc = ki_fail(err, KI_ERR_INVALID, "no path given");
    if (rc == 0)
        rc = ki_as_load_path(path, &load, err);
    loaded.files = load.files;
    loading.is_definitions = false;
    if (rc == 0)
        rc = ki_as_load_path(path, &load, err);
    if (rc < 0 && loaded.message[0] == 0)
        (void)snprintf(loaded.message, sizeof(loaded.message), "%s", err->message);
    if (out_loaded != NULL)
        *out_loaded = loaded;
    return rc;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

size_t ki_apiserver_count(const ki_apiserver *server, const ki_resource *resource)
{
    size_t count = 0;
    struct ki_as_resource *found = NULL;
    if (find(server, resource, &found, NULL) < 0)
        return 0;
    ki_as_storage_lock(server->storage);
    const struct ki_as_collection *collection = ki_as_storage_collection(server->storage, found);
    if (collection != NULL)
        count = ki_as_collection_count(collection);
    ki_as_storage_unlock(server->storage);
    ki_as_resource_unref(found);
    return count;
}

uint64_t ki_apiserver_version(const ki_apiserver *server)
{
    if (ki_as_check_process(server, NULL) < 0)
        return 0;
    ki_as_storage_lock(server->storage);
    uint64_t version = ki_as_storage_version(server->storage);
    ki_as_storage_unlock(server->storage);
    return version;
}
