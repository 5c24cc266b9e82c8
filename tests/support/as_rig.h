/* SPDX-License-Identifier: Apache-2.0 */
/* as_rig - a storage of the API server with helpers that say in a line what tests do to it.
 *
 *   From:     tests of the API server's storage and verbs
 *   To:       apiserver/verbs.h
 */
#ifndef KI_TESTS_SUPPORT_AS_RIG_H
#define KI_TESTS_SUPPORT_AS_RIG_H

#include "apiserver/verbs.h"
#include "apiserver/watch.h"

/* Versions begin at 1000. */
struct as_rig {
    struct ki_as_storage *storage;
    struct ki_as_failure failure;
};

void as_rig_init(struct as_rig *rig, size_t history_events_max);
void as_rig_fini(struct as_rig *rig);

/* "pods", "deployments.apps": the v1 of it; fails the test when it is not served. */
struct ki_as_resource *as_rig_resource(struct as_rig *rig, const char *qualified);
struct ki_as_collection *as_rig_collection(struct as_rig *rig, const char *qualified);

/* Straight into the storage: a config map "ns/name" (or only a name: a node) with labels {"app": app}. */
struct ki_as_object *as_rig_object(struct as_rig *rig, const char *key, const char *app);
void as_rig_put(struct as_rig *rig, const char *key, const char *app);
void as_rig_remove(struct as_rig *rig, const char *key);

/* All names of a page as "a b c", in a static buffer. */
const char *as_rig_names(const struct ki_as_page *page);
/* Events of a watch up to now as "ADDED a 1001, DELETED b 1002", in a static buffer; then how it stands. */
const char *as_rig_events(struct ki_as_watch *watch);

#endif
