/* SPDX-License-Identifier: Apache-2.0 */
/* fake_credentials - a ki_credentials that says what the test wants, for tests of those who ask it.
 *
 *   From:     http/transfer.c
 *   To:       the test
 *
 * A program that calls one of these has this one; others have that of the library.
 */
#ifndef KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H
#define KI_TESTS_FLOW_SUPPORT_FAKE_CREDENTIALS_H

#include "config/credentials.h"

/* What the next calls of ki_credentials_get() answer, of all fakes. */
typedef struct fake_credentials_script {
    int result; /* 0, 1 or negative */
    ki_identity identity;
    int asked;
    int refused; /* calls of ki_credentials_refused() */
    uint64_t refused_generation;
    ki_job *waiter; /* who was answered with 1 and has not been forgotten */
} fake_credentials_script;

extern fake_credentials_script fake_credentials;

/* As at the beginning: nobody in particular. */
void fake_credentials_reset(void);

#endif
