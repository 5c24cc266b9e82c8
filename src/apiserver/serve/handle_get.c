/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"

/* Finds the object in a list of the stale version. */
static struct ki_as_object *find_late(struct ki_as_task *task, uint64_t version)
{
    struct ki_as_storage *storage = task->exchange->server->storage;
    struct ki_as_page page = {0};
    struct ki_as_failure ignored = {0};
    struct ki_as_object *found = NULL;
    struct ki_as_page_request request = {.ns = task->request->ns, .version = version};
    ki_as_storage_lock(storage);
    struct ki_as_collection *collection = ki_as_storage_collection(storage, task->resource);
    if (collection != NULL && ki_as_storage_page(storage, collection, &request, &page, &ignored) == 0)
        for (size_t i = 0; i < page.count && found == NULL; i++)
            if (ki_str_equal(page.objects[i]->name, task->request->name))
                found = ki_as_object_ref(page.objects[i]);
    ki_as_storage_unlock(storage);
    ki_as_page_fini(&page);
    ki_as_failure_fini(&ignored);
    return found;
}

static struct ki_as_object *find(struct ki_as_task *task)
{
    struct ki_as_storage *storage = task->exchange->server->storage;
    ki_as_storage_lock(storage);
    struct ki_as_collection *collection = ki_as_storage_collection(storage, task->resource);
    struct ki_as_object *object =
        collection == NULL ? NULL : ki_as_collection_find(collection, task->request->ns, task->request->name);
    if (object != NULL)
        (void)ki_as_object_ref(object);
    ki_as_storage_unlock(storage);
    return object;
}

enum ki_as_step ki_as_handle_get(struct ki_as_task *task)
{
    uint64_t version = 0;
    if (ki_as_version_parse(task->query->resource_version, &version, task->failure) < 0)
        return KI_AS_STEP_FAILED;
    enum ki_as_step step = ki_as_wait_for_version(task->exchange, version);
    if (step != KI_AS_STEP_DONE)
        return step;
    uint64_t late = ki_as_stale_version(task);
    struct ki_as_object *object = late > 0 ? find_late(task, late) : find(task);
    if (object == NULL) {
        (void)ki_as_fail_not_found(task->failure, task->resource, task->request->name);
        return KI_AS_STEP_FAILED;
    }
    if (ki_str_equal(task->request->subresource, KI_STR("scale")))
        return ki_as_render_scale(task, object, 200);
    return ki_as_render_object(task, object, 200);
}
