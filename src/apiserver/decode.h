/* SPDX-License-Identifier: Apache-2.0 */
/* decode - JSON text as a tree, faster than jansson reads it.
 *
 *   From:     bodies of requests, ki_apiserver_put(), object.c
 *   To:       jansson trees
 *   Locks:    none
 *   Not here: what is wrong with a text: jansson says that
 *
 * What most texts are made of is read here in one go; at anything else (numbers with a point, surrogates,
 * mistakes) this one gives up, and jansson reads the text from its start. So both always agree.
 */
#ifndef KI_APISERVER_DECODE_H
#define KI_APISERVER_DECODE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

/* As json_loadb() without flags: an object or an array, or NULL with `error` (may be NULL) written. */
KI_NODISCARD json_t *ki_as_decode(ki_str text, json_error_t *error);

/* The same for what comes from outside: less deep, because managedFields have some levels around those of an
 * object, and what is stored must be read again. `out_has_duplicates` (may be NULL): some key stands twice,
 * of which the last counts. `error` is not NULL. */
enum { KI_AS_LEVELS_MAX = 2000 };
KI_NODISCARD json_t *ki_as_decode_body(ki_str text, bool *out_has_duplicates, json_error_t *error);

#endif
