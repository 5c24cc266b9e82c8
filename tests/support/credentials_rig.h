/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials on a loop with a virtual clock, for tests.
 * One world: each test sets it up and tears it down. */
#ifndef KI_TEST_CREDENTIALS_RIG_H
#define KI_TEST_CREDENTIALS_RIG_H

#include "credentials/credentials.h"
#include "support/temp_dir.h"

#define CREDENTIALS_RIG_WALL_S 1800000000 /* 2027-01-15T08:00:00Z */

/* As far as that shows without cryptography. */
#define CERTIFICATE(word) word "\n-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n"
#define KEY(word) word "\n-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"

typedef struct credentials_rig {
    temp_dir dir;
    ki_clock clock;
    ki_loop loop;
    ki_job waiter;
    int woken; /* how often a job of the rig was */
} credentials_rig;

extern credentials_rig rig;

int credentials_rig_set_up(void **state);
int credentials_rig_tear_down(void **state);

/* The work of jobs that wait: counts in rig.woken. */
void credentials_rig_wake(ki_job *job);

ki_credentials *credentials_rig_new(const ki_config *config);

/* Who the waiter is, at once. */
ki_identity credentials_rig_identity(ki_credentials *credentials);

/* The waiter is told `expected` instead. */
void credentials_rig_assert_fails(ki_credentials *credentials, const char *expected);

/* Waits for the child as such, without taking its status, and then lets the loop look after it. */
void credentials_rig_finish_run(void);

/* Gets credentials with each allocation failing in turn, in a rig of its own: nothing but KI_ERR_NO_MEMORY
 * comes of it, and nothing stays behind. `make` fills in the configuration, and may write files for it. */
void credentials_rig_fail_each_allocation(void (*make)(ki_config *config));

#endif
