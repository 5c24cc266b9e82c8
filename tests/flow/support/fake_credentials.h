/* SPDX-License-Identifier: Apache-2.0 */
/* fake_credentials - credentials that the test controls, for tests of code that uses credentials.
 *
 *   From:     flow/support/scripted_client.c, flow/support/http_bench.c, and tests of requests
 *   To:       credentials/credentials.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H
#define KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H

#include "credentials/credentials.h"

/* The results of the next calls of ki_credentials_get(), for all credentials. */
typedef struct fake_credentials_script {
    int result; /* 0, 1 or negative */
    ki_identity identity;
    int asked;
    int refused; /* calls of ki_credentials_refused() */
    uint64_t refused_generation;
    ki_job *waiter; /* the job that got 1 and was not forgotten yet */
} fake_credentials_script;

extern fake_credentials_script fake_credentials;

/* Restores the initial state: no credentials. */
void fake_credentials_reset(void);

/* Credentials controlled by the script, with a certificate in /fake/crt and /fake/key.
 * Free them with ki_credentials_free(). */
ki_credentials *fake_credentials_new(void);

/* The same for existing credentials, those of a client. */
void fake_credentials_take_over(ki_credentials *credentials);

#endif
