/* SPDX-License-Identifier: Apache-2.0 */
/* convert_parts - the kinds that are kept in another form than some version shows, one file each.
 *
 *   From:     convert.c
 *   To:       trees
 *   Locks:    none
 *   Not here: which resource is kept as which
 *
 * `show` makes of a tree as it is kept one as the other form has it, `keep` the other way round. Both change
 * the tree in place and return 0 or KI_ERR_NO_MEMORY.
 */
#ifndef KI_APISERVER_CONVERT_PARTS_H
#define KI_APISERVER_CONVERT_PARTS_H

#include "apiserver/resource.h"

/* events.k8s.io has other names for the fields of v1. */
KI_NODISCARD int ki_as_event_show(json_t *tree);
KI_NODISCARD int ki_as_event_keep(json_t *tree);

/* autoscaling/v1 knows one metric; what else v2 says stands in annotations there. */
extern const struct ki_as_resource ki_as_autoscaler_kept;
KI_NODISCARD int ki_as_autoscaler_show(json_t *tree);
KI_NODISCARD int ki_as_autoscaler_keep(json_t *tree);
/* Takes those annotations away from an object that has no need of them. */
void ki_as_autoscaler_tidy(json_t *tree);

#endif
