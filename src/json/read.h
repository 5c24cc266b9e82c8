/* SPDX-License-Identifier: Apache-2.0 */
/* read - iterates over a container, and distinguishes errors from its end.
 *
 *   From:     json/pointer.c, json/equal.c; public as ki_json_iterate() and ki_json_next()
 *   To:       json/skip.c
 *   Locks:    none; an iterator belongs to one caller.
 *   Not here: validation of skipped values.
 */
#ifndef KI_JSON_READ_H
#define KI_JSON_READ_H

#include <kinformer/json.h>

/* Like ki_json_next, but invalid text before the end of the container is KI_ERR_JSON_SYNTAX. Returns 1
 * with both outputs set, 0 at the end, or the error; the iterator is empty then. */
KI_NODISCARD int ki_json_iter_step(ki_json_iter *iter, ki_json *out_name, ki_json *out_value);

/* The same in two halves, for callers that enter a container without measuring it first; iter->end may
 * then be after the container. ki_json_iter_to_value() stops at the first byte of the next value: 1; or
 * after the bracket that closes the container: 0. The caller takes the value, or sets iter->at past it. */
KI_NODISCARD int ki_json_iter_to_value(ki_json_iter *iter, ki_json *out_name);
KI_NODISCARD int ki_json_iter_take(ki_json_iter *iter, ki_json *out_value);

/* The bytes between the quotes of a name returned by ki_json_iter_step(). */
static inline ki_str ki_json_inside(ki_json string)
{
    return (ki_str){string.raw.ptr + 1, string.raw.len - 2};
}

#endif
