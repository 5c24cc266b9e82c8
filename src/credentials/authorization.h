/* SPDX-License-Identifier: Apache-2.0 */
/* authorization - the Authorization header: its current value, former values, and the next one.
 *
 *   From:     credentials/credentials.c
 *   Locks:    none; io only, except ki_authorization_give().
 *   Not here: where tokens come from, and when they are read.
 */
#ifndef KI_CREDENTIALS_AUTHORIZATION_H
#define KI_CREDENTIALS_AUTHORIZATION_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* How many replaced values are remembered, for masking: a response or a plug-in may still mention them. */
#define KI_AUTHORIZATION_FORMER_MAX 64

/* A zeroed struct is empty. */
typedef struct ki_authorization {
    char *value;                               /* "Bearer abc"; NULL if none */
    char *former[KI_AUTHORIZATION_FORMER_MAX]; /* a ring */
    size_t former_count;                       /* how many values were ever replaced */
    _Atomic(char *) coming;                    /* the next value, not in use yet; NULL if none */
} ki_authorization;

void ki_authorization_fini(ki_authorization *authorization);

/* Takes the value and uses it from now on; NULL: no header is sent. */
void ki_authorization_set(ki_authorization *authorization, char *value);

/* Returns 1 if the value has changed, 0 if not; KI_ERR_INVALID for a token that is not valid in a header;
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_authorization_set_bearer(ki_authorization *authorization, const char *token);

/* Returns 0 or KI_ERR_NO_MEMORY. NULL counts as "". */
KI_NODISCARD int ki_authorization_set_basic(ki_authorization *authorization, const char *name,
                                            const char *password);

/* Any thread: stores the next token, replacing one that was not taken yet. Returns 0, KI_ERR_INVALID or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_authorization_give(ki_authorization *authorization, const char *token);

/* Returns the value stored since the last call, for ki_authorization_set() or ki_secret_free(); NULL if there
 * is none. */
KI_NODISCARD char *ki_authorization_take(ki_authorization *authorization);

/* Masks the current and the former values. Returns the new length. */
size_t ki_authorization_hide(const ki_authorization *authorization, char *text, size_t len);

#endif
