/* SPDX-License-Identifier: Apache-2.0 */
/* refused - an item or event that cannot be used although its end is known: the reason and the key.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c
 *   To:       reflector/reflector.c, which counts it, reports it, and leaves the last good version of that
 *             key alone
 */
#ifndef KI_API_DECODE_REFUSED_H
#define KI_API_DECODE_REFUSED_H

#include <kinformer/error.h>

#include "util/buf.h"

#define KI_REFUSED_KEY_BYTES_MAX (128 * 1024)

typedef struct ki_refused {
    ki_error error;
    ki_buf key; /* "namespace/name"; empty if it cannot be read */
} ki_refused;

#endif
