/* SPDX-License-Identifier: Apache-2.0 */
/* selector_layout - the memory layout of a label selector: one allocation.
 *
 *   header | requirements | values | the text, into which keys and values point
 *
 *   From:     api/selector/selector_parse.c writes it
 *   To:       api/selector/selector.c matches and formats it
 *   Locks:    none; immutable.
 *   Not here: equivalent operators: "=" and "==" are IN with one value, "!=" is NOT_IN.
 */
#ifndef KI_API_SELECTOR_SELECTOR_LAYOUT_H
#define KI_API_SELECTOR_SELECTOR_LAYOUT_H

#include <kinformer/selector.h>

/* Requirements with the same key are sorted in this order. */
typedef enum ki_selector_op {
    KI_SELECTOR_IN = 0,
    KI_SELECTOR_NOT_IN,
    KI_SELECTOR_EXISTS,
    KI_SELECTOR_NOT_EXISTS,
    KI_SELECTOR_GREATER,
    KI_SELECTOR_LESS,
} ki_selector_op;

typedef struct ki_requirement {
    ki_str key;
    ki_selector_op op;
    int64_t bound;        /* for GREATER and LESS */
    const ki_str *values; /* for IN and NOT_IN: sorted, without duplicates, at least one */
    size_t value_count;
} ki_requirement;

/* Requirements are sorted by key, operator and the rest, without duplicates. */
struct ki_selector {
    const ki_requirement *requirements;
    size_t count;
};

#endif
