/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/fake_credentials.h"

#include <stdlib.h>

#include "util/error.h"

/* Weak: beside the library's own, these give way. */
#define WEAK __attribute__((weak))

struct ki_credentials {
    int unused;
};

fake_credentials_script fake_credentials;

void fake_credentials_reset(void)
{
    fake_credentials = (fake_credentials_script){0};
}

WEAK ki_credentials *ki_credentials_new(const ki_config *config, ki_loop *loop, ki_error *err)
{
    (void)config;
    (void)loop;
    (void)err;
    return calloc(1, sizeof(ki_credentials));
}

WEAK void ki_credentials_free(ki_credentials *credentials)
{
    free(credentials);
}

WEAK int ki_credentials_get(ki_credentials *credentials, ki_job *waiter, ki_identity *out_identity,
                            ki_error *err)
{
    (void)credentials;
    fake_credentials.asked++;
    if (fake_credentials.result < 0)
        return ki_fail(err, fake_credentials.result, "the plug-in has failed");
    if (fake_credentials.result == 1)
        fake_credentials.waiter = waiter;
    else
        *out_identity = fake_credentials.identity;
    return fake_credentials.result;
}

WEAK void ki_credentials_forget(ki_credentials *credentials, ki_job *waiter)
{
    (void)credentials;
    if (fake_credentials.waiter == waiter)
        fake_credentials.waiter = NULL;
}

WEAK void ki_credentials_certificate_names(const ki_credentials *credentials, ki_certificate_names *out_names)
{
    (void)credentials;
    *out_names = (ki_certificate_names){"client-certificate /fake/crt", "client-key /fake/key"};
}

WEAK int ki_credentials_set_token(ki_credentials *credentials, const char *token)
{
    (void)credentials;
    (void)token;
    return 0;
}

WEAK const char *ki_credentials_withheld(const ki_credentials *credentials)
{
    (void)credentials;
    return NULL;
}

/* They are no secret. */
WEAK size_t ki_credentials_hide(char *text, size_t len, const void *user)
{
    (void)text;
    (void)user;
    return len;
}

WEAK void ki_credentials_refused(ki_credentials *credentials, uint64_t generation)
{
    (void)credentials;
    fake_credentials.refused++;
    fake_credentials.refused_generation = generation;
}
