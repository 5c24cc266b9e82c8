/* SPDX-License-Identifier: Apache-2.0 */
/* read - iterates over a container, and distinguishes errors from its end.
 *
 *   From:     json/equal.c, json/names.c; public as ki_json_iterate() and ki_json_next()
 *   To:       json/skip.c
 *   Locks:    none; an iterator belongs to one caller.
 *   Not here: validation of skipped values.
 */
#ifndef KI_JSON_READ_H
#define KI_JSON_READ_H

#include <kinformer/json.h>

/* Like ki_json_next(), but returns KI_ERR_JSON_SYNTAX if the text is invalid before the end of the
 * container. Returns 1 with both outputs set, or 0 at the end. The iterator is empty after 0 or an
 * error. */
KI_NODISCARD int ki_json_iter_step(ki_json_iter *iter, ki_json *out_name, ki_json *out_value);

/* The two halves of ki_json_iter_step(), for callers that do not know where the container ends; iter->limit
 * may be after its end. ki_json_iter_to_value() returns 1 at the first byte of the next value, or 0 after
 * the bracket that closes the container. The caller then takes the value, or sets iter->at past it. */
KI_NODISCARD int ki_json_iter_to_value(ki_json_iter *iter, ki_json *out_name);
KI_NODISCARD int ki_json_iter_take(ki_json_iter *iter, ki_json *out_value);

/* The bytes between the quotes of a name returned by ki_json_iter_step(). */
static inline ki_str ki_json_inside(ki_json string)
{
    return (ki_str){string.raw.ptr + 1, string.raw.len - 2};
}

#endif
