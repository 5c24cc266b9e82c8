/* SPDX-License-Identifier: Apache-2.0 */
/* credentials - as whom a request is sent, kept fresh: token files, certificates, exec plug-ins.
 *
 *   From:     http/, before each request
 *   To:       config/token_file.h, config/certificate_files.h, config/exec_plugin.h, as config/config.h says
 *   Locks:    none; io's, but for ki_credentials_set_token().
 *   Not here: requests; what a trace shows of them (config/redact.h).
 *
 * In this order: a token file (and the token when that was never there), a token, basic authentication, a
 * plug-in; certificates beside each of them. All but certificates are withheld from a server without TLS,
 * unless the configuration allows it, and no plug-in is run for one. No secret reaches a log or an error
 * message, not even one that a server sends back.
 */
#ifndef KI_CONFIG_CREDENTIALS_H
#define KI_CONFIG_CREDENTIALS_H

#include "config/config.h"
#include "util/loop/loop.h"

typedef struct ki_credentials ki_credentials;

/* What a request is sent with. Borrowed until the next call for these credentials. */
typedef struct ki_identity {
    const char *authorization;   /* the value of that header; NULL: none */
    const char *certificate_pem; /* of the client, with its key; NULL: none */
    const char *key_pem;
    const char *const *headers;      /* "Impersonate-User: jane", …; NULL-terminated */
    uint64_t generation;             /* of all of it: grows when it changes, or was had anew by a plug-in */
    uint64_t certificate_generation; /* when this has changed, old connections are not used any more */
} ki_identity;

/* Copies what it needs and opens no file yet. `loop` is io, and outlives this. Returns NULL with
 * KI_ERR_CONFIG (a token or a name that no header can have) or KI_ERR_NO_MEMORY. */
KI_NODISCARD ki_credentials *ki_credentials_new(const ki_config *config, ki_loop *loop, ki_error *err);

/* Ends a plug-in that runs. NULL is allowed. */
void ki_credentials_free(ki_credentials *credentials);

/* Somebody else who knows as whom requests are sent. Its functions are those of ki_credentials below. */
typedef struct ki_identity_source {
    int (*get)(ki_job *waiter, ki_identity *out_identity, ki_error *err, void *user);
    void (*forget)(ki_job *waiter, void *user);
    void (*refused)(uint64_t generation, void *user);
    void *user;
} ki_identity_source;

/* From now on the source, which is borrowed, answers in place of what the configuration says: the seam by
 * which tests of requests decide on the answers. Before the first request. */
void ki_credentials_use_source(ki_credentials *credentials, const ki_identity_source *source);

/* From now on this is the token, in the place of all that is not a certificate. Any thread. Returns 0,
 * KI_ERR_INVALID for what no header can have, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_credentials_set_token(ki_credentials *credentials, const char *token);

/* What to add to the error of a server that refuses who nobody is: that credentials are withheld, and why.
 * NULL: none are. The text is constant. Any thread. */
const char *ki_credentials_withheld(const ki_credentials *credentials);

/* As ki_mask has it, with the credentials as `user`: hides what is sent of them, and what was sent before. */
size_t ki_credentials_hide(char *text, size_t len, const void *user);

/* Returns 0 with the identity; 1: not known yet, `waiter` is woken when it is worth asking again;
 * KI_ERR_CONFIG with the reason: a plug-in that failed, a file that cannot be read; KI_ERR_NO_MEMORY. One
 * run of a plug-in does for all who wait; its failure is the answer to all who ask within a second, then it
 * is tried again. */
KI_NODISCARD int ki_credentials_get(ki_credentials *credentials, ki_job *waiter, ki_identity *out_identity,
                                    ki_error *err);

/* The waiter is not to be woken any more. Takes one that does not wait. */
void ki_credentials_forget(ki_credentials *credentials, ki_job *waiter);

/* Where the certificate and its key come from, for messages: "client-certificate /etc/c.crt",
 * "client-key-data". Long paths are cut. */
typedef struct ki_certificate_names {
    char certificate[160];
    char key[160];
} ki_certificate_names;

void ki_credentials_certificate_names(const ki_credentials *credentials, ki_certificate_names *out_names);

/* The server has refused (401) what had this generation: what can be had anew is, by the next who asks. A
 * plug-in whose second credential is refused too is let be for some seconds, however many are refused. */
void ki_credentials_refused(ki_credentials *credentials, uint64_t generation);

#endif
