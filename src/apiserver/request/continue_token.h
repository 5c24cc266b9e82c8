/* SPDX-License-Identifier: Apache-2.0 */
/* continue_token - the start of a list's next page, as an opaque token.
 *
 *   From:     apiserver/serve/handle_list.c
 *   To:       metadata.continue, ?continue=
 *   Locks:    none
 *   Not here: pages
 *
 * The format is that of Kubernetes: base64url of {"v":"meta.k8s.io/v1","rv":…,"start":"ns/name\0"}. The next
 * page starts at the first key after the last key of this page.
 */
#ifndef KI_APISERVER_REQUEST_CONTINUE_TOKEN_H
#define KI_APISERVER_REQUEST_CONTINUE_TOKEN_H

#include <kinformer/error.h>

#include "apiserver/kind/failure.h"
#include "util/buf.h"

struct ki_as_continue {
    int64_t version; /* of the snapshot; -1 for the current version */
    char *after;     /* "ns/name"; free with ki_free() */
};

/* Writes the token, followed by a NUL that `out->len` does not include. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_continue_write(int64_t version, ki_str ns, ki_str name, ki_buf *out);

/* Fails with 400 if the text is not a token. */
KI_NODISCARD int ki_as_continue_read(ki_str token, struct ki_as_continue *out, struct ki_as_failure *failure);

#endif
