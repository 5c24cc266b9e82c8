/* SPDX-License-Identifier: Apache-2.0 */
/* local_source - an API server without sockets for tests with real threads and the real clock.
 *
 *   From:     tests, from any thread; informers, on io
 *   To:       a ki_list_watch; answers are brought by a job on the client's io
 *   Locks:    mu, a leaf, for the objects, the history and the orders. What is open is io's alone.
 *   Not here: pages, bookmarks, watches that begin with the list: support/sim_server.h has them.
 *
 * One set of objects, whatever resource is asked for. Memory is malloc's own. What runs out of it ends the
 * program.
 */
#ifndef KI_TESTS_SUPPORT_LOCAL_SOURCE_H
#define KI_TESTS_SUPPORT_LOCAL_SOURCE_H

#include <kinformer/client.h>
#include <kinformer/store.h>

typedef struct local_source local_source;

/* Empty, at version 100. */
local_source *local_source_new(void);

/* After the informers; before the client or after it. */
void local_source_free(local_source *source);

/* To be called once, before an informer starts: from then on answers are brought by this client's io. */
void local_source_attach(local_source *source, ki_client *client);

/* For ki_client_options; `user` is the source. */
int local_source_open(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                      ki_error *err, void *user);

/* How many were handed out, and how many of them are not needed any more. */
int local_source_opened(local_source *source);
int local_source_released(local_source *source);

/* Creates or updates. Each returns the version of the change; deleting what is not there changes nothing. */
uint64_t local_source_put(local_source *source, const char *ns, const char *name, int value);
uint64_t local_source_delete(local_source *source, const char *ns, const char *name);

uint64_t local_source_version(local_source *source);

/* Ends what is open with KI_REASON_CONNECTION_LOST. */
void local_source_cut(local_source *source);

/* Forgets the history: a watch from an older version is answered with 410. */
void local_source_forget(local_source *source);

/* 1: nothing is answered any more, 0: again. */
void local_source_set_silent(local_source *source, int is_silent);

/* Every request is answered with this status; 0: as usual again. */
void local_source_set_status(local_source *source, int http_status);

/* Requests that were begun. */
int local_source_lists(local_source *source);
int local_source_watches(local_source *source);

/* How many objects differ between the source and the store. */
size_t local_source_differences(local_source *source, const ki_store *store);

#endif
