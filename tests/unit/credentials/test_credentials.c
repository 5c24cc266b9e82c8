/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials in the configuration or in files. For those of plug-ins see test_credentials_exec.c. */
#include <kinformer/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/token_file.h"
#include "credentials/certificate_files.h"
#include "support/client/credentials_rig.h"
#include "support/unit.h"
#include "util/units.h"

/* ---- fixed credentials --------------------------------------------------------------------------------- */

static void a_token_becomes_a_header(void **state)
{
    (void)state;
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token = "abc"});
    ki_identity got = credentials_rig_identity(credentials);
    assert_string_equal(got.authorization, "Bearer abc");
    assert_null(got.certificate_pem);
    assert_null(got.headers[0]);
    uint64_t generation = got.generation;
    ki_credentials_refused(credentials, generation);
    assert_int_equal(credentials_rig_identity(credentials).generation, generation);
    ki_credentials_free(credentials);
}

static void basic_authentication_becomes_a_header(void **state)
{
    (void)state;
    ki_credentials *credentials =
        credentials_rig_new(&(ki_config){.username = "Aladdin", .password = "open sesame"});
    assert_string_equal(credentials_rig_identity(credentials).authorization,
                        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    ki_credentials_free(credentials);
}

static void without_credentials_there_is_no_header(void **state)
{
    (void)state;
    ki_credentials *credentials = credentials_rig_new(&(ki_config){0});
    assert_null(credentials_rig_identity(credentials).authorization);
    ki_credentials_free(credentials);
}

static void impersonation_is_requested_in_headers(void **state)
{
    (void)state;
    ki_credentials *credentials = credentials_rig_new(&(ki_config){
        .as = "jane",
        .as_uid = "7",
        .as_groups = (char *[]){"a", "b c", NULL},
        .as_extra = (ki_config_pair[]){{"example.com/x", "1"}, {"50%", "2"}},
        .as_extra_count = 2,
    });
    const char *const *headers = credentials_rig_identity(credentials).headers;
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

static void values_that_are_invalid_in_a_header_are_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_credentials_new(&(ki_config){.token = "s3cret\r\nX: y", .user = "u"}, &rig.loop, &err));
    assert_int_equal(err.code, KI_ERR_CONFIG);
    assert_string_equal(err.message,
                        "the token of user \"u\" contains a character that is not allowed in a header");
    assert_null(ki_credentials_new(&(ki_config){.as = "jane\nX: s3cret"}, &rig.loop, &err));
    assert_string_equal(err.message, "Impersonate-User contains a character that is not allowed in a header");
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void a_token_file_is_read_again_each_minute(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&rig.dir, "token", " one\n");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = (char *)path});
    ki_identity first = credentials_rig_identity(credentials);
    assert_string_equal(first.authorization, "Bearer one");
    uint64_t generation = first.generation;
    temp_dir_write(&rig.dir, "token", "two");
    ki_clock_advance_ms(&rig.clock, KI_TOKEN_FILE_PERIOD_MS - 1);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
    ki_clock_advance_ms(&rig.clock, 1);
    ki_identity second = credentials_rig_identity(credentials);
    assert_string_equal(second.authorization, "Bearer two");
    assert_true(second.generation > generation);
    ki_clock_advance_ms(&rig.clock, KI_TOKEN_FILE_PERIOD_MS);
    assert_int_equal(credentials_rig_identity(credentials).generation, second.generation);
    ki_credentials_free(credentials);
}

static void assert_hidden(const ki_credentials *credentials, const char *text, const char *expected)
{
    char buffer[128];
    size_t len = strlen(text);
    memcpy(buffer, text, len);
    buffer[ki_credentials_hide(buffer, len, credentials)] = 0;
    assert_string_equal(buffer, expected);
}

static void credentials_that_are_sent_can_be_masked(void **state)
{
    (void)state;
    ki_credentials *basic =
        credentials_rig_new(&(ki_config){.username = "Aladdin", .password = "open sesame"});
    assert_hidden(basic, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==, Aladdin: open sesame",
                  "Basic <masked>, Aladdin: <masked>");
    ki_credentials_free(basic);
    ki_credentials *nobody = credentials_rig_new(&(ki_config){0});
    assert_hidden(nobody, "Bearer abcdefgh", "Bearer abcdefgh");
    ki_credentials_free(nobody);
}

static void a_token_and_its_predecessor_can_be_masked(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&rig.dir, "token", "first-token");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = (char *)path});
    uint64_t generation = credentials_rig_identity(credentials).generation;
    assert_hidden(credentials, "Bearer first-token!", "Bearer <masked>!");
    temp_dir_write(&rig.dir, "token", "second-token");
    ki_credentials_refused(credentials, generation);
    (void)credentials_rig_identity(credentials);
    assert_hidden(credentials, "first-token second-token third-token", "<masked> <masked> third-token");
    ki_credentials_free(credentials);
}

