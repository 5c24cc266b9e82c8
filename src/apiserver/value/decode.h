/* SPDX-License-Identifier: Apache-2.0 */
/* decode - JSON text as a jansson tree.
 *
 *   From:     apiserver/serve/handle.c, apiserver/serve/direct.c, apiserver/object/object.c
 *   To:       jansson
 *   Locks:    none
 *   Not here: YAML (apiserver/value/load.h) and protobuf (apiserver/kind/proto.h).
 */
#ifndef KI_APISERVER_VALUE_DECODE_H
#define KI_APISERVER_VALUE_DECODE_H

#include <jansson.h>
#include <kinformer/common.h>

/* An object or an array; NULL with `error` (may be NULL) written. Of a key that stands twice the last one
 * counts. */
KI_NODISCARD json_t *ki_as_decode(ki_str text, json_error_t *error);

/* The same for what comes from outside: less deep, because managedFields have some levels around those of an
 * object, and what is stored must be read again. `error` is not NULL. */
enum { KI_AS_LEVELS_MAX = 2000 };
KI_NODISCARD json_t *ki_as_decode_body(ki_str text, json_error_t *error);

#endif
