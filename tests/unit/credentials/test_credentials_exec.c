/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials from a plug-in. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ; NOLINT(bugprone-reserved-identifier) */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "credentials/exec_plugin.h"
#include "support/client/credentials_rig.h"
#include "support/unit.h"
#include "util/units.h"

#define ANSWER(status)                                                                                       \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{" status "}}"

/* A program that counts its runs in the file "runs" and then executes `script`. */
static ki_config_exec exec_of(const char *script)
{
    char program[4096];
    snprintf(program, sizeof(program), "echo run >>%s/runs\n%s", rig.dir.path, script);
    return (ki_config_exec){
        .api_version = "client.authentication.k8s.io/v1",
        .command = (char *)temp_dir_script(&rig.dir, "plugin", program),
        .interactive_mode = "Never",
    };
}

static size_t runs(void)
{
    return strlen(temp_dir_read(&rig.dir, "runs")) / strlen("run\n");
}

static void assert_waits(ki_credentials *credentials, ki_job *job)
{
    ki_identity got;
    assert_int_equal(ki_credentials_get(credentials, job, &got, NULL), 1);
}

static void one_run_serves_all_waiters(void **state)
{
    (void)state;
    ki_job other;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_int_equal(ki_job_init(&other, &rig.loop, credentials_rig_wake), 0);
    assert_waits(credentials, &rig.waiter);
    assert_waits(credentials, &rig.waiter);
    assert_waits(credentials, &other);
    assert_int_equal(rig.woken, 0);
    credentials_rig_finish_run();
    assert_int_equal(rig.woken, 2);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer abc");
    ki_clock_advance_ms(&rig.clock, 1000ULL * 3600 * 24 * 365);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer abc");
    assert_int_equal(runs(), 1);
    ki_credentials_free(credentials);
    ki_job_fini(&other);
}

static void a_credential_that_has_expired_is_requested_again(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2027-01-15T08:01:00Z\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    uint64_t generation = credentials_rig_identity(credentials).generation;
    ki_clock_advance_ms(&rig.clock, 59 * 1000);
    assert_int_equal(credentials_rig_identity(credentials).generation, generation);
    ki_clock_advance_ms(&rig.clock, 1000);
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    /* The credential had expired when it arrived, but is used for a short time. */
    assert_true(credentials_rig_identity(credentials).generation > generation);
    assert_int_equal(runs(), 2);
    ki_clock_advance_ms(&rig.clock, 5000);
    assert_waits(credentials, &rig.waiter);
    ki_credentials_free(credentials);
}

/* Any user may have put a file of that name into the current directory. */
static void a_plug_in_is_not_searched_in_the_current_directory(void **state)
{
    (void)state;
    static const char *const lists[] = {"",
                                        ":",
                                        ".",
                                        "./",
                                        ":/nowhere",
                                        "/nowhere:",
                                        "/nowhere::/nowhere",
                                        ".:/nowhere",
                                        "sub",
                                        "/nowhere:sub:../nowhere",
                                        "./sub",
                                        "..:sub/../sub"};
    char before[512], here[512];
    char *path = strdup(getenv("PATH"));
    assert_non_null(getcwd(before, sizeof(before)));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
        temp_dir_script(&rig.dir, "sub/plugin", "exit 0");
        exec.command = "plugin";
        assert_int_equal(chdir(rig.dir.path), 0);
        setenv("PATH", lists[i], 1);
        ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .user = "jane"});
        credentials_rig_assert_fails(credentials,
                                     "exec plug-in \"plugin\" of user \"jane\": No such file or directory");
        ki_credentials_free(credentials);
    }
    snprintf(here, sizeof(here), ".:%s:/nowhere", rig.dir.path);
    setenv("PATH", here, 1);
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    exec.command = "plugin";
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer abc");
    ki_credentials_free(credentials);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(chdir(before), 0);
}

