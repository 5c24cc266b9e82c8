/* SPDX-License-Identifier: Apache-2.0 */
/* url - splits addresses from kubeconfigs and proxy variables.
 *
 *   From:     config/validate.c, config/proxy.c, http/
 *   Locks:    none; plain functions.
 *   Not here: paths of requests; relative references.
 */
#ifndef KI_CONFIG_URL_H
#define KI_CONFIG_URL_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

/* The parts of an address, borrowed from the text. */
typedef struct ki_url {
    ki_str scheme;
    ki_str user; /* with the password, without the '@'; NULL pointer if there is no '@' */
    ki_str host; /* an IPv6 address without its brackets */
    ki_str port; /* empty if not given */
    ki_str path; /* with its slash, query and fragment */
} ki_url;

/* Splits "scheme://[user@]host[:port][/path]", which must consist of visible ASCII characters. Returns 0 or
 * KI_ERR_INVALID. */
KI_NODISCARD int ki_url_split(ki_str text, ki_url *out_url);

/* The same, but libcurl must accept the address, too: it is stricter about hosts, and its messages quote what
 * it rejects. A host must not contain an escape, whose meaning would change each time it is decoded. Returns
 * 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_url_check(const char *text, ki_url *out_url);

/* Whether the text is a DNS name, or an IPv4 or IPv6 address, optionally in brackets. */
bool ki_url_is_host(const char *text);

/* Decodes escapes such as "%41". Returns 0 with a text for ki_secret_free(); KI_ERR_INVALID if a '%' is not
 * followed by two digits, or if the result contains a control character; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_url_decode(ki_str text, char **out_text);

/* Encodes all characters except letters and digits as "%41"; for ki_secret_free(). NULL when out of
 * memory. */
KI_NODISCARD char *ki_url_encode(const char *text);

#endif
