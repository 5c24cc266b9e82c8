/* SPDX-License-Identifier: Apache-2.0 */
/* object_build - creates a ki_object from the content of a sink.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c, proto/item.c   (io); rest/rest_reader.c
 *   To:       reflector/, and the user, through <kinformer/object.h>
 *   Locks:    none.
 *   Not here: the grammar of JSON (json/scan.h); reading objects.
 */
#ifndef KI_API_OBJECT_OBJECT_BUILD_H
#define KI_API_OBJECT_OBJECT_BUILD_H

#include "api/object/object_plan.h"

/* Creates an object from the value in `sink`, which was scanned with the plan's projection. The sink's
 * text is changed. Returns 0 with a new reference; KI_ERR_METADATA, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_object_build(const ki_object_plan *plan, ki_json_sink *sink, ki_object **out_object,
                                 ki_error *err);

/* Like ki_object_build(), for a whole JSON text. Also returns JSON errors. */
KI_NODISCARD int ki_object_build_text(const ki_object_plan *plan, ki_str json, ki_object **out_object,
                                      ki_error *err);

/* Writes the "namespace/name" of a refused value, if the scan got that far. Returns 0; KI_ERR_METADATA if
 * it cannot be read; KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_object_read_key(const ki_json_sink *sink, ki_buf *out_key);

#endif
