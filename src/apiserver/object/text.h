/* SPDX-License-Identifier: Apache-2.0 */
/* text - JSON text put together from parts: what lists, events and answers are made of.
 *
 *   From:     object (encoded once), Status and other trees
 *   To:       answers and streams
 *   Locks:    none
 *   Not here: deciding what is in it
 *
 * All functions return 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE; then the text is not to be used.
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
/* As compact as Kubernetes writes it. A NULL tree is KI_ERR_NO_MEMORY. Takes nothing over. */
KI_NODISCARD int ki_as_text_tree(ki_buf *text, const json_t *tree);
/* As an item of a list, which has no kind, unless it is a custom one. */
KI_NODISCARD int ki_as_text_item(ki_buf *text, const struct ki_as_resource *resource,
                                 const struct ki_as_object *object);
/* {"kind":…,"apiVersion":…,…}, with `version` in place of its own, unless that is 0. */
KI_NODISCARD int ki_as_text_object(ki_buf *text, const struct ki_as_resource *resource,
                                   const struct ki_as_object *object, uint64_t version);
/* The most that ki_as_text_object() writes. */
size_t ki_as_text_object_bytes(const struct ki_as_resource *resource, const struct ki_as_object *object);

/* The same with two spaces of indentation a level. `json` is valid. */
KI_NODISCARD int ki_as_text_indent(ki_buf *text, ki_str json);
/* Compressed with gzip. */
KI_NODISCARD int ki_as_text_gzip(ki_buf *out, ki_str text);

#endif
