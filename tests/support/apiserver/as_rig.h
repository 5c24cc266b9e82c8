/* SPDX-License-Identifier: Apache-2.0 */
/* as_rig - a storage of the API server with short helpers for tests.
 *
 *   From:     tests of the API server's storage and verbs
 *   To:       apiserver/verbs/verbs.h
 */
#ifndef KI_TESTS_SUPPORT_APISERVER_AS_RIG_H
#define KI_TESTS_SUPPORT_APISERVER_AS_RIG_H

#include "apiserver/storage/watch.h"
#include "apiserver/verbs/verbs.h"

/* Versions start at 1000. */
struct as_rig {
    struct ki_as_storage *storage;
    struct ki_as_failure failure;
};

void as_rig_init(struct as_rig *rig, size_t history_events_max);
void as_rig_fini(struct as_rig *rig);

/* Version v1 of a resource such as "pods" or "deployments.apps"; fails the test if it is not served. */
struct ki_as_resource *as_rig_resource(struct as_rig *rig, const char *qualified);
/* A resource in any version; NULL if it is not served. Borrowed. */
struct ki_as_resource *as_rig_served(struct as_rig *rig, const char *group, const char *version,
                                     const char *plural);
struct ki_as_collection *as_rig_collection(struct as_rig *rig, const char *qualified);

/* The current version. */
uint64_t as_rig_version(struct as_rig *rig);
/* Borrowed, or NULL. */
struct ki_as_object *as_rig_find(struct as_rig *rig, const char *qualified, ki_str ns, ki_str name);
size_t as_rig_count(struct as_rig *rig, const char *qualified);
int as_rig_rewind(struct as_rig *rig, uint64_t by);

/* The object that the next two functions put and remove; the storage's lock must be held. */
struct ki_as_object *as_rig_object(struct as_rig *rig, const char *key, const char *app);
/* Puts a config map "ns/name" (or only a name: a node) with labels {"app": app} directly into the storage. */
void as_rig_put(struct as_rig *rig, const char *key, const char *app);
void as_rig_remove(struct as_rig *rig, const char *key);

/* All names of a page as "a b c", in a static buffer. */
const char *as_rig_names(const struct ki_as_page *page);
/* The events of a watch so far as "ADDED a 1001, DELETED b 1002", followed by the state of the watch;
 * in a static buffer. */
const char *as_rig_events(struct ki_as_watch *watch);

/* ---- verbs, with trees as {'a':'b'} -------------------------------------------------------------------- */

/* Creates the standard namespaces. */
void as_rig_init_seeded(struct as_rig *rig);

/* The same, and a create, while allocations may fail. They return whether they succeeded. The body is
 * standard JSON. as_rig_fini() is needed in either case. */
bool as_rig_try_init_seeded(struct as_rig *rig);
bool as_rig_try_create(struct as_rig *rig, const char *resource, const char *key, const char *body);

/* A call for "configmaps" and "default/a", "nodes" and "n", or "deployments.apps/scale" and "default/a"; for
 * a create the name is empty. Strings are borrowed. */
struct ki_as_call as_rig_call(struct as_rig *rig, const char *resource, const char *key);

/* Each must succeed, and returns the stored object as a tree. */
json_t *as_rig_create(struct as_rig *rig, const char *resource, const char *key, const char *body);
json_t *as_rig_update(struct as_rig *rig, const char *resource, const char *key, const char *body);
json_t *as_rig_get(struct as_rig *rig, const char *resource, const char *key);
/* Returns whether the object was deleted, not only marked. */
bool as_rig_delete(struct as_rig *rig, const char *resource, const char *key);
/* The create must be rejected; the failure is in the rig. */
void as_rig_refuse_create(struct as_rig *rig, const char *resource, const char *key, const char *body);
void as_rig_refuse_update(struct as_rig *rig, const char *resource, const char *key, const char *body);

/* The string at "metadata.name"; drops the tree. */
const char *as_rig_text(json_t *tree, const char *path);
long long as_rig_number(json_t *tree, const char *path);

#endif
