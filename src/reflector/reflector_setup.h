/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_setup - what is followed and how: the options of an informer or a feed, with copies of all that
 * they point at.
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

/* A zeroed one has the default options but for texts, which are NULL. */
typedef struct ki_reflector_setup {
    ki_informer_options options; /* no text is NULL but the name; keep and drop may be */
    void *memory;
} ki_reflector_setup;

/* Copies `options`, which may be NULL. Returns 0, KI_ERR_INVALID with what is wrong, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_setup_init(ki_reflector_setup *setup, const ki_informer_options *options,
                                         ki_error *err);

/* Whether the resource can be asked for so. Returns 0, or KI_ERR_INVALID with what is wrong. */
KI_NODISCARD int ki_reflector_setup_check(const ki_reflector_setup *setup, const ki_resource *resource,
                                          ki_error *err);

/* From here on the client knows of the one with these options, by the name that they have or by one of its
 * own: "pods", "pods/ns", "pods#2". Returns as ki_client_join(). */
KI_NODISCARD int ki_reflector_setup_join(const ki_reflector_setup *setup, const ki_resource *resource,
                                         ki_client *client, ki_client_user *alive);

void ki_reflector_setup_fini(ki_reflector_setup *setup);

/* Whether both ask for the same: then one informer serves both. */
bool ki_reflector_setup_equal(const ki_reflector_setup *a, const ki_reflector_setup *b);

/* Equal for those that ask for the same of the same resource. */
uint64_t ki_reflector_setup_hash(const ki_reflector_setup *setup, const ki_resource *resource,
                                 const ki_hash_key *key);

#endif
