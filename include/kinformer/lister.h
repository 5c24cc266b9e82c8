/* SPDX-License-Identifier: Apache-2.0 */
/* lister - reads a part of a store: one namespace, or the objects with one value of an index, filtered by
 * labels: client-go's listers.
 *
 *   ki_lister web = ki_lister_of(store, KI_STR("web"));
 *   ki_object *pod = ki_lister_get(web, KI_STR("web-0"));
 *   rc = ki_lister_list(web, selector, &list);
 *   …
 *   ki_object_list_fini(&list); // before the list is written again
 *   rc = ki_lister_list(ki_lister_index(web, "node", KI_STR("node-1")), NULL, &list);
 *   …
 *   ki_object_list_fini(&list);
 *   ki_object_unref(pod);
 *
 * A lister is a plain value: cheap to make, nothing to free. It borrows its store and its texts.
 * Threads: any, for all calls.
 */
#ifndef KI_LISTER_H
#define KI_LISTER_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>

KI_EXTERN_C_BEGIN

/** Made by ki_lister_of() and ki_lister_index(). */
typedef struct ki_lister {
    const ki_store *store;
    ki_str ns;         /* empty: all namespaces */
    const char *index; /* NULL: not by index */
    ki_str value;
    uint64_t reserved[2];
} ki_lister;

/** The objects of one namespace; if `ns` is empty, all objects, including cluster-scoped ones. */
KI_API ki_lister ki_lister_of(const ki_store *store, ki_str ns);

/** Narrows a lister to the objects with one value of an index. Replaces an index that was set before. */
KI_API ki_lister ki_lister_index(ki_lister lister, const char *index, ki_str value);

/**
 * Finds the object with this name in the lister's namespace; for a lister of all namespaces `name` is the
 * key: "namespace/name", or the name of a cluster-scoped object. The index is ignored here. If the store has
 * a key function, use a lister of all namespaces and pass the key.
 *
 * Returns:   a new reference, or NULL when there is no such object.
 * Ownership: the caller drops the reference with ki_object_unref().
 * Threads:   any. Never waits.
 */
KI_API KI_NODISCARD ki_object *ki_lister_get(ki_lister lister, ki_str name);

/** Like ki_lister_get(), inside a read section and without taking a reference.
 * NULL outside a read section. */
KI_API const ki_object *ki_lister_peek(ki_lister lister, ki_str name);

/**
 * Lists the objects whose labels match, from one state of the store, in any order. NULL as `selector` lists
 * all objects, unlike in ki_selector_matches(), where it matches no object: check the result of
 * ki_selector_parse() first.
 * Listing one namespace, or one value of an index, does not scan the rest of the store.
 *
 * Returns:   0; KI_ERR_INVALID without a store or a list; KI_ERR_NOT_FOUND for an unknown index;
 *            KI_ERR_NO_MEMORY; KI_ERR_WOULD_DEADLOCK in a read section.
 * Ownership: the caller ends the list with ki_object_list_fini(). Untouched on failure.
 */
KI_API KI_NODISCARD int ki_lister_list(ki_lister lister, const ki_selector *selector,
                                       ki_object_list *out_list);

/**
 * Calls `callback` for each object that ki_lister_list() would list. Takes no lock and allocates nothing; the
 * store may change meanwhile: see ki_store_walk().
 *
 * Returns: 0, or the value that the callback stopped with; KI_ERR_INVALID without a store or a callback;
 *          KI_ERR_NOT_FOUND for an unknown index.
 * Threads: any; the callback runs inside a read section.
 */
KI_API int ki_lister_walk(ki_lister lister, const ki_selector *selector, ki_walk_cb callback, void *user);

KI_EXTERN_C_END

#endif
