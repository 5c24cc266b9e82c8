/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mutation_detector.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/object/object_fingerprint.h"
#include "api/object/object_layout.h"
#include "util/alloc.h"

/* A watched object. Size and key are copies, since those in the object may be overwritten. */
typedef struct watch {
    ki_list_node node;
    ki_map_node by_object;
    ki_list_node found; /* linked while a change waits to be reported */
    ki_object *object;
    size_t own_bytes;
    uint64_t fingerprint;
    uint64_t told; /* the fingerprint before the change that waits to be reported */
    size_t times_added;
    size_t key_len;
    char key[];
} watch;

/* ---- adding and removing ----------------------------------------------------------------------------- */

ki_mutation_mode ki_mutation_detector_mode_from_environment(void)
{
    static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE"};
    const char *value = getenv("KUBE_CACHE_MUTATION_DETECTOR");
    for (size_t i = 0; value != NULL && i < sizeof(yes) / sizeof(yes[0]); i++)
        if (strcmp(value, yes[i]) == 0)
            return KI_MUTATION_ABORT;
    return KI_MUTATION_OFF;
}

int ki_mutation_detector_init(ki_mutation_detector *detector, const ki_mutation_detector_options *options)
{
    assert(detector != NULL);
    static const ki_mutation_detector_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    ki_hash_key hash_key;
    if (options->hash_seed != 0)
        ki_hash_key_init_seeded(&hash_key, options->hash_seed);
    else if (ki_hash_key_init(&hash_key) < 0)
        return KI_ERR_SYSTEM;
    *detector = (ki_mutation_detector){.mode = options->mode,
                                       .report = options->report,
                                       .user = options->user,
                                       .name = options->name == NULL ? "" : options->name,
                                       .log = options->log,
                                       .hash_key = hash_key};
    ki_list_init(&detector->watched);
    ki_list_init(&detector->found);
    ki_map_init(&detector->by_object);
    if (detector->mode != KI_MUTATION_OFF)
        ki_log_to(detector->log, KI_LOG_WARNING, "mutation_detector", KI_LOG_NO_FIELDS,
                  "the mutation detector is on: every cached object is hashed once a second");
    return 0;
}

static void watch_free(watch *w)
{
    (void)ki_object_unref(w->object);
    ki_free(w);
}

void ki_mutation_detector_fini(ki_mutation_detector *detector)
{
    assert(detector != NULL);
    if (detector->mode != KI_MUTATION_OFF) {
        (void)ki_mutation_detector_check(detector);
        for (ki_list_node *node = ki_list_pop_front(&detector->watched); node != NULL;
             node = ki_list_pop_front(&detector->watched))
            watch_free(KI_CONTAINER_OF(node, watch, node));
    }
    ki_map_fini(&detector->by_object);
    *detector = (ki_mutation_detector){0};
}

/* ---- checking ---------------------------------------------------------------------------------------- */

static void report(const ki_mutation_detector *detector, const ki_mutation *mutation)
{
    char before[20];
    char after[20];
    snprintf(before, sizeof(before), "%016" PRIx64, mutation->before);
    snprintf(after, sizeof(after), "%016" PRIx64, mutation->after);
    ki_log_to(
        detector->log, KI_LOG_ERROR, "mutation_detector",
        KI_LOG_FIELDS({"key", mutation->key}, {"before", ki_str_of(before)}, {"after", ki_str_of(after)}),
        "%s: a cached object was modified, which is not allowed", detector->name);
    if (detector->report != NULL)
        detector->report(mutation, detector->user);
    if (detector->mode != KI_MUTATION_ABORT)
        return;
    /* The only text that the library prints itself, so that the reason for the abort is visible without a
     * log. */
    (void)fprintf(stderr,
                  "kinformer: %s: the cached object %.*s was modified (%s, was %s), which is not allowed\n",
                  detector->name, KI_STR_ARGS(mutation->key), after, before);
    abort();
}

