/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/fake_credentials.h"

#include "support/unit.h"
#include "util/error.h"

fake_credentials_script fake_credentials;

void fake_credentials_reset(void)
{
    fake_credentials = (fake_credentials_script){0};
}

static int get(ki_job *waiter, ki_identity *out_identity, ki_error *err, void *user)
{
    fake_credentials_script *script = user;
    script->asked++;
    if (script->result < 0)
        return ki_fail(err, script->result, "the plug-in has failed");
    if (script->result == 1)
        script->waiter = waiter;
    else
        *out_identity = script->identity;
    return script->result;
}

static void forget(ki_job *waiter, void *user)
{
    fake_credentials_script *script = user;
    if (script->waiter == waiter)
        script->waiter = NULL;
}

static void refused(uint64_t generation, void *user)
{
    fake_credentials_script *script = user;
    script->refused++;
    script->refused_generation = generation;
}

void fake_credentials_take_over(ki_credentials *credentials)
{
    static const ki_identity_source source = {get, forget, refused, &fake_credentials};
    ki_credentials_use_source(credentials, &source);
}

/* The files are never read. */
ki_credentials *fake_credentials_new(void)
{
    char certificate[] = "/fake/crt";
    char key[] = "/fake/key";
    ki_config config = {.client_certificate_file = certificate, .client_key_file = key};
    ki_loop loop = {.clock = ki_clock_real()};
    ki_credentials *credentials = ki_credentials_new(&config, &loop, NULL);
    assert_non_null(credentials);
    fake_credentials_take_over(credentials);
    return credentials;
}
