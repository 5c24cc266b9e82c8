/* SPDX-License-Identifier: Apache-2.0 */
/* redact - lines of a request or an answer as a trace may show them.
 *
 *   From:     http/, for trace output
 *   Locks:    none; plain functions.
 *   Not here: bodies, which no trace shows.
 */
#ifndef KI_CONFIG_REDACT_H
#define KI_CONFIG_REDACT_H

#include <kinformer/common.h>

/* Copies a header line ("Authorization: Bearer abc"), or a request line, into `out_bytes` > 0, as
 * ki_one_line() does. Of a header that may have a secret only name and scheme are left: "Authorization:
 * Bearer <masked>"; of a Location no user and no query. Line ends are left out. Returns the length. */
size_t ki_redact_header(char *out, size_t out_bytes, ki_str line);

/* An address without the user and password in it: "http://<masked>@proxy:3128". Returns the length. */
size_t ki_redact_url(char *out, size_t out_bytes, ki_str url);

#endif
