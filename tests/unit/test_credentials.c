/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ; NOLINT(bugprone-reserved-identifier) */
#endif
#include "config/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/certificate_files.h"
#include "config/exec_plugin.h"
#include "config/token_file.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/units.h"

#define WALL_S 1800000000 /* 2027-01-15T08:00:00Z */
#define ANSWER(status)                                                                                       \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{" status "}}"

/* As far as that shows without cryptography. */
#define CERTIFICATE(word) word "\n-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n"
#define KEY(word) word "\n-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"

static temp_dir dir;
static ki_clock test_clock;
static ki_loop loop;
static ki_job waiter;
static int woken;

static void count_wake(ki_job *job)
{
    (void)job;
    woken++;
}

static int set_up(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    woken = 0;
    ki_clock_init_virtual(&test_clock, 1000 * KI_NS_PER_S, (int64_t)(WALL_S * KI_NS_PER_S));
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.clock = &test_clock}, NULL), 0);
    return ki_job_init(&waiter, &loop, count_wake);
}

static int tear_down(void **state)
{
    (void)state;
    ki_job_fini(&waiter);
    ki_loop_fini(&loop);
    temp_dir_remove(&dir);
    return 0;
}

static ki_credentials *made(const ki_config *config)
{
    ki_error err = {0};
    ki_credentials *credentials = ki_credentials_new(config, &loop, &err);
    if (credentials == NULL)
        fail_msg("%s", err.message);
    return credentials;
}

static ki_identity identity(ki_credentials *credentials)
{
    ki_identity got = {0};
    ki_error err = {0};
    int rc = ki_credentials_get(credentials, &waiter, &got, &err);
    if (rc != 0)
        fail_msg("%d: %s", rc, err.message);
    return got;
}

static void assert_fails(ki_credentials *credentials, const char *expected)
{
    ki_identity got = {.generation = 99};
    ki_error err = {0};
    assert_int_equal(ki_credentials_get(credentials, &waiter, &got, &err), KI_ERR_CONFIG);
    assert_string_equal(err.message, expected);
    assert_int_equal(got.generation, 99);
}

/* ---- fixed --------------------------------------------------------------------------------------------- */

static void a_token_becomes_a_header(void **state)
{
    (void)state;
    ki_credentials *credentials = made(&(ki_config){.token = "abc"});
    ki_identity got = identity(credentials);
    assert_string_equal(got.authorization, "Bearer abc");
    assert_null(got.certificate_pem);
    assert_null(got.headers[0]);
    uint64_t generation = got.generation;
    ki_credentials_refused(credentials, generation);
    assert_int_equal(identity(credentials).generation, generation);
    ki_credentials_free(credentials);
}

static void basic_authentication_becomes_a_header(void **state)
{
    (void)state;
    ki_credentials *credentials = made(&(ki_config){.username = "Aladdin", .password = "open sesame"});
    assert_string_equal(identity(credentials).authorization, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    ki_credentials_free(credentials);
}

static void nobody_in_particular_has_no_header(void **state)
{
    (void)state;
    ki_credentials *credentials = made(&(ki_config){0});
    assert_null(identity(credentials).authorization);
    ki_credentials_free(credentials);
}

static void somebody_else_is_asked_for_in_headers(void **state)
{
    (void)state;
    ki_credentials *credentials = made(&(ki_config){
        .as = "jane",
        .as_uid = "7",
        .as_groups = (char *[]){"a", "b c", NULL},
        .as_extra = (ki_config_pair[]){{"example.com/x", "1"}, {"50%", "2"}},
        .as_extra_count = 2,
    });
    const char *const *headers = identity(credentials).headers;
    static const char *const expected[] = {
        "Impersonate-User: jane",
        "Impersonate-Uid: 7",
        "Impersonate-Group: a",
        "Impersonate-Group: b c",
        "Impersonate-Extra-example.com%2Fx: 1",
        "Impersonate-Extra-50%25: 2",
    };
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(headers[i], expected[i]);
    assert_null(headers[6]);
    ki_credentials_free(credentials);
}

static void what_no_header_can_have_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_credentials_new(&(ki_config){.token = "s3cret\r\nX: y", .user = "u"}, &loop, &err));
    assert_int_equal(err.code, KI_ERR_CONFIG);
    assert_string_equal(err.message, "the token of user \"u\" has a character that no header can have");
    assert_null(ki_credentials_new(&(ki_config){.as = "jane\nX: s3cret"}, &loop, &err));
    assert_string_equal(err.message, "Impersonate-User has a character that no header can have");
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void a_token_file_is_read_again_each_minute(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, "token", " one\n");
    ki_credentials *credentials = made(&(ki_config){.token_file = (char *)path});
    ki_identity first = identity(credentials);
    assert_string_equal(first.authorization, "Bearer one");
    uint64_t generation = first.generation;
    temp_dir_write(&dir, "token", "two");
    ki_clock_advance_ms(&test_clock, KI_TOKEN_FILE_PERIOD_MS - 1);
    assert_string_equal(identity(credentials).authorization, "Bearer one");
    ki_clock_advance_ms(&test_clock, 1);
    ki_identity second = identity(credentials);
    assert_string_equal(second.authorization, "Bearer two");
    assert_true(second.generation > generation);
    ki_clock_advance_ms(&test_clock, KI_TOKEN_FILE_PERIOD_MS);
    assert_int_equal(identity(credentials).generation, second.generation);
    ki_credentials_free(credentials);
}

