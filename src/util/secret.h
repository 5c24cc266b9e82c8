/* SPDX-License-Identifier: Apache-2.0 */
/* secret - text that is wiped before its memory is freed.
 *
 *   From:     config/, for all content of kubeconfigs, files and plug-in output
 *   To:       util/alloc.h
 *   Locks:    none; one owner.
 *   Not here: keeping text out of core dumps while it is in use.
 */
#ifndef KI_UTIL_SECRET_H
#define KI_UTIL_SECRET_H

#include <kinformer/common.h>

/* Wipes up to the first NUL, then frees. NULL is allowed. */
void ki_secret_free(char *text);

/* Wipes `bytes` of the memory, then frees. NULL is allowed. */
void ki_secret_free_bytes(void *memory, size_t bytes);

#endif
