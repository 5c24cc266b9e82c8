/* SPDX-License-Identifier: Apache-2.0 */
/* base64 - the standard alphabet of RFC 4648 with its padding.
 *
 *   From:     all code that decodes or encodes base64: config/ (data in a kubeconfig), credentials/,
 *             proto/, apiserver/
 *   Locks:    none; plain functions.
 *   Not here: the URL-safe alphabet; streams.
 */
#ifndef KI_UTIL_TEXT_BASE64_H
#define KI_UTIL_TEXT_BASE64_H

#include <kinformer/common.h>

/* The maximum number of bytes that `len` characters decode to, and the exact number of characters that
 * `len` bytes encode to. */
#define KI_BASE64_DECODED_BYTES(len) ((len) / 4 * 3 + 3)
#define KI_BASE64_ENCODED_BYTES(len) (((len) + 2) / 3 * 4)

/* Line ends are ignored. Padding is required, and unused bits must be zero. `out` has space for
 * KI_BASE64_DECODED_BYTES. Returns 0, or KI_ERR_INVALID; `out` is unspecified then. */
KI_NODISCARD int ki_base64_decode(ki_str text, char *out, size_t *out_len);

/* `out` has space for KI_BASE64_ENCODED_BYTES; no NUL is added. Returns the length. */
size_t ki_base64_encode(ki_str bytes, char *out);

#endif