/* As many tokens as a message may still contain. */
static void all_earlier_tokens_are_masked(void **state)
{
    (void)state;
    char text[64], said[64];
    const char *path = temp_dir_write(&rig.dir, "token", "token-number-00");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = (char *)path});
    for (int i = 0; i <= 64; i++) {
        snprintf(text, sizeof(text), "token-number-%02d", i);
        temp_dir_write(&rig.dir, "token", text);
        ki_credentials_refused(credentials, credentials_rig_identity(credentials).generation);
        (void)credentials_rig_identity(credentials);
    }
    for (int i = 0; i <= 64; i++) {
        snprintf(said, sizeof(said), "no token-number-%02d here", i);
        assert_hidden(credentials, said, "no <masked> here");
    }
    ki_credentials_free(credentials);
}

static void a_refused_token_file_is_read_at_once(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&rig.dir, "token", "one");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = (char *)path});
    uint64_t generation = credentials_rig_identity(credentials).generation;
    temp_dir_write(&rig.dir, "token", "two");
    ki_credentials_refused(credentials, generation - 1);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
    ki_credentials_refused(credentials, generation);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer two");
    ki_credentials_free(credentials);
}

static void a_token_outlives_the_removal_of_its_file(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&rig.dir, "token", "one");
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = (char *)path});
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
    assert_int_equal(unlink(path), 0);
    ki_clock_advance_ms(&rig.clock, KI_TOKEN_FILE_PERIOD_MS);
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
    ki_credentials_free(credentials);
}

static void a_missing_token_file_is_an_error(void **state)
{
    (void)state;
    char expected[400];
    char path[300];
    snprintf(path, sizeof(path), "%s", temp_dir_path(&rig.dir, "token"));
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = path});
    snprintf(expected, sizeof(expected), "token file: %s: No such file or directory", path);
    credentials_rig_assert_fails(credentials, expected);
    temp_dir_write(&rig.dir, "token", "\n");
    snprintf(expected, sizeof(expected), "token file: %s: is empty", path);
    credentials_rig_assert_fails(credentials, expected);
    temp_dir_write(&rig.dir, "token", "s3cret\nX: y");
    snprintf(expected, sizeof(expected), "token file: %s: does not contain a token", path);
    credentials_rig_assert_fails(credentials, expected);
    temp_dir_write(&rig.dir, "token", "good");
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer good");
    ki_credentials_free(credentials);
}

static void a_token_is_used_until_its_file_exists(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof(path), "%s", temp_dir_path(&rig.dir, "token"));
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = path, .token = "fixed"});
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer fixed");
    temp_dir_write(&rig.dir, "token", "file");
    assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer file");
    ki_credentials_free(credentials);
}

typedef struct warning {
    int count;
    char message[400];
} warning;

static void note_warning(const ki_log_record *record, void *user)
{
    warning *noted = user;
    noted->count++;
    snprintf(noted->message, sizeof(noted->message), "%s", record->message);
}

/* Once privileges are dropped, files of other users cannot be read, nor anything in a directory of root. */
static void lose_access(const char *path)
{
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(65534), 0);
}

