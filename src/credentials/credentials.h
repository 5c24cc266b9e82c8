/* SPDX-License-Identifier: Apache-2.0 */
/* credentials - the credentials of requests, kept up to date: token files, certificates, exec plug-ins.
 *
 *   From:     http/, before each request; client/client.c and client/client_connect.c, which make and free
 *             them
 *   To:       config/token_file.h, credentials/certificate_files.h, credentials/exec_plugin.h, according to
 *             config/config.h
 *   Locks:    none; io only, except ki_credentials_set_token().
 *   Not here: requests; masking in traces (config/redact.h).
 *
 * In order of precedence: a token file (with the token as a fallback until the file exists), a token, basic
 * authentication, a plug-in; a certificate can be combined with each of them. Everything but certificates is
 * withheld from a server without TLS, unless the configuration allows it, and no plug-in is run for one. No
 * secret appears in a log or an error message, not even one that a server echoes.
 */
#ifndef KI_CREDENTIALS_CREDENTIALS_H
#define KI_CREDENTIALS_CREDENTIALS_H

#include "config/config.h"
#include "util/loop/loop.h"

typedef struct ki_credentials ki_credentials;

/* The credentials of a request. Borrowed until the next call for these credentials. */
typedef struct ki_identity {
    const char *authorization;   /* the value of that header; NULL if none */
    const char *certificate_pem; /* of the client, with its key; NULL if none */
    const char *key_pem;
    const char *const *headers;      /* "Impersonate-User: jane", …; NULL-terminated */
    uint64_t generation;             /* increases when any of these changes, or a plug-in has renewed it */
    uint64_t certificate_generation; /* when this changes, existing connections must not be reused */
} ki_identity;

/* Copies everything it needs, and opens no file yet. `loop` is io, and must live longer. Returns NULL with
 * KI_ERR_CONFIG (a token or a name that is not valid in a header) or KI_ERR_NO_MEMORY. */
KI_NODISCARD ki_credentials *ki_credentials_new(const ki_config *config, ki_loop *loop, ki_error *err);

/* Kills a running plug-in. NULL is allowed. */
void ki_credentials_free(ki_credentials *credentials);

/* A replacement for the credentials. Its functions correspond to those of ki_credentials below. */
typedef struct ki_identity_source {
    int (*get)(ki_job *waiter, ki_identity *out_identity, ki_error *err, void *user);
    void (*forget)(ki_job *waiter, void *user);
    void (*refused)(uint64_t generation, void *user);
    void *user;
} ki_identity_source;

/* From now on the source, which is borrowed, replaces the configured credentials: for tests of requests. Must
 * be called before the first request. */
void ki_credentials_use_source(ki_credentials *credentials, const ki_identity_source *source);

/* Sets the token, which replaces all credentials other than certificates. Any thread. Returns 0,
 * KI_ERR_INVALID for a token that is not valid in a header, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_credentials_set_token(ki_credentials *credentials, const char *token);

/* A text to add to the message of a 401 or 403: that credentials are withheld, and why. NULL if they are not.
 * The text is constant. Any thread. */
const char *ki_credentials_withheld(const ki_credentials *credentials);

/* For ki_mask, with the credentials as `user`: hides current and former secrets. */
size_t ki_credentials_hide(char *text, size_t len, const void *user);

/* Returns 0 with the identity; 1 if it is not known yet, and `waiter` will be woken when the caller should
 * try again; KI_ERR_CONFIG with the reason: a plug-in that failed, a file that cannot be read;
 * KI_ERR_NO_MEMORY. One run of a plug-in serves all waiters. If it fails, its failure is returned to all
 * callers for a second; after that, the plug-in is run again. */
KI_NODISCARD int ki_credentials_get(ki_credentials *credentials, ki_job *waiter, ki_identity *out_identity,
                                    ki_error *err);

/* Does not wake the waiter any more. A job that is not waiting is allowed. */
void ki_credentials_forget(ki_credentials *credentials, ki_job *waiter);

/* The origin of the certificate and its key, for messages: "client-certificate /etc/c.crt",
 * "client-key-data". Long paths are truncated. */
typedef struct ki_certificate_names {
    char certificate[160];
    char key[160];
} ki_certificate_names;

void ki_credentials_certificate_names(const ki_credentials *credentials, ki_certificate_names *out_names);

/* The server has refused (401) credentials of this generation: the next caller renews those that can be
 * renewed. If the second credential of a plug-in is refused as well, the plug-in is not run again for some
 * seconds, however many requests are refused. */
void ki_credentials_refused(ki_credentials *credentials, uint64_t generation);

#endif
