/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a kubeconfig's secrets in memory that was given back. */
#include <fcntl.h>
#include <inttypes.h>
#include <kinformer/config.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

/* ---- looking for it ------------------------------------------------------------------------------------ */

/* The secret itself stands nowhere in the program: it is made byte by byte. */
enum { SECRET_BYTES = 48 };

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
    size_t found = 0;
    for (; end - at >= SECRET_BYTES; at++) {
        size_t n = 0;
        while (n < SECRET_BYTES && at[n] == secret_byte(n))
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

static void nor_of_one_in_a_text_that_is_wrong(void **state)
{
    (void)state;
    expect_none_left("    token: ", "\n  wrong: [\n");
    expect_none_left("    token: &x ", "\n    token: *x\n");
    expect_none_left("    token: [", ", {\n");
    expect_none_left("    token: \"", "\n");
    expect_none_left("    ? ", "\n    : [\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_a_token_is_left),
        cmocka_unit_test(nor_of_one_in_a_text_that_is_wrong),
        cmocka_unit_test(nor_in_clients_that_are_freed),
    };
    return RUN_TESTS(tests);
}
