/* SPDX-License-Identifier: Apache-2.0 */
/* continue_token - where the next page of a list begins, as text that only this server reads.
 *
 *   From:     lists
 *   To:       metadata.continue, ?continue=
 *   Locks:    none
 *   Not here: pages
 *
 * As Kubernetes writes them, base64url of {"v":"meta.k8s.io/v1","rv":…,"start":"ns/name\0"}: the first key
 * that may be on the next page is the one behind the last of this page.
 */
#ifndef KI_APISERVER_REQUEST_CONTINUE_TOKEN_H
#define KI_APISERVER_REQUEST_CONTINUE_TOKEN_H

#include <kinformer/error.h>

#include "apiserver/kind/failure.h"
#include "util/buf.h"

struct ki_as_continue {
    int64_t version; /* of the snapshot; -1: whatever there is now */
    char *after;     /* "ns/name"; freed with ki_free() */
};

/* Writes the token and a NUL behind it, which len counts not. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_continue_write(int64_t version, ki_str ns, ki_str name, ki_buf *out);

/* 400 for what is no token. */
KI_NODISCARD int ki_as_continue_read(ki_str token, struct ki_as_continue *out, struct ki_as_failure *failure);

#endif
