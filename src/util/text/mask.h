/* SPDX-License-Identifier: Apache-2.0 */
/* mask - removes our own secrets from received text: a server may echo what it was sent.
 *
 *   From:     credentials/credentials.c, which holds the secrets; api/decode/, http/, reflector/, which hide
 *             them in messages; also credentials/authorization.c, credentials/exec_mask.c, rest/rest_reader.c
 *   To:       reflector/answer.c, api/decode/status.c, rest/rest_reader.c, before a text is put into an error
 *   Locks:    none; io only, like the credentials.
 *   Not here: header lines in a trace (config/redact.h).
 */
#ifndef KI_UTIL_TEXT_MASK_H
#define KI_UTIL_TEXT_MASK_H

#include <kinformer/error.h>

/* Shorter secrets are not masked, because they may be common words. */
#define KI_MASK_SECRET_BYTES_MIN 6

/* A zeroed struct masks nothing. */
typedef struct ki_mask {
    /* Changes the text in place. Returns its length, which never grows. */
    size_t (*hide)(char *text, size_t len, const void *user);
    const void *user; /* borrowed */
} ki_mask;

/* Replaces `secret` by a marker everywhere in the text. Also replaces a prefix of it where the text was
 * cut: at its end or before "…". Also finds the secret in base64, in either alphabet, alone or with other
 * bytes around it ("Basic" puts a user in front of it). Characters may be escaped as in a URL ("%2F"), in
 * JSON ("\/", "\u002f") or in a log ("\x2f"), but not twice. Allocates nothing. Returns the new length. */
size_t ki_mask_secret(char *text, size_t len, const char *secret);

/* Masks the message of an error. */
void ki_mask_error(const ki_mask *mask, ki_error *err);

/* Masks a text that is part of `memory`, in place. */
void ki_mask_text(const ki_mask *mask, char *memory, ki_str *text);

#endif
