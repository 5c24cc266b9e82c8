/* SPDX-License-Identifier: Apache-2.0 */
/* object_draft - the texts of an object while they are written, and where in them things are.
 *
 *   From:     apiserver/object/object.c
 *   To:       apiserver/value/encode.h
 *   Locks:    none
 *   Not here: the object that is made of it
 */
#ifndef KI_APISERVER_OBJECT_OBJECT_DRAFT_H
#define KI_APISERVER_OBJECT_OBJECT_DRAFT_H

#include "apiserver/object/object.h"

/* Where something is in the block of texts. */
struct ki_as_span {
    size_t at;
    size_t len;
};

/* The block: the text with its '{' and a NUL, then what the text does not hold as it is: strings that are
 * escaped in it, values of fields, and labels if one of them is escaped. */
struct ki_as_draft {
    const struct ki_as_object_parts *parts;
    ki_buf *block;
    struct ki_as_span ns;
    struct ki_as_span name;
    struct ki_as_span uid;
    struct ki_as_span version;
    const json_t *labels;
    size_t labels_at;      /* behind the '{' of the labels */
    bool is_label_escaped; /* or no string at all: labels are copied then */
    bool is_deleting;
    bool has_finalizers;
    size_t text_len;
};

/* Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. The draft has its parts and an empty block. */
KI_NODISCARD int ki_as_draft_write(struct ki_as_draft *draft);

#endif
