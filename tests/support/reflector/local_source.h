/* SPDX-License-Identifier: Apache-2.0 */
/* local_source - an API server without sockets, for tests with real threads and the real clock.
 *
 *   From:     tests, from any thread; informers, on io
 *   To:       a ki_list_watch; a job on the client's io delivers the answers
 *   Locks:    mu, a leaf, for the objects, the history and the settings. Only io uses open requests.
 *   Not here: pages, bookmarks, streamed lists: support/sim/sim_server.h has them.
 *
 * It has one set of objects for all resources. Its memory is from malloc. It ends the program if out of
 * memory.
 */
#ifndef KI_TESTS_SUPPORT_REFLECTOR_LOCAL_SOURCE_H
#define KI_TESTS_SUPPORT_REFLECTOR_LOCAL_SOURCE_H

#include <kinformer/client.h>
#include <kinformer/store.h>

typedef struct local_source local_source;

/* Makes an empty source, at version 100. */
local_source *local_source_new(void);

/* Call it after the informers were freed, before or after the client. */
void local_source_free(local_source *source);

/* Call it once, before an informer starts: from then on this client's io delivers the answers. */
void local_source_attach(local_source *source, ki_client *client);

/* Makes a client with this source and attaches the source to it. */
ki_client *local_source_client(local_source *source, ki_client_options options);

/* The source of ki_client_options; `user` is the source. */
int local_source_open(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                      ki_error *err, void *user);

/* How many ki_list_watch were opened, and how many of them were released. */
int local_source_opened(local_source *source);
int local_source_released(local_source *source);

/* Creates or updates an object. Each of these returns the version of the change; deleting an object that does
 * not exist changes nothing. */
uint64_t local_source_put(local_source *source, const char *ns, const char *name, int value);
uint64_t local_source_delete(local_source *source, const char *ns, const char *name);

uint64_t local_source_version(local_source *source);

/* Ends all open requests with KI_REASON_CONNECTION_LOST. */
void local_source_cut(local_source *source);

/* Drops the history: a watch from an older version is answered with 410. */
void local_source_forget(local_source *source);

/* 1 stops all answers, 0 resumes them. */
void local_source_set_silent(local_source *source, int is_silent);

/* Every request is answered with this status; 0: normal answers again. */
void local_source_set_status(local_source *source, int http_status);

/* The number of lists requested. */
int local_source_lists(local_source *source);

/* The number of objects that differ between the source and the store. */
size_t local_source_differences(local_source *source, const ki_store *store);

#endif
