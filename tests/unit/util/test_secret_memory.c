/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of secrets in memory that was given back. */
#include <fcntl.h>
#include <inttypes.h>
#include <kinformer/config.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/credentials_rig.h"
#include "support/unit.h"

/* ---- looking for it ------------------------------------------------------------------------------------ */

/* The secret itself stands nowhere in the program: it is made byte by byte. Its second half is looked for:
 * allocators write over the beginning of what they take back. */
enum { SECRET_BYTES = 48, SOUGHT_FROM = 24 };

static char secret_byte(size_t i)
{
    return (char)('A' + (i * 7 + i / 5 * 3) % 26);
}

/* Reads what an allocator has taken back. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNCHECKED __attribute__((no_sanitize("address")))
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define UNCHECKED __attribute__((no_sanitize_address))
#endif
#ifndef UNCHECKED
#define UNCHECKED
#endif

UNCHECKED static size_t count_in(const volatile char *at, const volatile char *end)
{
    const char first = secret_byte(SOUGHT_FROM);
    size_t found = 0;
    for (; end - at >= SECRET_BYTES - SOUGHT_FROM; at++) {
        size_t n = SOUGHT_FROM;
        if (*at != first)
            continue;
        while (n < SECRET_BYTES && at[n - SOUGHT_FROM] == secret_byte(n))
            n++;
        found += n == SECRET_BYTES;
    }
    return found;
}

/* In all that can be written to, but for what is too large to be anything but a sanitizer's own. */
static size_t count_everywhere(void)
{
    const uintptr_t large = (uintptr_t)64 << 20;
    char line[512], rights[8];
    size_t found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        uintptr_t begin = 0, end = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, rights) == 3 &&
            strncmp(rights, "rw-p", 4) == 0 && end - begin <= large)
            found += count_in((const volatile char *)begin, (const volatile char *)end);
    }
    fclose(maps);
    return found;
}

/* ---- the files ----------------------------------------------------------------------------------------- */

static char path[64];
static char text[4096]; /* wiped when it is written */

static void append(const char *part)
{
    strcat(text, part);
}

static void append_secret(void)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < SECRET_BYTES; i++)
        text[len++] = secret_byte(i);
    text[len] = 0;
}

static void write_file(void)
{
    strcpy(path, "/tmp/kinformer-test-XXXXXX");
    int fd = mkstemp(path);
    size_t len = strlen(text);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    close(fd);
    explicit_bzero(text, sizeof(text));
}

#define HEAD                                                                                                 \
    "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"                            \
    "clusters: [{name: k, cluster: {server: https://k}}]\nusers:\n- name: u\n  user:\n"

static void expect_none_left(const char *before, const char *behind)
{
    ki_error err = {0};
    append(HEAD);
    append(before);
    append_secret();
    append(behind);
    write_file();
    assert_int_equal(count_everywhere(), 0);
    ki_config *config = ki_config_new(&(ki_client_options){.kubeconfig = path}, &err);
    unlink(path);
    if (config != NULL)
        assert_true(count_everywhere() >= 1); /* so it can be found */
    ki_config_free(config);
    assert_int_equal(count_everywhere(), 0);
}

static void nothing_of_a_token_is_left(void **state)
{
    (void)state;
    expect_none_left("    token: ", "\n");
    expect_none_left("    token: \"", "\"\n");
    expect_none_left("    username: jane\n    password: '", "'\n");
}

/* But for one that is not ended: libyaml frees it before anyone else sees it. */
static void nor_of_one_in_a_text_that_is_wrong(void **state)
{
    (void)state;
    expect_none_left("    token: ", "\n  wrong: [\n");
    expect_none_left("    token: &x ", "\n    token: *x\n");
    expect_none_left("    token: [", ", {\n");
    expect_none_left("    ? ", "\n    : [\n");
    expect_none_left("    token: !x\n      ", ": scanned ahead\n");
}

/* Of clients that have not sent anything: what libcurl keeps of a request, it frees as it is. */
static void nor_in_clients_that_are_freed(void **state)
{
    (void)state;
    char token[SECRET_BYTES + 1] = "";
    ki_error err = {0};
    for (size_t i = 0; i < SECRET_BYTES; i++)
        token[i] = secret_byte(i);
    ki_client_options all[] = {{.server = "https://k", .token = token},
                               {.server = "https://k", .username = "jane", .password = token},
                               {.server = "https://k"},
                               {.server = "http://k", .token = token}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        ki_client *client = ki_client_new(&all[i], &err);
        assert_non_null(client);
        if (i == 2)
            assert_int_equal(ki_client_set_token(client, token), 0);
        ki_client_free(client);
    }
    explicit_bzero(token, sizeof(token));
    assert_int_equal(count_everywhere(), 0);
}

static void nor_of_one_in_a_file(void **state)
{
    (void)state;
    append_secret();
    append("\n");
    write_file();
    ki_client_options options = {.server = "https://k", .token_file = path};
    ki_config *config = ki_config_new(&options, NULL);
    assert_non_null(config);
    assert_true(count_everywhere() >= 1);
    ki_client *client = ki_client_new(&(ki_client_options){.config = config}, NULL);
    assert_non_null(client);
    ki_config_free(config);
    ki_client_free(client);
    assert_int_equal(count_everywhere(), 0);
    ki_credentials *credentials = credentials_rig_new(&(ki_config){.token_file = path});
    (void)credentials_rig_identity(credentials);
    ki_credentials_free(credentials);
    unlink(path);
    assert_int_equal(count_everywhere(), 0);
}

/* Neither of the token nor of the key, which the plug-in prints as JSON. Blanks follow, because the last
 * bytes of a text or an object are copied to the stack when it is scanned. */
#define BLANKS "                                                                "
static void nor_of_one_that_a_plug_in_gives(void **state)
{
    (void)state;
    static const char *const members[] = {"\"token\":\"",
                                          "\"clientCertificateData\":\"c\",\"clientKeyData\":\""};
    for (int i = 0; i < 2; i++) {
        char script[128];
        append(
            "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{");
        append(members[i]);
        append_secret();
        append("\"" BLANKS "}" BLANKS "}" BLANKS);
        write_file();
        snprintf(script, sizeof(script), "cat %s", path);
        ki_config_exec exec = {.api_version = "client.authentication.k8s.io/v1",
                               .command = (char *)(uintptr_t)temp_dir_script(&rig.dir, "plugin", script),
                               .interactive_mode = "Never"};
        ki_identity got;
        ki_credentials *credentials = credentials_rig_new(&(ki_config){.exec = &exec});
        assert_int_equal(ki_credentials_get(credentials, &rig.waiter, &got, NULL), 1);
        credentials_rig_finish_run();
        got = credentials_rig_identity(credentials);
        assert_true(count_everywhere() >= 1);
        ki_credentials_free(credentials);
        unlink(path);
        assert_int_equal(count_everywhere(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_a_token_is_left),
        cmocka_unit_test(nor_of_one_in_a_text_that_is_wrong),
        cmocka_unit_test(nor_in_clients_that_are_freed),
        cmocka_unit_test_setup_teardown(nor_of_one_in_a_file, credentials_rig_set_up,
                                        credentials_rig_tear_down),
        cmocka_unit_test_setup_teardown(nor_of_one_that_a_plug_in_gives, credentials_rig_set_up,
                                        credentials_rig_tear_down),
    };
    return RUN_TESTS(tests);
}
