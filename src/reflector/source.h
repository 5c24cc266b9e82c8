/* SPDX-License-Identifier: Apache-2.0 */
/* source - chooses the list_watch that serves one collection.
 *
 *   From:     reflector/life.c
 *   To:       the source of the client, or the list_watch of the options
 *   Locks:    none.
 *   Not here: the requests.
 */
#ifndef KI_REFLECTOR_SOURCE_H
#define KI_REFLECTOR_SOURCE_H

#include <kinformer/informer.h>

/* Gives the list_watch of the options, or else one that the client makes; the caller calls its `release`. The
 * texts in `options` are not NULL. Returns 0, KI_ERR_INVALID if neither has a source,
 * or the error of the client's source. */
KI_NODISCARD int ki_source_open(const ki_client *client, const ki_resource *resource,
                                const ki_informer_options *options, ki_list_watch *out_list_watch,
                                ki_error *err);

#endif