static void assert_hidden(const ki_credentials *credentials, const char *text, const char *expected)
{
    char room[128];
    size_t len = strlen(text);
    memcpy(room, text, len);
    room[ki_credentials_hide(room, len, credentials)] = 0;
    assert_string_equal(room, expected);
}

static void what_is_sent_can_be_hidden(void **state)
{
    (void)state;
    ki_credentials *basic = made(&(ki_config){.username = "Aladdin", .password = "open sesame"});
    assert_hidden(basic, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==, Aladdin: open sesame",
                  "Basic <masked>, Aladdin: <masked>");
    ki_credentials_free(basic);
    ki_credentials *nobody = made(&(ki_config){0});
    assert_hidden(nobody, "Bearer abcdefgh", "Bearer abcdefgh");
    ki_credentials_free(nobody);
}

static void a_token_can_be_hidden_and_the_one_before_it(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, "token", "first-token");
    ki_credentials *credentials = made(&(ki_config){.token_file = (char *)path});
    uint64_t generation = identity(credentials).generation;
    assert_hidden(credentials, "Bearer first-token!", "Bearer <masked>!");
    temp_dir_write(&dir, "token", "second-token");
    ki_credentials_refused(credentials, generation);
    (void)identity(credentials);
    assert_hidden(credentials, "first-token second-token third-token", "<masked> <masked> third-token");
    ki_credentials_free(credentials);
}

static void a_refused_token_file_is_read_at_once(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, "token", "one");
    ki_credentials *credentials = made(&(ki_config){.token_file = (char *)path});
    uint64_t generation = identity(credentials).generation;
    temp_dir_write(&dir, "token", "two");
    ki_credentials_refused(credentials, generation - 1);
    assert_string_equal(identity(credentials).authorization, "Bearer one");
    ki_credentials_refused(credentials, generation);
    assert_string_equal(identity(credentials).authorization, "Bearer two");
    ki_credentials_free(credentials);
}

static void a_token_file_that_goes_away_leaves_its_token(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, "token", "one");
    ki_credentials *credentials = made(&(ki_config){.token_file = (char *)path});
    assert_string_equal(identity(credentials).authorization, "Bearer one");
    assert_int_equal(unlink(path), 0);
    ki_clock_advance_ms(&test_clock, KI_TOKEN_FILE_PERIOD_MS);
    assert_string_equal(identity(credentials).authorization, "Bearer one");
    ki_credentials_free(credentials);
}

static void a_token_file_that_was_never_there_is_an_error(void **state)
{
    (void)state;
    char expected[400];
    char path[300];
    snprintf(path, sizeof(path), "%s", temp_dir_path(&dir, "token"));
    ki_credentials *credentials = made(&(ki_config){.token_file = path});
    snprintf(expected, sizeof(expected), "tokenFile: %s: No such file or directory", path);
    assert_fails(credentials, expected);
    temp_dir_write(&dir, "token", "\n");
    snprintf(expected, sizeof(expected), "tokenFile: %s: is empty", path);
    assert_fails(credentials, expected);
    temp_dir_write(&dir, "token", "s3cret\nX: y");
    snprintf(expected, sizeof(expected), "tokenFile: %s: is no token", path);
    assert_fails(credentials, expected);
    temp_dir_write(&dir, "token", "good");
    assert_string_equal(identity(credentials).authorization, "Bearer good");
    ki_credentials_free(credentials);
}

