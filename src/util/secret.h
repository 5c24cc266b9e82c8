/* SPDX-License-Identifier: Apache-2.0 */
/* secret - text that is wiped before its memory is given back.
 *
 *   From:     config/, for everything that a kubeconfig, a file or a plug-in says
 *   To:       util/alloc.h
 *   Locks:    none; one owner.
 *   Not here: keeping text out of a core dump while it is used.
 */
#ifndef KI_UTIL_SECRET_H
#define KI_UTIL_SECRET_H

#include <kinformer/common.h>

/* A copy with a NUL behind it, or NULL when memory is out. A NUL inside the text is copied too. */
KI_NODISCARD char *ki_secret_copy(ki_str text);

/* Wipes up to the first NUL, then frees. NULL is allowed. */
void ki_secret_free(char *text);

/* Wipes `bytes` of the memory, then frees. NULL is allowed. */
void ki_secret_free_bytes(void *memory, size_t bytes);

#endif
