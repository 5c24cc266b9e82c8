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

/* Borrowed from the text. */
typedef struct ki_url {
    ki_str scheme;
    ki_str user; /* with the password, without the '@' */
    ki_str host; /* an IPv6 address without its brackets */
    ki_str port; /* empty: not said */
    ki_str path; /* with its slash; query and fragment too */
} ki_url;

/* "scheme://[user@]host[:port][/path]", of visible ASCII characters. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int ki_url_split(ki_str text, ki_url *out_url);

#endif