static void a_token_beside_its_file_counts_until_the_file_is_there(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof(path), "%s", temp_dir_path(&dir, "token"));
    ki_credentials *credentials = made(&(ki_config){.token_file = path, .token = "fixed"});
    assert_string_equal(identity(credentials).authorization, "Bearer fixed");
    temp_dir_write(&dir, "token", "file");
    assert_string_equal(identity(credentials).authorization, "Bearer file");
    ki_credentials_free(credentials);
}

static void a_certificate_is_noticed_when_it_changes(void **state)
{
    (void)state;
    const char *certificate = temp_dir_write(&dir, "crt", CERTIFICATE("one"));
    const char *key = temp_dir_write(&dir, "key", KEY("one"));
    ki_credentials *credentials =
        made(&(ki_config){.client_certificate_file = (char *)certificate, .client_key_file = (char *)key});
    ki_identity first = identity(credentials);
    assert_string_equal(first.certificate_pem, CERTIFICATE("one"));
    assert_string_equal(first.key_pem, KEY("one"));
    uint64_t generation = first.certificate_generation;
    temp_dir_write(&dir, "crt", CERTIFICATE("two"));
    assert_int_equal(identity(credentials).certificate_generation, generation);
    ki_clock_advance_ms(&test_clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    ki_identity second = identity(credentials);
    assert_string_equal(second.certificate_pem, CERTIFICATE("two"));
    assert_true(second.certificate_generation > generation);
    assert_true(second.generation > first.generation);
    ki_clock_advance_ms(&test_clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    assert_int_equal(identity(credentials).certificate_generation, second.certificate_generation);
    ki_credentials_free(credentials);
}

static void a_certificate_is_called_by_where_it_comes_from(void **state)
{
    (void)state;
    char path[] = "/etc/c.crt", pem[] = "-----BEGIN K-----", long_path[301];
    ki_certificate_names names;
    ki_credentials *credentials = made(&(ki_config){.client_certificate_file = path, .client_key_pem = pem});
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "client-certificate /etc/c.crt");
    assert_string_equal(names.key, "client-key-data");
    ki_credentials_free(credentials);
    memset(long_path, 'x', 300);
    long_path[300] = 0;
    credentials = made(&(ki_config){.client_certificate_pem = pem, .client_key_file = long_path});
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "client-certificate-data");
    assert_int_equal(strlen(names.key), strlen("client-key ") + 120);
    ki_credentials_free(credentials);
}

