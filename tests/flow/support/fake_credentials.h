/* SPDX-License-Identifier: Apache-2.0 */
/* fake_credentials - credentials that say what the test wants, for tests of those who ask them.
 *
 *   From:     http/transfer.c, by credentials/credentials.h
 *   To:       the test
 */
#ifndef KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H
#define KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H

#include "credentials/credentials.h"

/* What the next calls of ki_credentials_get() answer, of all of them. */
typedef struct fake_credentials_script {
    int result; /* 0, 1 or negative */
    ki_identity identity;
    int asked;
    int refused; /* calls of ki_credentials_refused() */
    uint64_t refused_generation;
    ki_job *waiter; /* who was answered with 1 and has not been forgotten */
} fake_credentials_script;

extern fake_credentials_script fake_credentials;

/* As at the beginning: without credentials. */
void fake_credentials_reset(void);

/* Credentials that the script answers for, with a certificate in /fake/crt and /fake/key; for
 * ki_credentials_free(). */
ki_credentials *fake_credentials_new(void);

/* The same for credentials made elsewhere: those of a client. */
void fake_credentials_take_over(ki_credentials *credentials);

#endif
