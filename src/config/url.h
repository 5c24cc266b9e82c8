/* SPDX-License-Identifier: Apache-2.0 */
/* url - the parts of an address as kubeconfigs and proxy variables have them.
 *
 *   From:     config/validate.c, config/proxy.c
 *   Locks:    none; plain functions.
 *   Not here: paths of requests; relative references.
 */
#ifndef KI_CONFIG_URL_H
#define KI_CONFIG_URL_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

/* Borrowed from the text. */
typedef struct ki_url {
    ki_str scheme;
    ki_str user; /* with the password, without the '@'; no pointer: there is no '@' either */
    ki_str host; /* an IPv6 address without its brackets */
    ki_str port; /* empty: not said */
    ki_str path; /* with its slash; query and fragment too */
} ki_url;

/* "scheme://[user@]host[:port][/path]", of visible ASCII characters. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int ki_url_split(ki_str text, ki_url *out_url);

/* The same, and libcurl takes it for an address, too: it is stricter with hosts, and repeats in its messages
 * what it refuses. A host must not have an escape, which would mean another one each time that it is read.
 * Returns 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_url_check(const char *text, ki_url *out_url);

/* A name of the DNS, or an address of IPv4 or IPv6, which may have its brackets. */
bool ki_url_is_host(const char *text);

/* Takes "%41" for what it stands for. Returns 0 with a text for ki_secret_free(); KI_ERR_INVALID when a '%'
 * is followed by something else, or a control character comes out; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_url_decode(ki_str text, char **out_text);

/* Writes all that is no letter or digit as "%41"; for ki_secret_free(). NULL without memory. */
KI_NODISCARD char *ki_url_encode(const char *text);

#endif
