/* SPDX-License-Identifier: Apache-2.0 */
/* field_text - writes the field set of a new object directly as text; the result equals that of
 * apiserver/patch/field_set.h.
 *
 *   From:     apiserver/verbs/managed.c, for objects without managers
 *   To:       metadata.managedFields of the stored text
 *   Locks:    none
 *   Not here: comparing, adding and subtracting sets (apiserver/patch/field_set.h)
 *
 * Most objects are created and never changed. Building a tree of their fields would cost as much as the
 * rest of the request.
 */
#ifndef KI_APISERVER_PATCH_FIELD_TEXT_H
#define KI_APISERVER_PATCH_FIELD_TEXT_H

#include "apiserver/kind/schema.h"
#include "util/buf.h"

/* Appends {"f:metadata":{…},…}, or "{}" if there is no field that can have an owner. Returns 0,
 * KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE; after an error `out` contains a part of the text. */
KI_NODISCARD int ki_as_field_text(struct ki_as_shape shape, const json_t *tree, ki_buf *out);

#endif
