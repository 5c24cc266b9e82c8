/* SPDX-License-Identifier: Apache-2.0 */
/* text - builds the JSON text of lists, events and responses from parts.
 *
 *   From:     apiserver/serve/ (objects, encoded once; Status and other trees),
 *             apiserver/verbs/strict.c, apiserver/request/
 *   To:       responses and streams
 *   Locks:    none
 *   Not here: what a response contains
 *
 * All functions return 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. After an error the text must not be used.
 */
#ifndef KI_APISERVER_OBJECT_TEXT_H
#define KI_APISERVER_OBJECT_TEXT_H

#include <kinformer/error.h>
#include <stdbool.h>

#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"
#include "util/buf.h"

KI_NODISCARD int ki_as_text_put(ki_buf *text, const char *word);
KI_NODISCARD int ki_as_text_number(ki_buf *text, uint64_t number);
/* Appends the tree as compactly as Kubernetes writes it. A NULL tree is KI_ERR_NO_MEMORY. Borrows the
 * tree. */
KI_NODISCARD int ki_as_text_tree(ki_buf *text, const json_t *tree);
/* Appends an item of a list. Items have no kind, except for custom resources. */
KI_NODISCARD int ki_as_text_item(ki_buf *text, const struct ki_as_resource *resource,
                                 const struct ki_as_object *object);
/* Appends {"kind":…,"apiVersion":…,…}, with `version` as the resourceVersion unless it is 0. */
KI_NODISCARD int ki_as_text_object(ki_buf *text, const struct ki_as_resource *resource,
                                   const struct ki_as_object *object, uint64_t version);
/* An upper bound of the bytes that ki_as_text_object() appends. */
size_t ki_as_text_object_bytes(const struct ki_as_resource *resource, const struct ki_as_object *object);

/* Appends `json`, which must be valid, indented by two spaces per level. */
KI_NODISCARD int ki_as_text_indent(ki_buf *text, ki_str json);
/* Appends the text compressed with gzip. */
KI_NODISCARD int ki_as_text_gzip(ki_buf *out, ki_str text);

#endif
