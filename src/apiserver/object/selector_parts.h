/* SPDX-License-Identifier: Apache-2.0 */
/* selector_parts - requirements, built by the two parsers and read by the matcher.
 *
 *   From:     apiserver/object/selector_labels.c, apiserver/object/selector_fields.c
 *   To:       apiserver/object/selector.c
 *   Locks:    none
 *   Not here: the syntax
 */
#ifndef KI_APISERVER_OBJECT_SELECTOR_PARTS_H
#define KI_APISERVER_OBJECT_SELECTOR_PARTS_H

#include "apiserver/object/selector.h"

enum ki_as_operator { KI_AS_IN, KI_AS_NOT_IN, KI_AS_EXISTS, KI_AS_NOT_EXISTS, KI_AS_GREATER, KI_AS_LESS };

/* Texts point into the selector's copies, or are static. */
struct ki_as_requirement {
    ki_str key;
    enum ki_as_operator op;
    ki_str *values; /* sorted and unique */
    size_t value_count;
    int64_t number; /* for KI_AS_GREATER and KI_AS_LESS */
};

struct ki_as_requirements {
    struct ki_as_requirement *items;
    size_t count;
    size_t capacity;
};

struct ki_as_selector {
    char *label_text; /* copies, to which the requirements point; field values are unescaped in place */
    char *field_text;
    struct ki_as_requirements labels;
    struct ki_as_requirements fields;
};

/* Appends an empty requirement. NULL if out of memory. */
struct ki_as_requirement *ki_as_requirements_add(struct ki_as_requirements *requirements);
KI_NODISCARD int ki_as_requirement_add_value(struct ki_as_requirement *requirement, ki_str value);

/* Parses an integer as Go does: a sign, digits, nothing else, 64 bits. */
bool ki_as_parse_integer(ki_str text, int64_t *out);

KI_NODISCARD int ki_as_parse_labels(ki_str text, struct ki_as_requirements *out,
                                    struct ki_as_failure *failure);
KI_NODISCARD int ki_as_parse_fields(char *text, size_t len, const struct ki_as_resource *resource,
                                    struct ki_as_requirements *out, struct ki_as_failure *failure);

#endif