static void a_certificate_that_is_being_replaced_stays_until_it_is_whole(void **state)
{
    (void)state;
    const char *certificate = temp_dir_write(&dir, "crt", CERTIFICATE("one"));
    ki_credentials *credentials = made(
        &(ki_config){.client_certificate_file = (char *)certificate, .client_key_pem = "-----BEGIN K-----"});
    uint64_t generation = identity(credentials).certificate_generation;
    temp_dir_write(&dir, "crt", "-----BEGIN CERTIFICATE-----\nMAIw");
    ki_clock_advance_ms(&test_clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    ki_identity got = identity(credentials);
    assert_string_equal(got.certificate_pem, CERTIFICATE("one"));
    assert_string_equal(got.key_pem, "-----BEGIN K-----");
    assert_int_equal(got.certificate_generation, generation);
    temp_dir_write(&dir, "crt", CERTIFICATE("two"));
    ki_credentials_refused(credentials, got.generation);
    assert_string_equal(identity(credentials).certificate_pem, CERTIFICATE("two"));
    ki_credentials_free(credentials);
}

static void a_certificate_that_cannot_be_used_is_an_error(void **state)
{
    (void)state;
    char expected[300];
    const char *path = temp_dir_write(&dir, "crt", "s3cret");
    ki_credentials *credentials =
        made(&(ki_config){.client_certificate_pem = "-----BEGIN C-----", .client_key_file = (char *)path});
    snprintf(expected, sizeof(expected), "client-key: %s: has no private key in it", path);
    assert_fails(credentials, expected);
    ki_credentials_free(credentials);
}

/* ---- plug-ins ------------------------------------------------------------------------------------------ */

/* A program that counts its runs in the file "runs" and then does `script`. */
static ki_config_exec exec_of(const char *script)
{
    char program[4096];
    snprintf(program, sizeof(program), "echo run >>%s/runs\n%s", dir.path, script);
    return (ki_config_exec){
        .api_version = "client.authentication.k8s.io/v1",
        .command = (char *)temp_dir_script(&dir, "plugin", program),
        .interactive_mode = "Never",
    };
}

static size_t runs(void)
{
    return strlen(temp_dir_read(&dir, "runs")) / strlen("run\n");
}

/* Waits for the child as such, without taking its status, and then lets the loop look after it. */
static void finish_run(void)
{
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    ki_clock_advance_ms(&test_clock, KI_EXEC_POLL_MS);
    ki_loop_step(&loop, 0);
}

static void assert_waits(ki_credentials *credentials, ki_job *job)
{
    ki_identity got;
    assert_int_equal(ki_credentials_get(credentials, job, &got, NULL), 1);
}

static void one_run_does_for_all_who_wait(void **state)
{
    (void)state;
    ki_job other;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_int_equal(ki_job_init(&other, &loop, count_wake), 0);
    assert_waits(credentials, &waiter);
    assert_waits(credentials, &waiter);
    assert_waits(credentials, &other);
    assert_int_equal(woken, 0);
    finish_run();
    assert_int_equal(woken, 2);
    assert_string_equal(identity(credentials).authorization, "Bearer abc");
    ki_clock_advance_ms(&test_clock, 1000ULL * 3600 * 24 * 365);
    assert_string_equal(identity(credentials).authorization, "Bearer abc");
    assert_int_equal(runs(), 1);
    ki_credentials_free(credentials);
    ki_job_fini(&other);
}

static void a_credential_is_had_anew_when_it_has_expired(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2027-01-15T08:01:00Z\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    finish_run();
    uint64_t generation = identity(credentials).generation;
    ki_clock_advance_ms(&test_clock, 59 * 1000);
    assert_int_equal(identity(credentials).generation, generation);
    ki_clock_advance_ms(&test_clock, 1000);
    assert_waits(credentials, &waiter);
    finish_run();
    /* It was past its time when it came, and is used a little all the same. */
    assert_true(identity(credentials).generation > generation);
    assert_int_equal(runs(), 2);
    ki_clock_advance_ms(&test_clock, 5000);
    assert_waits(credentials, &waiter);
    ki_credentials_free(credentials);
}

static void a_refused_credential_is_had_anew_once(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    finish_run();
    uint64_t generation = identity(credentials).generation;
    ki_credentials_refused(credentials, generation);
    ki_credentials_refused(credentials, generation);
    assert_waits(credentials, &waiter);
    ki_credentials_refused(credentials, generation);
    finish_run();
    assert_true(identity(credentials).generation > generation);
    ki_credentials_refused(credentials, generation);
    (void)identity(credentials);
    assert_int_equal(runs(), 2);
    ki_credentials_free(credentials);
}

static void a_credential_that_is_refused_again_and_again_is_had_anew_now_and_then(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    finish_run();
    for (size_t i = 1; i < 4; i++) {
        ki_credentials_refused(credentials, identity(credentials).generation);
        assert_waits(credentials, &waiter);
        finish_run();
        for (int left = 49; left > 0; left--) {
            ki_clock_advance_ms(&test_clock, 100);
            ki_credentials_refused(credentials, identity(credentials).generation);
        }
        assert_int_equal(runs(), 1 + i);
        ki_clock_advance_ms(&test_clock, 100);
    }
    ki_credentials_free(credentials);
}

static void a_credential_that_has_expired_meanwhile_may_be_refused_at_once(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2027-01-15T08:00:04Z\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    finish_run();
    ki_credentials_refused(credentials, identity(credentials).generation);
    assert_waits(credentials, &waiter);
    finish_run();
    ki_clock_advance_ms(&test_clock, 5000);
    assert_waits(credentials, &waiter);
    finish_run();
    ki_credentials_refused(credentials, identity(credentials).generation);
    assert_waits(credentials, &waiter);
    ki_credentials_free(credentials);
}

static void a_plug_in_may_give_a_certificate(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("cat \"$(dirname \"$0\")/answer\"");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    temp_dir_write(&dir, "answer", ANSWER("\"clientCertificateData\":\"one\",\"clientKeyData\":\"key\""));
    assert_waits(credentials, &waiter);
    finish_run();
    ki_identity first = identity(credentials);
    assert_string_equal(first.certificate_pem, "one");
    assert_string_equal(first.key_pem, "key");
    assert_null(first.authorization);
    ki_certificate_names names;
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "the plug-in's clientCertificateData");
    assert_string_equal(names.key, "the plug-in's clientKeyData");
    temp_dir_write(&dir, "answer",
                   ANSWER("\"token\":\"abc\",\"clientCertificateData\":\"two\",\"clientKeyData\":\"key\""));
    ki_credentials_refused(credentials, first.generation);
    assert_waits(credentials, &waiter);
    finish_run();
    ki_identity second = identity(credentials);
    assert_string_equal(second.certificate_pem, "two");
    assert_string_equal(second.authorization, "Bearer abc");
    assert_true(second.certificate_generation > first.certificate_generation);
    ki_credentials_free(credentials);
}

