/* SPDX-License-Identifier: Apache-2.0 */
/* object_draft - writes the texts of an object, and records the positions of their parts.
 *
 *   From:     apiserver/object/object.c
 *   To:       apiserver/value/encode.h
 *   Locks:    none
 *   Not here: the object built from them
 */
#ifndef KI_APISERVER_OBJECT_OBJECT_DRAFT_H
#define KI_APISERVER_OBJECT_OBJECT_DRAFT_H

#include "apiserver/object/object.h"

/* A position in the block of texts. */
struct ki_as_span {
    size_t at;
    size_t len;
};

/* The block contains the text with its '{' and a NUL, then copies: strings that are escaped in the text, the
 * values of fields, and all labels if one of them is escaped. */
struct ki_as_draft {
    const struct ki_as_object_parts *parts;
    ki_buf *block;
    struct ki_as_span ns;
    struct ki_as_span name;
    struct ki_as_span uid;
    struct ki_as_span version;
    const json_t *labels;
    size_t labels_at;      /* after the '{' of the labels */
    bool is_label_escaped; /* or one is not a string; then all labels are copied */
    bool is_deleting;
    bool has_finalizers;
    size_t text_len;
};

/* `parts` and an empty `block` must be set. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_as_draft_write(struct ki_as_draft *draft);

#endif
