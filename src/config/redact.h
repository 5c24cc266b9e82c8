/* SPDX-License-Identifier: Apache-2.0 */
/* redact - masks secrets in header lines for traces.
 *
 *   From:     http/, for trace output
 *   Locks:    none; plain functions.
 *   Not here: bodies, which are never traced.
 */
#ifndef KI_CONFIG_REDACT_H
#define KI_CONFIG_REDACT_H

#include <kinformer/common.h>

/* Copies a header line ("Authorization: Bearer abc"), or a request line, into `out_bytes` > 0, like
 * ki_one_line(). A header that may contain a secret keeps only name and scheme: "Authorization: Bearer
 * <masked>"; a Location loses user and query. Line ends are removed. Returns the length. */
size_t ki_redact_header(char *out, size_t out_bytes, ki_str line);

/* Removes user and password from an address: "http://<masked>@proxy:3128". Returns the length. */
size_t ki_redact_url(char *out, size_t out_bytes, ki_str url);

#endif
