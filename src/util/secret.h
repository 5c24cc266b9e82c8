/* SPDX-License-Identifier: Apache-2.0 */
/* secret - text that is wiped before its memory is freed.
 *
 *   From:     all code that holds secrets: config/, credentials/, http/, util/yaml/, apiserver/serve/
 *   To:       util/alloc.h
 *   Locks:    none; one owner.
 *   Not here: keeping text out of core dumps while it is in use.
 */
#ifndef KI_UTIL_SECRET_H
#define KI_UTIL_SECRET_H

#include <kinformer/common.h>

/* Wipes the text up to its first NUL, then frees it. NULL is allowed. */
void ki_secret_free(char *text);

/* The same for each text of a list that ends with NULL; then frees the list. NULL is allowed. */
void ki_secret_free_list(char **texts);

/* Wipes `bytes` bytes of the memory, then frees it. NULL is allowed. */
void ki_secret_free_bytes(void *memory, size_t bytes);

#endif
