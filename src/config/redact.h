/* SPDX-License-Identifier: Apache-2.0 */
/* redact - masks secrets in header lines for traces, and in addresses for messages.
 *
 *   From:     http/, for trace output; config/validate.c, config/proxy.c
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

/* Writes the part of an invalid address that a message may show into `out_bytes` > 3. Everything before an
 * '@' is masked, and so is the text after a colon or '%', unless it has only hex digits, ':', '.' and ']' (a
 * port, an IPv6 address). A host with a part longer than DNS allows is masked: it may be a token. A path or a
 * query is shown as "/…". Returns the length. */
size_t ki_redact_invalid_url(char *out, size_t out_bytes, ki_str url);

#endif
