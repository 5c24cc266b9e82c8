/* SPDX-License-Identifier: Apache-2.0 */
/* source - who answers the requests for one collection.
 *
 *   From:     reflector/life.c
 *   To:       the source of the client, or the list_watch of the options
 *   Locks:    none.
 *   Not here: the requests.
 */
#ifndef KI_REFLECTOR_SOURCE_H
#define KI_REFLECTOR_SOURCE_H

#include <kinformer/informer.h>

/* The options' own, or one that the client makes; its `release` is the caller's to call. `options` has no
 * text that is NULL. Returns 0, KI_ERR_INVALID without either, or what the client's source fails with. */
KI_NODISCARD int ki_source_open(const ki_client *client, const ki_resource *resource,
                                const ki_informer_options *options, ki_list_watch *out_list_watch,
                                ki_error *err);

#endif
