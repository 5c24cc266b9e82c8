/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/threading_calls.h"

#include <kinformer/delta_queue.h>
#include <kinformer/resources.h>

#include "support/store/store_objects.h"
#include "util/fork.h"

/* ---- the calls --------------------------------------------------------------------------------------- */

static int count_objects(const ki_object *object, void *user)
{
    (void)object;
    (*(int *)user)++;
    return 0;
}

int call_read_without_waiting(stage *s)
{
    const ki_store *store = ki_informer_store(s->rig.informer);
    int count = 0;
    ki_object *object = ki_store_get(store, KI_STR("a"), KI_STR("n1"));
    ki_read_lock();
    int is_there = ki_store_peek(store, KI_STR("a"), KI_STR("n1")) != NULL;
    ki_read_unlock();
    int rc = ki_store_walk(store, count_objects, &count);
    is_there =
        is_there && object != NULL && count >= 3 && ki_store_count(store) >= 3 && ki_store_bytes(store) > 0;
    (void)ki_object_unref(object);
    return rc < 0 ? rc : is_there ? 0 : KI_ERR_NOT_FOUND;
}

/* All of these calls must have the same result, or the test would prove nothing. */
int call_read_lists(stage *s)
{
    const ki_store *store = ki_informer_store(s->rig.informer);
    ki_object_list objects = {0};
    ki_object_list found = {0};
    ki_str_list keys = {0};
    ki_str_list index_keys = {0};
    ki_str_list values = {0};
    int rc = ki_store_list(store, &objects);
    int is_same = ki_store_list_keys(store, &keys) == rc &&
                  ki_store_list_index(store, KI_INDEX_NAMESPACE, ki_str_of("a"), &found) == rc &&
                  ki_store_list_keys_index(store, KI_INDEX_NAMESPACE, ki_str_of("a"), &index_keys) == rc &&
                  ki_store_list_values(store, KI_INDEX_NAMESPACE, &values) == rc;
    ki_object_list_fini(&objects);
    ki_object_list_fini(&found);
    ki_str_list_fini(&keys);
    ki_str_list_fini(&index_keys);
    ki_str_list_fini(&values);
    return is_same ? rc : KI_ERR_INVALID;
}

int call_add_handler(stage *s)
{
    ki_handler handler = heard_handler(&s->late);
    return ki_informer_add_handler(s->rig.informer, &handler, NULL) == NULL ? KI_ERR_INVALID : 0;
}

int call_add_index(stage *s)
{
    int rc = ki_informer_add_index(s->rig.informer, "by-name", store_name_index, NULL);
    int path_rc = ki_informer_add_index_path(s->rig.informer, "by-path", "/metadata/name");
    return path_rc == rc ? rc : KI_ERR_INVALID;
}

int call_start(stage *s)
{
    int rc = ki_informer_start(s->rig.informer, NULL);
    return rc < 0 ? rc : ki_informer_start(s->fresh, NULL);
}

int call_stop(stage *s)
{
    ki_informer_stop(s->rig.informer);
    return 0;
}

int call_free_informer(stage *s)
{
    ki_informer *informer = s->rig.informer;
    s->rig.informer = NULL;
    ki_informer_free(informer);
    return 0;
}

int call_wait_for_sync(stage *s)
{
    return ki_informer_wait_for_sync(s->rig.informer, STAGE_WAIT_MS, NULL);
}

int call_wait_for_version(stage *s)
{
    return ki_informer_wait_for_version(s->rig.informer, ki_str_of("101"), STAGE_WAIT_MS, NULL);
}

int call_ask_informer(stage *s)
{
    ki_informer_status status;
    char version[32];
    ki_informer_retry_now(s->rig.informer);
    ki_informer_read_status(s->rig.informer, &status);
    int is_well = status.objects >= 3 && ki_informer_age_ms(s->rig.informer) < STAGE_WAIT_MS &&
                  ki_informer_last_resource_version(s->rig.informer, version, sizeof(version)) > 0 &&
                  ki_informer_has_synced(s->rig.informer);
    return is_well ? 0 : KI_ERR_NOT_FOUND;
}

int call_remove_handler(stage *s)
{
    ki_registration_remove(s->registration);
    return 0;
}

int call_remove_handler_and_wait(stage *s)
{
    return ki_registration_remove_and_wait(s->registration);
}

int call_ask_registration(stage *s)
{
    ki_registration_stats stats;
    ki_registration_read_stats(s->registration, &stats);
    return ki_registration_has_synced(s->registration) && stats.delivered >= 3 ? 0 : KI_ERR_NOT_FOUND;
}

int call_wait_for_handler(stage *s)
{
    return ki_registration_wait_for_sync(s->registration, STAGE_WAIT_MS, NULL);
}

int call_use_factory(stage *s)
{
    bool makes_some = ki_fork_check(NULL) == 0; /* not possible in an index function */
    ki_informer *more = ki_factory_informer(s->factory, &KI_CORE_V1_ENDPOINTS, NULL);
    ki_factory_pending pending[2];
    if ((more != NULL) != makes_some || ki_factory_read_pending(s->factory, pending, 2) != makes_some ||
        (makes_some && pending[0].informer != more))
        return KI_ERR_NOT_FOUND;
    if (!makes_some && ki_factory_start(s->factory, NULL) != KI_ERR_WOULD_DEADLOCK)
        return KI_ERR_NOT_FOUND; /* the first start reports it */
    return ki_factory_start(s->factory, NULL);
}

