/* SPDX-License-Identifier: Apache-2.0 */
/* factory - one informer for each collection, shared by the whole program: client-go's SharedInformerFactory.
 *
 * Independent parts of a program that ask for the same collection get the same informer.
 *
 * A factory remembers the first error of its set-up calls, and the next start reports it. Set-up calls with a
 * NULL factory or a NULL informer do nothing, and a start with a NULL factory fails, as <kinformer/error.h>
 * says. So only the start has to be checked.
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

/** The resync period of one resource. */
typedef struct ki_factory_resync {
    const ki_resource *resource;
    uint64_t resync_ms;
    uint64_t reserved[2];
} ki_factory_resync;

/** Zero means default. What it points at is copied, except the `user` pointers of callbacks. */
typedef struct ki_factory_options {
    ki_informer_options informer;    /* for each informer that is requested without options */
    const ki_factory_resync *resync; /* overrides informer.resync_ms for these resources; the last entry has
                                      * a NULL resource */
    uint64_t reserved[4];
} ki_factory_options;

/**
 * Makes a factory that has no informers yet.
 *
 * Returns:   a factory to free, or NULL without a client or when out of memory; ki_factory_start() then
 *            fails. A bad option gives a factory that makes no informers: ki_factory_informer() returns NULL,
 *            and every start and wait reports the option.
 * Ownership: the caller frees it. `options` may be NULL.
 */
KI_API ki_factory *ki_factory_new(ki_client *client, const ki_factory_options *options);

/** Stops and frees all its informers, and returns when none of their callbacks or requests is running any
 * more; it waits for read sections as ki_informer_free() does. From a callback or inside a read section it
 * returns at once, and the work is done soon after. May be called before or after ki_client_free(). NULL is
 * allowed. */
KI_API void ki_factory_free(ki_factory *factory);

/**
 * Returns the informer of a collection. The first call makes it; later calls with the same resource and the
 * same options return the same one. All options are compared: namespace, selectors (as text), paths, numbers,
 * callbacks and their `user`. `options` NULL: the options of the factory; their `ns` is ignored for a
 * cluster-scoped resource. Otherwise `options` alone count.
 *
 * Returns:   the informer, or NULL: the next start reports why.
 * Ownership: the factory owns it. It is valid until ki_factory_remove() or ki_factory_free().
 */
KI_API ki_informer *ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                                        const ki_informer_options *options);

/** Like ki_factory_informer(), but with the name of a resource: that of a built-in resource, as for
 * ki_resource_find(), or "plural.version.group", as for ki_resource_parse(). */
KI_API ki_informer *ki_factory_for_resource(ki_factory *factory, ki_str name,
                                            const ki_informer_options *options);

/**
 * Starts the informers that are not running. Call it again after informers were added.
 *
 * Returns: 0, or the first error: of the set-up since the last start, or of starting an informer. The other
 *          informers are started nevertheless. An error of the set-up is reported once: another start
 *          returns 0, without the informers, handlers and indexes that were refused, unless they are asked
 *          for again. With an invalid option of the factory: always that error, and nothing starts.
 *          KI_ERR_STOPPED when the client has been freed and there are informers; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_factory_start(ki_factory *factory, ki_error *err);

/** Stops all informers, and returns when nothing is running any more; from a callback or inside a read
 * section it returns at once. NULL is allowed. */
KI_API void ki_factory_stop(ki_factory *factory);

/**
 * Waits until all started informers have synced, for at most `timeout_ms` in total. With KI_MODE_EVENT_LOOP
 * and KI_MODE_HANDLERS_ON_LOOP it runs the client's loop meanwhile: see <kinformer/informer.h>.
 *
 * Returns: 0, also when none was started; KI_ERR_INVALID without a factory; the error of an invalid option of
 *          the factory; else as ki_informer_wait_for_sync(), with a message that names the informers that
 *          have not synced, and the reasons.
 */
KI_API KI_NODISCARD int ki_factory_wait_for_sync(ki_factory *factory, uint64_t timeout_ms, ki_error *err);

/** An informer that has not synced, and its status. */
typedef struct ki_factory_pending {
    ki_informer *informer; /* owned by the factory */
    ki_informer_status status;
    uint64_t reserved[4];
} ki_factory_pending;

/**
 * Writes up to `count` informers that have not synced, started or not, to `out`, which may be NULL when
 * `count` is 0.
 *
 * Returns: how many there are; 0 for NULL and in a child of fork().
 */
KI_API size_t ki_factory_read_pending(const ki_factory *factory, ki_factory_pending *out, size_t count);

/**
 * Stops and frees an informer that has no handlers any more, as ki_informer_free() does, and removes it from
 * the factory. The factory does not know whether another part of the program, without a handler, still has
 * the pointer: no part may use it any more.
 *
 * Returns: 0: `informer` is no longer valid; 1: it has handlers, and stays; KI_ERR_NOT_FOUND: it is not from
 *          this factory; KI_ERR_INVALID when one of the two is NULL; KI_ERR_FORKED in a child.
 */
KI_API int ki_factory_remove(ki_factory *factory, ki_informer *informer);

KI_EXTERN_C_END

#endif
