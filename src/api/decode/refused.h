/* SPDX-License-Identifier: Apache-2.0 */
/* refused - an item or event that cannot be used although its end is known: the reason and the key.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c, proto/item.c
 *   To:       reflector/reflector_give.c, reflector/reflector_watch.c and reflector/reflector_stream.c: it is
 *             counted and reported, and the last good version of that key is left alone
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
