/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets do not stay in freed memory, and do not appear in messages and logs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem; NOLINT(bugprone-reserved-identifier) */
#endif
#include "util/alloc.h"
#include "util/secret.h"

#include <kinformer/alloc.h>
#include <kinformer/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/load.h"
#include "config/token_file.h"
#include "credentials/credentials.h"
#include "credentials/exec_plugin.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/units.h"

#define SECRET "s3cret"
/* Looks like a certificate and a key. */
#define PEM                                                                                                  \
    SECRET "\n-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE "         \
           "KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"
#define PEM_BASE64                                                                                           \
    "czNjcmV0Ci0tLS0tQkVHSU4gQ0VSVElGSUNBVEUtLS0tLQpNQUl3QUE9PQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tQk" \
    "VHSU4gUFJJVkFURSBLRVktLS0tLQpNQU1DQVFBPQotLS0tLUVORCBQUklWQVRFIEtFWS0tLS0tCg=="
/* "jane:s3cret" in base64. */
#define BASIC_BASE64 "amFuZTpzM2NyZXQ="

static temp_dir dir;
static size_t leaks; /* freed blocks that contained a secret */
static size_t shown; /* messages and records that contained a secret */
static size_t records;

/* The size precedes each block. */
enum { HEADER_BYTES = 16 };

static void *allocate(size_t size, void *user)
{
    (void)user;
    char *block = malloc(size + HEADER_BYTES);
    if (block == NULL)
        return NULL;
    memcpy(block, &size, sizeof(size));
    memset(block + HEADER_BYTES, 0, size);
    return block + HEADER_BYTES;
}

static int has_secret(const void *memory, size_t size)
{
    return memmem(memory, size, SECRET, strlen(SECRET)) != NULL ||
           memmem(memory, size, PEM_BASE64, strlen(PEM_BASE64)) != NULL ||
           memmem(memory, size, BASIC_BASE64, strlen(BASIC_BASE64)) != NULL;
}

static void release(void *memory, void *user)
{
    (void)user;
    size_t size;
    if (memory == NULL)
        return;
    memcpy(&size, (char *)memory - HEADER_BYTES, sizeof(size));
    leaks += (size_t)has_secret(memory, size);
    free((char *)memory - HEADER_BYTES);
}

static void *reallocate(void *memory, size_t size, void *user)
{
    size_t before = 0;
    void *block = allocate(size, user);
    if (block == NULL || memory == NULL)
        return block;
    memcpy(&before, (char *)memory - HEADER_BYTES, sizeof(before));
    memcpy(block, memory, before < size ? before : size);
    release(memory, user);
    return block;
}

static void look_at_record(const ki_log_record *record, void *user)
{
    (void)user;
    records++;
    shown += (size_t)has_secret(record->message, strlen(record->message));
    for (size_t i = 0; i < record->field_count; i++)
        shown += (size_t)has_secret(record->fields[i].value.ptr, record->fields[i].value.len);
}

static int set_up(void **state)
{
    (void)state;
    static const ki_allocator watching = {.allocate = allocate, .reallocate = reallocate, .release = release};
    temp_dir_make(&dir);
    leaks = shown = records = 0;
    unsetenv("HTTPS_PROXY");
    ki_set_log(look_at_record, KI_LOG_TRACE, NULL);
    return ki_set_allocator(&watching);
}

static int tear_down(void **state)
{
    (void)state;
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    temp_dir_remove(&dir);
    return ki_set_allocator(NULL);
}

static void assert_no_secret_got_out(void)
{
    assert_int_equal(leaks, 0);
    assert_int_equal(shown, 0);
}

static void the_watching_allocator_sees_what_is_not_wiped(void **state)
{
    (void)state;
    char *text = ki_str_copy(KI_STR("my " SECRET));
    release(text, NULL);
    assert_int_equal(leaks, 1);
    ki_secret_free(ki_str_copy(KI_STR("my " SECRET)));
    char *bytes = ki_str_copy(KI_STR("\0 " SECRET));
    ki_secret_free_bytes(bytes, strlen(SECRET) + 2);
    ki_secret_free(NULL);
    char **list = ki_calloc(3, sizeof(*list));
    list[0] = ki_str_copy(KI_STR("plain"));
    list[1] = ki_str_copy(KI_STR(SECRET));
    ki_secret_free_list(list);
    ki_secret_free_list(NULL);
    assert_int_equal(leaks, 1);
}

