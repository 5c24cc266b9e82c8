/* SPDX-License-Identifier: Apache-2.0 */
/* object_build - makes a ki_object from what a sink has collected.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c   (io)
 *   To:       reflector/, and the user, through <kinformer/object.h>
 *   Locks:    none.
 *   Not here: scanning; JSON grammar; reading objects.
 */
#ifndef KI_API_OBJECT_OBJECT_BUILD_H
#define KI_API_OBJECT_OBJECT_BUILD_H

#include "api/object/object_plan.h"

/* Makes an object of the value that `sink` holds, which was scanned with the plan's projection. The sink's
 * text is changed. Returns 0 with a new reference; KI_ERR_METADATA, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_object_build(const ki_object_plan *plan, ki_json_sink *sink, ki_object **out_object,
                                 ki_error *err);

/* The same of a whole text. Returns also the errors of JSON. */
KI_NODISCARD int ki_object_build_text(const ki_object_plan *plan, ki_str json, ki_object **out_object,
                                      ki_error *err);

/* Writes "namespace/name" of a value that was refused, as far as it was scanned. Returns 0, KI_ERR_METADATA
 * when it cannot be read, or another error of memory. */
KI_NODISCARD int ki_object_read_key(const ki_json_sink *sink, ki_buf *out_key);

#endif
