/* SPDX-License-Identifier: Apache-2.0 */
/* authorization - the header that says who we are: its value, those that were before, one that is to come.
 *
 *   From:     config/credentials.c
 *   Locks:    none; io's, but for ki_authorization_give().
 *   Not here: where tokens come from, and when.
 */
#ifndef KI_CONFIG_AUTHORIZATION_H
#define KI_CONFIG_AUTHORIZATION_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* So many of those that were replaced are remembered: an answer, or a plug-in, may still speak of them. */
#define KI_AUTHORIZATION_FORMER_MAX 64

/* A zeroed one is empty. */
typedef struct ki_authorization {
    char *value;                               /* "Bearer abc"; NULL: none */
    char *former[KI_AUTHORIZATION_FORMER_MAX]; /* a ring */
    size_t former_count;                       /* that there ever were */
    _Atomic(char *) coming;                    /* given and not in use yet; NULL: none */
} ki_authorization;

void ki_authorization_fini(ki_authorization *authorization);

/* Takes the value; NULL: none from now on. */
void ki_authorization_set(ki_authorization *authorization, char *value);

/* Returns 1 when it is another than before, 0 when it is the same; KI_ERR_INVALID for a token that no header
 * can have; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_authorization_set_bearer(ki_authorization *authorization, const char *token);

/* Returns 0 or KI_ERR_NO_MEMORY. NULL counts as "". */
KI_NODISCARD int ki_authorization_set_basic(ki_authorization *authorization, const char *name,
                                            const char *password);

/* Any thread: lays a token ready, in the place of one that was not taken yet. Returns 0, KI_ERR_INVALID or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_authorization_give(ki_authorization *authorization, const char *token);

/* What was given since the last time, for ki_authorization_set() or ki_secret_free(); NULL: nothing. */
KI_NODISCARD char *ki_authorization_take(ki_authorization *authorization);

/* Masks the value and the former ones. Returns the new length. */
size_t ki_authorization_hide(const ki_authorization *authorization, char *text, size_t len);

#endif