/* Returns whether the object has changed since the last check. */
static bool check_watch(ki_mutation_detector *detector, watch *w)
{
    uint64_t now = ki_object_fingerprint(w->object, w->own_bytes, &detector->hash_key);
    if (now == w->fingerprint)
        return false;
    if (!ki_list_node_is_linked(&w->found)) {
        w->told = w->fingerprint;
        ki_list_push_back(&detector->found, &w->found);
    }
    w->fingerprint = now;
    return true;
}

void ki_mutation_detector_report(ki_mutation_detector *detector)
{
    assert(detector != NULL);
    if (detector->mode == KI_MUTATION_OFF)
        return;
    for (ki_list_node *node = ki_list_pop_front(&detector->found); node != NULL;
         node = ki_list_pop_front(&detector->found)) {
        watch *w = KI_CONTAINER_OF(node, watch, found);
        ki_mutation mutation = {
            .key = {w->key, w->key_len}, .object = w->object, .before = w->told, .after = w->fingerprint};
        report(detector, &mutation);
        if (w->times_added == 0)
            watch_free(w);
    }
}

size_t ki_mutation_detector_check(ki_mutation_detector *detector)
{
    assert(detector != NULL);
    size_t changed = 0;
    if (detector->mode == KI_MUTATION_OFF)
        return 0;
    for (ki_list_node *node = ki_list_first(&detector->watched); node != NULL;
         node = ki_list_next(&detector->watched, node))
        changed += check_watch(detector, KI_CONTAINER_OF(node, watch, node));
    ki_mutation_detector_report(detector);
    return changed;
}

/* ---- making and freeing ------------------------------------------------------------------------------ */

static uint64_t hash_pointer(const ki_mutation_detector *detector, const ki_object *object)
{
    uintptr_t address = (uintptr_t)object;
    return ki_hash(&detector->hash_key, (ki_str){(const char *)&address, sizeof(address)});
}

static int is_of_object(const ki_map_node *node, const void *object)
{
    return KI_CONTAINER_OF(node, watch, by_object)->object == object;
}

static watch *find_watch(const ki_mutation_detector *detector, const ki_object *object)
{
    ki_map_node *node =
        ki_map_find(&detector->by_object, hash_pointer(detector, object), is_of_object, object);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, watch, by_object);
}

static watch *watch_new(const ki_mutation_detector *detector, const ki_object *object)
{
    ki_str key = ki_object_key_str(object);
    watch *w = ki_malloc(sizeof(*w) + key.len);
    if (w == NULL)
        return NULL;
    *w = (watch){.object = ki_object_ref(object),
                 .own_bytes = ki_object_own_bytes(object),
                 .times_added = 1,
                 .key_len = key.len};
    w->fingerprint = ki_object_fingerprint(object, w->own_bytes, &detector->hash_key);
    memcpy(w->key, key.ptr, key.len);
    return w;
}

int ki_mutation_detector_add(ki_mutation_detector *detector, const ki_object *object)
{
    assert(detector != NULL);
    if (detector->mode == KI_MUTATION_OFF)
        return 0;
    watch *w = find_watch(detector, object);
    if (w != NULL) {
        w->times_added++;
        return 0;
    }
    w = watch_new(detector, object);
    if (w == NULL)
        return KI_ERR_NO_MEMORY;
    if (ki_map_insert(&detector->by_object, &w->by_object, hash_pointer(detector, object)) < 0) {
        watch_free(w);
        return KI_ERR_NO_MEMORY;
    }
    ki_list_push_back(&detector->watched, &w->node);
    return 0;
}

void ki_mutation_detector_remove(ki_mutation_detector *detector, const ki_object *object)
{
    assert(detector != NULL);
    watch *w = detector->mode == KI_MUTATION_OFF ? NULL : find_watch(detector, object);
    if (w == NULL)
        return;
    (void)check_watch(detector, w);
    if (--w->times_added > 0)
        return;
    ki_list_remove(&w->node);
    ki_map_remove(&detector->by_object, &w->by_object);
    if (!ki_list_node_is_linked(&w->found)) /* otherwise it is freed after the report */
        watch_free(w);
}
