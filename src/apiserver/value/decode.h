/* SPDX-License-Identifier: Apache-2.0 */
/* decode - parses JSON text into a jansson tree.
 *
 *   From:     apiserver/serve/handle.c, apiserver/serve/direct.c, apiserver/object/object.c,
 *             apiserver/patch/, apiserver/serve/handle_debug.c; apiserver/serve/render.c and
 *             apiserver/serve/stream.c (a text that is sent as protobuf)
 *   To:       jansson
 *   Locks:    none
 *   Not here: YAML (apiserver/value/load.h) and protobuf (apiserver/kind/proto.h).
 */
#ifndef KI_APISERVER_VALUE_DECODE_H
#define KI_APISERVER_VALUE_DECODE_H

#include <jansson.h>
#include <kinformer/common.h>

/* Returns an object or an array, or NULL with `error` (may be NULL) set. The last of several equal keys
 * wins. */
KI_NODISCARD json_t *ki_as_decode(ki_str text, json_error_t *error);

/* Like ki_as_decode(), for text from clients. The depth limit is lower, because the managedFields of an
 * object are nested a few levels deeper than the object, and ki_as_decode() must be able to read the stored
 * text. `error` must not be NULL. */
enum { KI_AS_LEVELS_MAX = 2000 };
KI_NODISCARD json_t *ki_as_decode_body(ki_str text, json_error_t *error);

#endif