static void a_failure_answers_for_a_second(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo no such profile >&2; exit 3");
    exec.command = "sh";
    char script[300];
    snprintf(script, sizeof(script), "%s", temp_dir_path(&dir, "plugin"));
    exec.args = (char *[]){script, NULL};
    ki_credentials *credentials = made(&(ki_config){.exec = &exec, .user = "jane"});
    const char *expected = "exec plug-in \"sh\" of user \"jane\": ended with code 3: no such profile";
    assert_waits(credentials, &waiter);
    finish_run();
    assert_int_equal(woken, 1);
    assert_fails(credentials, expected);
    ki_clock_advance_ms(&test_clock, 999);
    assert_fails(credentials, expected);
    assert_int_equal(runs(), 1);
    ki_clock_advance_ms(&test_clock, 1);
    assert_waits(credentials, &waiter);
    ki_credentials_free(credentials);
}

static void a_plug_in_that_is_not_there_fails_at_once(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("");
    exec.command = "kinformer-no-such-plug-in";
    exec.install_hint = "get it\nat example.com";
    ki_credentials *credentials = made(&(ki_config){.exec = &exec, .user = "jane"});
    assert_fails(credentials, "exec plug-in \"kinformer-no-such-plug-in\" of user \"jane\": No such file or "
                              "directory; get it at example.com");
    ki_credentials_free(credentials);
}

static void a_token_goes_before_a_plug_in(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("exit 1");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec, .token = "abc"});
    assert_string_equal(identity(credentials).authorization, "Bearer abc");
    assert_int_equal(runs(), 0);
    ki_credentials_free(credentials);
}

static void who_is_forgotten_is_not_woken(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\"") "'");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    ki_credentials_forget(credentials, &waiter);
    ki_credentials_forget(credentials, &waiter);
    finish_run();
    assert_int_equal(woken, 0);
    assert_string_equal(identity(credentials).authorization, "Bearer abc");
    ki_credentials_free(credentials);
}

static void freeing_ends_a_plug_in_that_runs(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("exec sleep 600");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec});
    assert_waits(credentials, &waiter);
    ki_credentials_free(credentials);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    assert_int_equal(woken, 0);
}

