/* SPDX-License-Identifier: Apache-2.0 */
/* read - stepping through a container, with errors told apart from its end.
 *
 *   From:     json/pointer.c, json/equal.c; public as ki_json_iterate() and ki_json_next()
 *   To:       json/skip.c
 *   Locks:    none; an iterator belongs to one caller.
 *   Not here: validation of what is stepped over.
 */
#ifndef KI_JSON_READ_H
#define KI_JSON_READ_H

#include <kinformer/json.h>

/* As ki_json_next, but text that stops making sense before the container's own end is KI_ERR_JSON_SYNTAX.
 * Returns 1 with both outputs set, 0 at the end, or the error; the iterator is over nothing then. */
KI_NODISCARD int ki_json_iter_step(ki_json_iter *iter, ki_json *out_name, ki_json *out_value);

/* The same in two halves, for callers that go into a container without measuring it first; iter->end may lie
 * behind the container then. ki_json_iter_to_value() stops at the first byte of the next value: 1; or behind
 * the bracket that closes the container: 0. The caller takes the value, or sets iter->at behind it. */
KI_NODISCARD int ki_json_iter_to_value(ki_json_iter *iter, ki_json *out_name);
KI_NODISCARD int ki_json_iter_take(ki_json_iter *iter, ki_json *out_value);

/* The bytes between the quotes of a name that ki_json_iter_step() gave out. */
static inline ki_str ki_json_inside(ki_json string)
{
    return (ki_str){string.raw.ptr + 1, string.raw.len - 2};
}

#endif
