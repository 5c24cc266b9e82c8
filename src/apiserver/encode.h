/* SPDX-License-Identifier: Apache-2.0 */
/* encode - a JSON tree as compact text, quickly.
 *
 *   From:     object.c, and answers that are made of trees
 *   To:       a ki_buf
 *   Locks:    none
 *   Not here: indentation (jansson has it)
 *
 * Real numbers are written as shortly as they can be read back, and whole ones without a point, as Kubernetes does.
 */
#ifndef KI_APISERVER_ENCODE_H
#define KI_APISERVER_ENCODE_H

#include <jansson.h>

#include "util/buf.h"

/* Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE (of the buffer, or nested deeper than jansson itself reads). */
KI_NODISCARD int ki_as_encode(ki_buf *buf, const json_t *tree);
KI_NODISCARD int ki_as_encode_string(ki_buf *buf, ki_str text);

#endif