static void regain_access(const char *path)
{
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

/* Whether the token in use is that of the file or one configured beside it. */
static void a_token_file_that_may_not_be_read_is_logged_once(void **state)
{
    (void)state;
    for (int has_other = 0; has_other < 2; has_other++) {
        char expected[400];
        warning noted = {0};
        const char *path = temp_dir_write(&rig.dir, "token", "one");
        ki_config config = {.token_file = (char *)path, .token = has_other ? "one" : NULL};
        ki_credentials *credentials = credentials_rig_new(&config);
        if (!has_other)
            assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
        ki_set_log(note_warning, KI_LOG_WARNING, &noted);
        lose_access(path);
        for (int i = 0; i < 2; i++) {
            ki_clock_advance_ms(&rig.clock, KI_TOKEN_FILE_PERIOD_MS);
            assert_string_equal(credentials_rig_identity(credentials).authorization, "Bearer one");
        }
        regain_access(path);
        ki_set_log(NULL, KI_LOG_ERROR, NULL);
        snprintf(expected, sizeof(expected), "keeping the current token: token file: %s: Permission denied",
                 path);
        assert_int_equal(noted.count, 1);
        assert_string_equal(noted.message, expected);
        ki_credentials_free(credentials);
    }
}

static void a_certificate_is_noticed_when_it_changes(void **state)
{
    (void)state;
    const char *certificate = temp_dir_write(&rig.dir, "crt", CERTIFICATE("one"));
    const char *key = temp_dir_write(&rig.dir, "key", KEY("one"));
    ki_credentials *credentials = credentials_rig_new(
        &(ki_config){.client_certificate_file = (char *)certificate, .client_key_file = (char *)key});
    ki_identity first = credentials_rig_identity(credentials);
    assert_string_equal(first.certificate_pem, CERTIFICATE("one"));
    assert_string_equal(first.key_pem, KEY("one"));
    uint64_t generation = first.certificate_generation;
    temp_dir_write(&rig.dir, "crt", CERTIFICATE("two"));
    assert_int_equal(credentials_rig_identity(credentials).certificate_generation, generation);
    ki_clock_advance_ms(&rig.clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    ki_identity second = credentials_rig_identity(credentials);
    assert_string_equal(second.certificate_pem, CERTIFICATE("two"));
    assert_true(second.certificate_generation > generation);
    assert_true(second.generation > first.generation);
    ki_clock_advance_ms(&rig.clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    assert_int_equal(credentials_rig_identity(credentials).certificate_generation,
                     second.certificate_generation);
    ki_credentials_free(credentials);
}

static void a_certificate_is_named_by_its_source(void **state)
{
    (void)state;
    char path[] = "/etc/c.crt", pem[] = "-----BEGIN K-----", long_path[301];
    ki_certificate_names names;
    ki_credentials *credentials =
        credentials_rig_new(&(ki_config){.client_certificate_file = path, .client_key_pem = pem});
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "client-certificate /etc/c.crt");
    assert_string_equal(names.key, "client-key-data");
    ki_credentials_free(credentials);
    memset(long_path, 'x', 300);
    long_path[300] = 0;
    credentials =
        credentials_rig_new(&(ki_config){.client_certificate_pem = pem, .client_key_file = long_path});
    ki_credentials_certificate_names(credentials, &names);
    assert_string_equal(names.certificate, "client-certificate-data");
    assert_int_equal(strlen(names.key), strlen("client-key ") + 120);
    ki_credentials_free(credentials);
}

static void a_certificate_stays_in_use_until_its_replacement_is_complete(void **state)
{
    (void)state;
    const char *certificate = temp_dir_write(&rig.dir, "crt", CERTIFICATE("one"));
    ki_credentials *credentials = credentials_rig_new(
        &(ki_config){.client_certificate_file = (char *)certificate, .client_key_pem = "-----BEGIN K-----"});
    uint64_t generation = credentials_rig_identity(credentials).certificate_generation;
    temp_dir_write(&rig.dir, "crt", "-----BEGIN CERTIFICATE-----\nMAIw");
    ki_clock_advance_ms(&rig.clock, KI_CERTIFICATE_FILES_PERIOD_MS);
    ki_identity got = credentials_rig_identity(credentials);
    assert_string_equal(got.certificate_pem, CERTIFICATE("one"));
    assert_string_equal(got.key_pem, "-----BEGIN K-----");
    assert_int_equal(got.certificate_generation, generation);
    temp_dir_write(&rig.dir, "crt", CERTIFICATE("two"));
    ki_credentials_refused(credentials, got.generation);
    assert_string_equal(credentials_rig_identity(credentials).certificate_pem, CERTIFICATE("two"));
    ki_credentials_free(credentials);
}

static void a_certificate_that_cannot_be_used_is_an_error(void **state)
{
    (void)state;
    char expected[300];
    const char *path = temp_dir_write(&rig.dir, "crt", "s3cret");
    ki_credentials *credentials = credentials_rig_new(
        &(ki_config){.client_certificate_pem = "-----BEGIN C-----", .client_key_file = (char *)path});
    snprintf(expected, sizeof(expected), "client-key: %s: has no private key", path);
    credentials_rig_assert_fails(credentials, expected);
    ki_credentials_free(credentials);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void give_files(ki_config *config)
{
    static char *groups[] = {"a", NULL};
    *config = (ki_config){.token_file = (char *)temp_dir_write(&rig.dir, "token", "abc"),
                          .client_certificate_file = (char *)temp_dir_write(&rig.dir, "pem", CERTIFICATE("")),
                          .client_key_pem = "-----BEGIN K-----",
                          .as = "jane",
                          .as_groups = groups};
}

static void give_password(ki_config *config)
{
    *config = (ki_config){.username = "a", .password = "b"};
}

static void running_out_of_memory_anywhere_is_an_error(void **state)
{
    (void)state;
    credentials_rig_fail_each_allocation(give_files);
    credentials_rig_fail_each_allocation(give_password);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, credentials_rig_set_up, credentials_rig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_becomes_a_header),
        TEST(basic_authentication_becomes_a_header),
        TEST(without_credentials_there_is_no_header),
        TEST(impersonation_is_requested_in_headers),
        TEST(values_that_are_invalid_in_a_header_are_refused),
        TEST(a_token_file_is_read_again_each_minute),
        TEST(credentials_that_are_sent_can_be_masked),
        TEST(a_token_and_its_predecessor_can_be_masked),
        TEST(all_earlier_tokens_are_masked),
        TEST(a_refused_token_file_is_read_at_once),
        TEST(a_token_outlives_the_removal_of_its_file),
        TEST(a_missing_token_file_is_an_error),
        TEST(a_token_is_used_until_its_file_exists),
        TEST(a_token_file_that_may_not_be_read_is_logged_once),
        TEST(a_certificate_is_noticed_when_it_changes),
        TEST(a_certificate_is_named_by_its_source),
        TEST(a_certificate_stays_in_use_until_its_replacement_is_complete),
        TEST(a_certificate_that_cannot_be_used_is_an_error),
        TEST(running_out_of_memory_anywhere_is_an_error),
    };
    return RUN_TESTS(tests);
}