static void a_token_of_a_plug_in_that_no_header_can_have_is_refused(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("cat \"$(dirname \"$0\")/answer\"");
    ki_credentials *credentials = made(&(ki_config){.exec = &exec, .user = "jane"});
    temp_dir_write(&dir, "answer", ANSWER("\"token\":\"s3cret\\nX: y\""));
    assert_waits(credentials, &waiter);
    finish_run();
    assert_fails(credentials, "the token of user \"jane\" has a character that no header can have");
    ki_credentials_free(credentials);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* All steps, each of which may fail; the last one says whether all was well. */
static int live(const ki_config *config)
{
    ki_error err = {0};
    ki_credentials *credentials = ki_credentials_new(config, &loop, &err);
    if (credentials == NULL)
        return err.code;
    ki_identity got = {0};
    int rc = ki_credentials_get(credentials, &waiter, &got, &err);
    if (rc == 1) {
        finish_run();
        rc = ki_credentials_get(credentials, &waiter, &got, &err);
    }
    assert_int_equal(rc, rc == 0 ? 0 : err.code);
    ki_credentials_free(credentials);
    return rc;
}

static void assert_fails_without_memory(const ki_config *config)
{
    size_t before = failing_allocator_live_count();
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        failing_allocator_fail_at(n);
        int rc = live(config);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        assert_int_equal(failing_allocator_live_count(), before);
    }
}

static void running_out_of_memory_anywhere_is_an_error(void **state)
{
    (void)state;
    tear_down(NULL);
    failing_allocator_install();
    set_up(NULL);
    ki_config_exec exec = exec_of("echo '" ANSWER("\"token\":\"abc\",\"expirationTimestamp\":"
                                                  "\"2099-01-01T00:00:00Z\"") "'");
    exec.provide_cluster_info = true;
    exec.args = (char *[]){"a", NULL};
    exec.env = (ki_config_pair[]){{"A", "b"}};
    exec.env_count = 1;
    /* The environment is copied, one allocation each; a short one makes this quick. */
    char **environ_before = environ;
    environ = (char *[]){"PATH=/usr/bin:/bin", NULL};
    assert_fails_without_memory(&(ki_config){.exec = &exec, .server = "https://k", .ca_pem = "x"});
    environ = environ_before;
    const char *token = temp_dir_write(&dir, "token", "abc");
    const char *pem = temp_dir_write(&dir, "pem", CERTIFICATE(""));
    assert_fails_without_memory(&(ki_config){.token_file = (char *)token,
                                             .client_certificate_file = (char *)pem,
                                             .client_key_pem = "-----BEGIN K-----",
                                             .as = "jane",
                                             .as_groups = (char *[]){"a", NULL}});
    assert_fails_without_memory(&(ki_config){.username = "a", .password = "b"});
    tear_down(NULL);
    assert_int_equal(failing_allocator_live_count(), 0);
    failing_allocator_remove();
    set_up(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_becomes_a_header),
        TEST(basic_authentication_becomes_a_header),
        TEST(nobody_in_particular_has_no_header),
        TEST(somebody_else_is_asked_for_in_headers),
        TEST(what_no_header_can_have_is_refused),
        TEST(a_token_file_is_read_again_each_minute),
        TEST(what_is_sent_can_be_hidden),
        TEST(a_token_can_be_hidden_and_the_one_before_it),
        TEST(a_refused_token_file_is_read_at_once),
        TEST(a_token_file_that_goes_away_leaves_its_token),
        TEST(a_token_file_that_was_never_there_is_an_error),
        TEST(a_token_beside_its_file_counts_until_the_file_is_there),
        TEST(a_certificate_is_noticed_when_it_changes),
        TEST(a_certificate_is_called_by_where_it_comes_from),
        TEST(a_certificate_that_is_being_replaced_stays_until_it_is_whole),
        TEST(a_certificate_that_cannot_be_used_is_an_error),
        TEST(one_run_does_for_all_who_wait),
        TEST(a_credential_is_had_anew_when_it_has_expired),
        TEST(a_refused_credential_is_had_anew_once),
        TEST(a_credential_that_is_refused_again_and_again_is_had_anew_now_and_then),
        TEST(a_credential_that_has_expired_meanwhile_may_be_refused_at_once),
        TEST(a_plug_in_may_give_a_certificate),
        TEST(a_failure_answers_for_a_second),
        TEST(a_plug_in_that_is_not_there_fails_at_once),
        TEST(a_token_goes_before_a_plug_in),
        TEST(who_is_forgotten_is_not_woken),
        TEST(freeing_ends_a_plug_in_that_runs),
        TEST(a_token_of_a_plug_in_that_no_header_can_have_is_refused),
        TEST(running_out_of_memory_anywhere_is_an_error),
    };
    return RUN_TESTS(tests);
}
