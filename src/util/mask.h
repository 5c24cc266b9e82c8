/* SPDX-License-Identifier: Apache-2.0 */
/* mask - takes our own secrets out of what others say: a server may send back what it was sent.
 *
 *   From:     config/credentials.c, which knows them
 *   To:       reflector/answer.c, api/decode/status.c, rest/rest_reader.c, before a text becomes an error
 *   Locks:    none; io's, as credentials are.
 *   Not here: lines of a head that a trace shows (config/redact.h).
 */
#ifndef KI_UTIL_MASK_H
#define KI_UTIL_MASK_H

#include <kinformer/error.h>

/* What is shorter may be any word. */
#define KI_MASK_SECRET_BYTES_MIN 6

/* Zeroed: there is no secret. */
typedef struct ki_mask {
    /* Changes the text in place. Returns its length, which never grows. */
    size_t (*hide)(char *text, size_t len, const void *user);
    const void *user; /* borrowed */
} ki_mask;

/* Puts a mark in the place of `secret` wherever it stands in the text, and of its beginning where the text
 * was cut: at its end or before "…". The same for the secret in base64, of either alphabet, alone or with
 * other bytes around it ("Basic" has a user before it). Needs no memory. Returns the new length. */
size_t ki_mask_secret(char *text, size_t len, const char *secret);

/* The message of an error. */
void ki_mask_error(const ki_mask *mask, ki_error *err);

/* A text that stands in `memory`. */
void ki_mask_text(const ki_mask *mask, char *memory, ki_str *text);

#endif
