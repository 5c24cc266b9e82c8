/* SPDX-License-Identifier: Apache-2.0 */
/* field_text - the set of all fields of a new object, written as text at once: what
 * apiserver/patch/field_set.h makes of it as a tree.
 *
 *   From:     apiserver/verbs/managed.c, for objects that nobody has managed before
 *   To:       metadata.managedFields of the stored text
 *   Locks:    none
 *   Not here: sets that are compared, added or taken away (apiserver/patch/field_set.h)
 *
 * Most objects are made once and never changed: a tree of their fields would cost as much as all else
 * together.
 */
#ifndef KI_APISERVER_PATCH_FIELD_TEXT_H
#define KI_APISERVER_PATCH_FIELD_TEXT_H

#include "apiserver/kind/schema.h"
#include "util/buf.h"

/* Appends {"f:metadata":{…},…}, "{}" when there is nothing that could belong to somebody. 0,
 * KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE; then `out` has a part of it. */
KI_NODISCARD int ki_as_field_text(struct ki_as_shape shape, const json_t *tree, ki_buf *out);

#endif