/* Loads a configuration, gets an identity, and frees everything. Returns whether there was an identity. */
static bool use(const char *user, const char *cluster)
{
    char text[2000];
    ki_error err = {0};
    ki_config config = {0};
    ki_loop loop;
    ki_job waiter;
    ki_identity identity;
    ki_clock clock;
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: https://k, %s}}]\nusers: [{name: u, user: {%s}}]\n",
             cluster, user);
    const char *path = temp_dir_write(&dir, "config", text);
    ki_config_overrides overrides = {.kubeconfig = path};
    int rc = ki_config_load_with(&config, &overrides, "/nowhere", &err);
    shown += (size_t)has_secret(err.message, strlen(err.message));
    if (rc < 0)
        return false;
    ki_clock_init_virtual(&clock, KI_NS_PER_S, 0);
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.clock = &clock}, NULL), 0);
    assert_int_equal(ki_job_init(&waiter, &loop, NULL), 0);
    ki_credentials *credentials = ki_credentials_new(&config, &loop, &err);
    rc = credentials == NULL ? -1 : ki_credentials_get(credentials, &waiter, &identity, &err);
    if (rc == 1) {
        siginfo_t info;
        ki_credentials_forget(credentials, &waiter);
        assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
        ki_clock_advance_ms(&clock, KI_EXEC_POLL_MS);
        ki_loop_step(&loop, 0);
        rc = ki_credentials_get(credentials, &waiter, &identity, &err);
    }
    shown += (size_t)has_secret(err.message, strlen(err.message));
    ki_credentials_free(credentials);
    ki_job_fini(&waiter);
    ki_loop_fini(&loop);
    ki_config_fini(&config);
    return rc == 0;
}

static void valid_configurations_leave_no_secret_behind(void **state)
{
    (void)state;
    temp_dir_write(&dir, "token", SECRET "\n");
    temp_dir_write(&dir, "key", PEM);
    assert_true(use("token: " SECRET, "proxy-url: 'http://jane:" SECRET "@proxy'"));
    assert_true(use("username: jane, password: " SECRET, ""));
    assert_true(use("tokenFile: token", ""));
    assert_true(use("client-certificate: key, client-key: key", ""));
    assert_true(use("client-certificate-data: " PEM_BASE64 ", client-key-data: " PEM_BASE64, ""));
    assert_true(use("as: " SECRET ", as-groups: [" SECRET "], as-user-extra: {a: [" SECRET "]}", ""));
    assert_no_secret_got_out();
}

static void invalid_configurations_leave_no_secret_behind(void **state)
{
    (void)state;
    temp_dir_write(&dir, "token", SECRET " " SECRET);
    temp_dir_write(&dir, "key", SECRET);
    assert_false(use("token: [" SECRET "]", ""));
    assert_false(use("token: " SECRET ", password: " SECRET, ""));
    assert_false(use("token: \"" SECRET "\\n\"", ""));
    assert_false(use("tokenFile: token", ""));
    assert_false(use("client-certificate: key, client-key: key", ""));
    assert_false(use("client-certificate-data: " SECRET, ""));
    assert_false(use("client-key-data: " PEM_BASE64, ""));
    assert_false(use("as: \"" SECRET "\\n\"", ""));
    assert_false(use("auth-provider: {name: gcp, config: {access-token: " SECRET "}}", ""));
    assert_false(use("exec: {command: p, env: [{name: A, value: " SECRET "}, " SECRET "]}", ""));
    assert_false(use("", "server: https://jane:" SECRET "@k"));
    assert_false(use("", "proxy-url: 'ftp://jane:" SECRET "@k'"));
    assert_false(use("token: " SECRET " : " SECRET, ""));
    assert_false(use("token: *" SECRET, ""));
    assert_no_secret_got_out();
}

static void plug_ins_leave_no_secret_behind(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
        "{\"token\":\"" SECRET "\",\"clientCertificateData\":\"" SECRET "\",\"clientKeyData\":\"" SECRET
        "\"}}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
        "{\"token\":\"" SECRET "\\n\"}}",
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
        "{\"token\":\"" SECRET "\",\"clientKeyData\":\"" SECRET "\",\"expirationTimestamp\":\"" SECRET "\"}}",
        SECRET,
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        temp_dir_write(&dir, "answer", answers[i]);
        temp_dir_script(&dir, "plugin", "cat \"$1\"");
        char user[600];
        snprintf(
            user, sizeof(user),
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./plugin,"
            " args: [%s/answer, " SECRET "], env: [{name: A, value: " SECRET "}], provideClusterInfo: true}",
            dir.path);
        assert_int_equal(use(user, "proxy-url: 'http://jane:" SECRET "@proxy'"), i == 0);
    }
    assert_no_secret_got_out();
}

static void a_token_that_stays_in_use_is_not_in_the_log(void **state)
{
    (void)state;
    ki_token_file file;
    const char *path = temp_dir_write(&dir, "token", SECRET);
    ki_token_file_init(&file, path);
    assert_int_equal(ki_token_file_refresh(&file, 0, NULL), 0);
    temp_dir_write(&dir, "token", SECRET " " SECRET);
    assert_int_equal(ki_token_file_refresh(&file, KI_TOKEN_FILE_PERIOD_MS * KI_NS_PER_MS, NULL), 0);
    assert_string_equal(file.token, SECRET);
    ki_token_file_fini(&file);
    assert_int_equal(records, 1);
    assert_no_secret_got_out();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_watching_allocator_sees_what_is_not_wiped),
        TEST(valid_configurations_leave_no_secret_behind),
        TEST(invalid_configurations_leave_no_secret_behind),
        TEST(plug_ins_leave_no_secret_behind),
        TEST(a_token_that_stays_in_use_is_not_in_the_log),
    };
    return RUN_TESTS(tests);
}
