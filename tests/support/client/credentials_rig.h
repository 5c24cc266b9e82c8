/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials on a loop with a virtual clock, for tests. There is one rig;
 * each test sets it up and tears it down. */
#ifndef KI_TESTS_SUPPORT_CLIENT_CREDENTIALS_RIG_H
#define KI_TESTS_SUPPORT_CLIENT_CREDENTIALS_RIG_H

#include "credentials/credentials.h"
#include "support/temp_dir.h"

#define CREDENTIALS_RIG_WALL_S 1800000000 /* 2027-01-15T08:00:00Z */

/* Valid as far as it can be checked without cryptography. */
#define CERTIFICATE(word) word "\n-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n"
#define KEY(word) word "\n-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"

typedef struct credentials_rig {
    temp_dir dir;
    ki_clock clock;
    ki_loop loop;
    ki_job waiter;
    int woken; /* how often a job of the rig was woken */
} credentials_rig;

extern credentials_rig rig;

int credentials_rig_set_up(void **state);
int credentials_rig_tear_down(void **state);

/* The function of jobs that wait: increments rig.woken. */
void credentials_rig_wake(ki_job *job);

ki_credentials *credentials_rig_new(const ki_config *config);

/* The identity that the waiter gets at once. */
ki_identity credentials_rig_identity(ki_credentials *credentials);

/* The waiter gets this error instead. */
void credentials_rig_assert_fails(ki_credentials *credentials, const char *expected);

/* Waits for the child process without reaping it, and then lets the loop reap it. */
void credentials_rig_finish_run(void);

/* Gets credentials with each allocation failing in turn, in a separate rig: the only error is
 * KI_ERR_NO_MEMORY, and nothing leaks. `make` fills in the configuration, and may write files for it. */
void credentials_rig_fail_each_allocation(void (*make)(ki_config *config));

#endif
