/* SPDX-License-Identifier: Apache-2.0 */
#include "support/client/credentials_rig.h"

#include <sys/wait.h>

#include "credentials/exec_plugin.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

credentials_rig rig;

void credentials_rig_wake(ki_job *job)
{
    (void)job;
    rig.woken++;
}

int credentials_rig_set_up(void **state)
{
    (void)state;
    temp_dir_make(&rig.dir);
    rig.woken = 0;
    ki_clock_init_virtual(&rig.clock, 1000 * KI_NS_PER_S, (int64_t)(CREDENTIALS_RIG_WALL_S * KI_NS_PER_S));
    assert_int_equal(ki_loop_init(&rig.loop, &(ki_loop_options){.clock = &rig.clock}, NULL), 0);
    return ki_job_init(&rig.waiter, &rig.loop, credentials_rig_wake);
}

int credentials_rig_tear_down(void **state)
{
    (void)state;
    ki_job_fini(&rig.waiter);
    ki_loop_fini(&rig.loop);
    temp_dir_remove(&rig.dir);
    return 0;
}

ki_credentials *credentials_rig_new(const ki_config *config)
{
    ki_error err = {0};
    ki_credentials *credentials = ki_credentials_new(config, &rig.loop, &err);
    if (credentials == NULL)
        fail_msg("%s", err.message);
    return credentials;
}

ki_identity credentials_rig_identity(ki_credentials *credentials)
{
    ki_identity got = {0};
    ki_error err = {0};
    int rc = ki_credentials_get(credentials, &rig.waiter, &got, &err);
    if (rc != 0)
        fail_msg("%d: %s", rc, err.message);
    return got;
}

void credentials_rig_assert_fails(ki_credentials *credentials, const char *expected)
{
    ki_identity got = {.generation = 99};
    ki_error err = {0};
    assert_int_equal(ki_credentials_get(credentials, &rig.waiter, &got, &err), KI_ERR_CONFIG);
    assert_string_equal(err.message, expected);
    assert_int_equal(got.generation, 99);
}

void credentials_rig_finish_run(void)
{
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    ki_clock_advance_ms(&rig.clock, KI_EXEC_POLL_MS);
    ki_loop_step(&rig.loop, 0);
}

/* Makes all steps, each of which may fail; the last one returns whether all succeeded. */
static int live(const ki_config *config)
{
    ki_error err = {0};
    ki_credentials *credentials = ki_credentials_new(config, &rig.loop, &err);
    if (credentials == NULL)
        return err.code;
    ki_identity got = {0};
    int rc = ki_credentials_get(credentials, &rig.waiter, &got, &err);
    if (rc == 1) {
        credentials_rig_finish_run();
        rc = ki_credentials_get(credentials, &rig.waiter, &got, &err);
    }
    assert_int_equal(rc, rc == 0 ? 0 : err.code);
    ki_credentials_free(credentials);
    return rc;
}

void credentials_rig_fail_each_allocation(void (*make)(ki_config *config))
{
    credentials_rig_tear_down(NULL);
    failing_allocator_install();
    credentials_rig_set_up(NULL);
    ki_config config = {0};
    make(&config);
    size_t before = failing_allocator_live_count();
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        failing_allocator_fail_at(n);
        int rc = live(&config);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        assert_int_equal(failing_allocator_live_count(), before);
    }
    credentials_rig_tear_down(NULL);
    assert_int_equal(failing_allocator_live_count(), 0);
    failing_allocator_remove();
    credentials_rig_set_up(NULL);
}
