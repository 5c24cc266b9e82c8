/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_setup - the options of an informer or a feed, with copies of everything they point at.
 *
 *   From:     reflector/life.c, informer/factory.c
 *   Locks:    none; constant once made.
 *   Not here: what the options mean.
 */
#ifndef KI_REFLECTOR_REFLECTOR_SETUP_H
#define KI_REFLECTOR_REFLECTOR_SETUP_H

#include <kinformer/informer.h>
#include <stdbool.h>

#include "client/client.h"
#include "util/hash.h"

/* A zeroed struct has the default options, but its texts are NULL. */
typedef struct ki_reflector_setup {
    ki_informer_options options; /* texts are not NULL, except the name; keep and drop may be NULL */
    void *memory;
} ki_reflector_setup;

/* Copies `options`, which may be NULL. The resource, which may be NULL or invalid, is only named in errors.
 * Returns 0, KI_ERR_INVALID with the cause in `err`, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_setup_init(ki_reflector_setup *setup, const ki_resource *resource,
                                         const ki_informer_options *options, ki_error *err);

/* Checks the options against the resource. Returns 0, or KI_ERR_INVALID with the cause in `err`. */
KI_NODISCARD int ki_reflector_setup_check(const ki_reflector_setup *setup, const ki_resource *resource,
                                          ki_error *err);

/* Adds the user to the client, with the name in the options or a generated one: "pods", "pods/ns", "pods#3".
 * Returns what ki_client_join() returns. */
KI_NODISCARD int ki_reflector_setup_join(const ki_reflector_setup *setup, const ki_resource *resource,
                                         ki_client *client, ki_client_user *alive);

void ki_reflector_setup_fini(ki_reflector_setup *setup);

/* Whether one informer can serve both, because they have the same options. */
bool ki_reflector_setup_equal(const ki_reflector_setup *a, const ki_reflector_setup *b);

/* A hash, which is equal for equal options and resources. */
uint64_t ki_reflector_setup_hash(const ki_reflector_setup *setup, const ki_resource *resource,
                                 const ki_hash_key *key);

#endif
