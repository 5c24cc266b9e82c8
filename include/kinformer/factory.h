/* SPDX-License-Identifier: Apache-2.0 */
/* factory - one informer for each collection, shared by the whole program: client-go's SharedInformerFactory.
 *
 * Parts of a program that know nothing of each other ask for the same collection and get the same informer.
 * Set-up calls on a NULL factory, or that fail, are harmless and remembered: the next start reports the first
 * error.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_FACTORY_H
#define KI_FACTORY_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

typedef struct ki_factory ki_factory;

/** How often handlers of one resource may be reminded. */
typedef struct ki_factory_resync {
    const ki_resource *resource;
    uint64_t resync_ms;
} ki_factory_resync;

/** Zero means default. What it points at is copied, but for what the callbacks get. */
typedef struct ki_factory_options {
    ki_informer_options informer;    /* of every informer that ki_factory_informer() makes */
    const ki_factory_resync *resync; /* instead of informer.resync_ms, for some; ended by a NULL resource */
    uint64_t reserved[4];
} ki_factory_options;

/**
 * Returns:   a factory to free, or NULL when there is no client or memory is out: ki_factory_start() then
 *            says that there is none. With a wrong option it is a factory that makes no informer: those calls
 *            return NULL, and every start and wait says what is wrong.
 * Ownership: the caller frees it. `options` may be NULL.
 */
KI_API ki_factory *ki_factory_new(ki_client *client, const ki_factory_options *options);

/** Stops and frees all its informers; returns when nothing of theirs runs any more. From a callback: carried
 * out soon. Before or after the client. NULL is allowed. */
KI_API void ki_factory_free(ki_factory *factory);

/**
 * The informer of a collection: made at the first call, the same one afterwards. It is the same for the same
 * resource and the same options, all of them: namespace, selectors as they are written, paths, numbers,
 * callbacks with what they are given. The options are the factory's; with ki_factory_informer_with() they are
 * these, and nothing of the factory's.
 *
 * Returns:   the informer, or NULL: the next start says why.
 * Ownership: the factory's, until ki_factory_remove().
 */
KI_API ki_informer *ki_factory_informer(ki_factory *factory, const ki_resource *resource);
KI_API ki_informer *ki_factory_informer_with(ki_factory *factory, const ki_resource *resource,
                                             const ki_informer_options *options);

/** The same for a resource by name: as ki_resource_find() and, for custom ones, ki_resource_parse() take
 * it. */
KI_API ki_informer *ki_factory_for_resource(ki_factory *factory, const char *name);

/**
 * Starts the informers that do not run. To be called again when informers were added.
 *
 * Returns: 0, or the first error of the set-up since the last start, or of a start; the others have been
 *          started all the same. With a wrong option of the factory's: always that error, and nothing starts.
 *          KI_ERR_STOPPED when the client has been freed, KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_factory_start(ki_factory *factory, ki_error *err);

/** Stops all, and returns when nothing runs any more; from a callback: at once. */
KI_API void ki_factory_stop(ki_factory *factory);

/**
 * Waits until all informers that were started have synced, `timeout_ms` in all.
 *
 * Returns: 0, also when none was started; KI_ERR_INVALID without a factory; what is wrong with an option of
 *          the factory's; else as ki_informer_wait_for_sync(), with a message that names those that are not
 *          ready, and why.
 */
KI_API KI_NODISCARD int ki_factory_wait_for_sync(ki_factory *factory, uint64_t timeout_ms, ki_error *err);

/** An informer that is not ready, and what it is doing. */
typedef struct ki_factory_pending {
    ki_informer *informer; /* the factory's */
    ki_informer_status status;
} ki_factory_pending;

/**
 * Writes up to `count` informers that have not synced to `out`, which may be NULL when `count` is 0.
 *
 * Returns: how many there are.
 */
KI_API size_t ki_factory_read_pending(ki_factory *factory, ki_factory_pending *out, size_t count);

/**
 * Stops, forgets and frees an informer that nobody has a handler with any more. Whoever else was given it,
 * and has no handler (yet), must not use it any more: only the program can know.
 *
 * Returns: 0: `informer` is not used any more; 1: there are handlers, it stays; KI_ERR_NOT_FOUND: it is not
 *          of this factory; KI_ERR_INVALID without one of the two.
 */
KI_API int ki_factory_remove(ki_factory *factory, ki_informer *informer);

KI_EXTERN_C_END

#endif