int call_stop_factory(stage *s)
{
    ki_factory_stop(s->factory);
    return 0;
}

int call_free_factory(stage *s)
{
    ki_factory *factory = s->factory;
    s->factory = NULL;
    ki_factory_free(factory);
    return 0;
}

int call_remove_from_factory(stage *s)
{
    return ki_factory_remove(s->factory, s->spare);
}

int call_wait_for_factory(stage *s)
{
    return ki_factory_wait_for_sync(s->factory, STAGE_WAIT_MS, NULL);
}

static int accept_deltas(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return 0;
}

/* Calls a function with the queue, which holds one key then. Returns the result of the last call. */
static int with_queue(const stage *s, int (*call)(ki_delta_queue *queue))
{
    ki_delta_queue *queue = s->queue;
    ki_object *object = ki_store_get(ki_informer_store(s->rig.informer), KI_STR("a"), KI_STR("n1"));
    if (queue == NULL || object == NULL)
        return KI_ERR_NOT_FOUND;
    int rc = ki_delta_queue_push(queue, (ki_delta){.change_type = KI_CHANGE_ADDED, .object = object});
    if (rc == 0)
        rc = ki_delta_queue_replace(queue, &object, 1);
    if (rc == 0)
        rc = ki_delta_queue_resync(queue);
    if (rc == 0 && call != NULL)
        rc = call(queue);
    (void)ki_object_unref(object);
    return rc;
}

static int pop_with_a_timeout(ki_delta_queue *queue)
{
    return ki_delta_queue_pop(queue, 1, accept_deltas, NULL);
}

static int pop_what_is_there(ki_delta_queue *queue)
{
    return ki_delta_queue_pop(queue, 0, accept_deltas, NULL);
}

int call_fill_queue(stage *s)
{
    return with_queue(s, NULL);
}

int call_pop_waiting(stage *s)
{
    return with_queue(s, pop_with_a_timeout);
}

int call_pop_at_once(stage *s)
{
    return with_queue(s, pop_what_is_there);
}

int call_dispatch(stage *s)
{
    int rc = ki_client_dispatch(s->rig.client, 1);
    return s->mode == KI_MODE_THREADS ? rc : rc < 0 ? rc : 0;
}

int call_free_client(stage *s)
{
    ki_client_free(s->own_client);
    return 0;
}

/* All of these calls must have the same result; at the end the store has its original content. */
int call_write_store(stage *s)
{
    ki_store *store = s->own_store;
    int rc = ki_store_remove(store, ki_object_key_str(s->stored));
    int is_same = ki_store_replace(store, &s->stored, 1) == rc && ki_store_put(store, s->stored) == rc &&
                  ki_store_add_index(store, "by-name", store_name_index, NULL) == rc &&
                  ki_store_add_index_path(store, "by-path", "/metadata/name") == rc;
    return is_same ? rc : KI_ERR_INVALID;
}

int call_free_store(stage *s)
{
    ki_store_free(s->own_store);
    return 0;
}

/* ---- effects ----------------------------------------------------------------------------------------- */

static int is_stopped(const ki_informer *informer)
{
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    return status.phase == KI_PHASE_STOPPED;
}

static int gone(stage *s)
{
    return local_source_released(s->rig.source);
}

int stage_has_nothing_to_show(stage *s)
{
    (void)s;
    return 1;
}

int stage_is_late_synced(stage *s)
{
    return s->late.synced == 1;
}

int stage_has_index(stage *s)
{
    ki_object_list found = {0};
    int rc = ki_store_list_index(ki_informer_store(s->rig.informer), "by-name", ki_str_of("n1"), &found);
    ki_object_list_fini(&found);
    return rc == 0;
}

int stage_is_fresh_synced(stage *s)
{
    return ki_informer_has_synced(s->fresh);
}

int stage_is_informer_stopped(stage *s)
{
    return is_stopped(s->rig.informer);
}

int stage_is_informer_gone(stage *s)
{
    return s->own.what.releases == 1 && s->sibling.what.releases == 1 && gone(s) == 1;
}

int stage_is_handler_gone(stage *s)
{
    return s->own.what.releases == 1;
}

int stage_is_factory_synced(stage *s)
{
    return ki_factory_read_pending(s->factory, NULL, 0) == 0;
}

int stage_is_factory_stopped(stage *s)
{
    return is_stopped(s->member) && is_stopped(s->spare);
}

int stage_is_factory_gone(stage *s)
{
    return s->of_member.what.releases == 1 && gone(s) == 2;
}

int stage_is_one_gone(stage *s)
{
    return gone(s) == 1;
}

int stage_is_client_gone(stage *s)
{
    return s->is_client_gone;
}

int stage_is_store_gone(stage *s)
{
    return !store_object_is_shared(s->stored);
}