/* The second run knows the token of the first, and prints it. */
static void a_token_printed_by_a_plug_in_is_masked(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("cd \"${0%/*}\"\nif [ -e second ]; then echo the-first-token >&2; exit 1; fi\n"
                "echo >second\necho '" ANSWER("\"token\":\"the-first-token\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .user = "jane"});
    ki_identity got;
    ki_error err = {0};
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    assert_int_equal(ki_credentials_get(credentials, &rig.waiter, &got, &err), KI_ERR_CONFIG);
    assert_non_null(strstr(err.message, "ended with code 1: <masked>"));
    ki_credentials_free(credentials);
}

static void a_rejected_credential_is_requested_again_once(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    uint64_t generation = credentials_rig_identity(credentials).generation;
    ki_credentials_refused(credentials, generation);
    ki_credentials_refused(credentials, generation);
    assert_waits(credentials, &rig.waiter);
    ki_credentials_refused(credentials, generation);
    credentials_rig_finish_run();
    assert_true(credentials_rig_identity(credentials).generation > generation);
    ki_credentials_refused(credentials, generation);
    (void)credentials_rig_identity(credentials);
    assert_int_equal(runs(), 2);
    ki_credentials_free(credentials);
}

static void a_repeatedly_rejected_credential_is_requested_again_occasionally(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    for (size_t i = 1; i < 4; i++) {
        ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
        assert_waits(credentials, &rig.waiter);
        credentials_rig_finish_run();
        for (int left = 49; left > 0; left--) {
            ki_clock_advance_ms(&rig.clock, 100);
            ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
        }
        assert_int_equal(runs(), 1 + i);
        ki_clock_advance_ms(&rig.clock, 100);
    }
    ki_credentials_free(credentials);
}

static void a_credential_that_expired_meanwhile_may_be_rejected_at_once(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2027-01-15T08:00:04Z\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_clock_advance_ms(&rig.clock, 5000);
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
    assert_waits(credentials, &rig.waiter);
    ki_credentials_free(credentials);
}

static void a_plug_in_may_give_a_certificate(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("cat \"$(dirname \"$0\")/answer\"");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    temp_dir_write(&rig.dir, "answer", ANSWER("\"clientCertificateData\":\"one\",\"clientKeyData\":\"key\""));
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_identity first = credentials_rig_identity(credentials);
    assert_string_equal(first.certificate_pem, "one");
    assert_string_equal(first.key_pem, "key");
    assert_null(first.authorization);
    ki_certificate_names names;
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "the plug-in's clientCertificateData");
    assert_string_equal(names.key, "the plug-in's clientKeyData");
    temp_dir_write(&rig.dir, "answer",
                   ANSWER("\"token\":\"abc\",\"clientCertificateData\":\"two\",\"clientKeyData\":\"key\""));
    ki_credentials_refused(credentials, first.generation);
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    ki_identity second = credentials_rig_identity(credentials);
    assert_string_equal(second.certificate_pem, "two");
    assert_string_equal(second.authorization, "Bearer abc");
    assert_true(second.certificate_generation > first.certificate_generation);
    ki_credentials_free(credentials);
}

static void a_failure_is_reported_for_a_second(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo no such profile >&2; exit 3");
    exec.command = "sh";
    char script[300];
    snprintf(script, sizeof(script), "%s", temp_dir_path(&rig.dir, "plugin"));
    exec.args = (char *[]){script, NULL};
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .user = "jane"});
    const char *expected = "exec plug-in \"sh\" of user \"jane\": ended with code 3: no such profile";
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    assert_int_equal(rig.woken, 1);
    credentials_rig_assert_fails(credentials, expected);
    ki_clock_advance_ms(&rig.clock, 999);
    credentials_rig_assert_fails(credentials, expected);
    assert_int_equal(runs(), 1);
    ki_clock_advance_ms(&rig.clock, 1);
    assert_waits(credentials, &rig.waiter);
    ki_credentials_free(credentials);
}

static void a_missing_plug_in_fails_at_once(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("");
    exec.command = "kinformer-no-such-plug-in";
    exec.install_hint = "get it\nat example.com";
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .user = "jane"});
    credentials_rig_assert_fails(
        credentials, "exec plug-in \"kinformer-no-such-plug-in\" of user \"jane\": No such file or "
                     "directory; get it at example.com");
    ki_credentials_free(credentials);
}

static void a_token_takes_precedence_over_a_plug_in(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("exit 1");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .token = "abc"});
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer abc");
    assert_int_equal(runs(), 0);
    ki_credentials_free(credentials);
}

static void a_forgotten_waiter_is_not_woken(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    ki_credentials_forget(credentials, &rig.waiter);
    ki_credentials_forget(credentials, &rig.waiter);
    credentials_rig_finish_run();
    assert_int_equal(rig.woken, 0);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer abc");
    ki_credentials_free(credentials);
}

static void freeing_ends_a_running_plug_in(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("exec sleep 600");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
    assert_waits(credentials, &rig.waiter);
    ki_credentials_free(credentials);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    assert_int_equal(rig.woken, 0);
}

static void a_token_of_a_plug_in_that_is_invalid_in_a_header_is_refused(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("cat \"$(dirname \"$0\")/answer\"");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec, .user = "jane"});
    temp_dir_write(&rig.dir, "answer", ANSWER("\"token\":\"s3cret\\nX: y\""));
    assert_waits(credentials, &rig.waiter);
    credentials_rig_finish_run();
    credentials_rig_assert_fails(
        credentials, "the token of user \"jane\" contains a character that is not allowed in a header");
    ki_credentials_free(credentials);
}

static void give_plug_in(ki_config *config)
{
    static ki_config_exec exec;
    exec = exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2099-01-01T00:00:00Z\"") "'");
    static char *args[] = {"a", NULL};
    static ki_config_pair env[] = {{"A", "b"}};
    exec.provide_cluster_info = true;
    exec.args = args;
    exec.env = env;
    exec.env_count = 1;
    *config = (ki_config){.exec = &exec, .server = "https://k", .ca_pem = "x"};
}

static void running_out_of_memory_anywhere_is_an_error(void **state)
{
    (void)state;
    /* The environment is copied with one allocation per variable, so a short one makes this quick. */
    char **environ_before = environ;
    environ = (char *[]){"PATH=/usr/bin:/bin", NULL};
    credentials_rig_fail_each_allocation(give_plug_in);
    environ = environ_before;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, credentials_rig_set_up, credentials_rig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_run_serves_all_waiters),
        TEST(a_credential_that_has_expired_is_requested_again),
        TEST(a_token_printed_by_a_plug_in_is_masked),
        TEST(a_plug_in_is_not_searched_in_the_current_directory),
        TEST(a_rejected_credential_is_requested_again_once),
        TEST(a_repeatedly_rejected_credential_is_requested_again_occasionally),
        TEST(a_credential_that_expired_meanwhile_may_be_rejected_at_once),
        TEST(a_plug_in_may_give_a_certificate),
        TEST(a_failure_is_reported_for_a_second),
        TEST(a_missing_plug_in_fails_at_once),
        TEST(a_token_takes_precedence_over_a_plug_in),
        TEST(a_forgotten_waiter_is_not_woken),
        TEST(freeing_ends_a_running_plug_in),
        TEST(a_token_of_a_plug_in_that_is_invalid_in_a_header_is_refused),
        TEST(running_out_of_memory_anywhere_is_an_error),
    };
    return RUN_TESTS(tests);
}
