/* SPDX-License-Identifier: Apache-2.0 */
/* alt_name - requires a subject alternative name in a server's certificate, like Go; libcurl would fall back
 * to the common name.
 *
 *   From:     http/tls_context.c
 *   To:       OpenSSL's verification; http/curl_reason.c recognises its error
 *   Locks:    none; io only.
 *   Not here: comparing the name, which libcurl does.
 */
#ifndef KI_HTTP_ALT_NAME_H
#define KI_HTTP_ALT_NAME_H

/* For a context of our OpenSSL (http/tls_context.h) that verifies its server. Proxies are not affected:
 * libcurl checks their certificates. */
void ki_alt_name_require(void *context);

/* Part of the message of a handshake that fails because the certificate has no such name. */
#define KI_ALT_NAME_MESSAGE "application verification failure"

#endif
