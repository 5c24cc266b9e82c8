/* SPDX-License-Identifier: Apache-2.0 */
/* How text is written to stdout, and what happens if it is not read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_openpt; NOLINT(bugprone-reserved-identifier) */
#endif
#include <errno.h>
#include <fcntl.h>
#include <kinformer/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/failure.h"
#include "cli/output.h"
#include "support/unit.h"

static cli_output output;
static int has_stopped;

static int is_stopped(void)
{
    return has_stopped;
}

/* A pipe to which the output is written; `is_blocking` 0: writing to a full pipe fails. */
static int open_pipe(int fds[2], int is_blocking)
{
    has_stopped = 0;
    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 2 && !is_blocking; i++)
        assert_int_equal(fcntl(fds[i], F_SETFL, O_NONBLOCK), 0);
    cli_output_init(&output, fds[1], is_stopped);
    return fds[0];
}

static void close_pipe(const int fds[2])
{
    if (fds[0] >= 0)
        close(fds[0]);
    close(fds[1]);
}

static size_t read_some(int fd, char *buffer, size_t bytes)
{
    ssize_t n = read(fd, buffer, bytes - 1);
    if (n < 0)
        n = 0;
    buffer[n] = 0;
    return (size_t)n;
}

static void text_is_buffered_until_it_is_flushed(void **state)
{
    (void)state;
    int fds[2];
    char text[64];
    int reader = open_pipe(fds, 0);
    cli_output_put_text(&output, "a");
    cli_output_put_number(&output, UINT64_MAX);
    assert_int_equal(read_some(reader, text, sizeof(text)), 0);
    cli_output_flush(&output);
    (void)read_some(reader, text, sizeof(text));
    assert_string_equal(text, "a18446744073709551615");
    cli_output_flush(&output);
    assert_int_equal(read_some(reader, text, sizeof(text)), 0);
    close_pipe(fds);
}

static void text_larger_than_the_buffer_is_written_in_order(void **state)
{
    (void)state;
    enum { BYTES = 3 * CLI_OUTPUT_BYTES };
    char path[] = "/tmp/test_cli_output.XXXXXX";
    int fd = mkstemp(path);
    char *text = malloc(BYTES);
    assert_true(fd >= 0 && text != NULL);
    memset(text, 'x', BYTES);
    cli_output_init(&output, fd, NULL);
    cli_output_put_text(&output, "begin ");
    cli_output_put(&output, (ki_str){text, BYTES});
    cli_output_put_text(&output, " end");
    cli_output_flush(&output);
    assert_int_equal(lseek(fd, 0, SEEK_END), BYTES + 10);
    assert_int_equal(pread(fd, text, 7, 0), 7);
    assert_memory_equal(text, "begin x", 7);
    assert_int_equal(pread(fd, text, 5, BYTES + 5), 5);
    assert_memory_equal(text, "x end", 5);
    free(text);
    close(fd);
    unlink(path);
}

static void a_reader_that_has_gone_closes_the_output(void **state)
{
    (void)state;
    int fds[2];
    (void)open_pipe(fds, 1);
    assert_int_equal(cli_output_is_closed(&output), 0);
    close(fds[0]);
    fds[0] = -1;
    assert_int_equal(cli_output_is_closed(&output), 1);
    cli_output_init(&output, fds[1], NULL);
    cli_output_put_text(&output, "x");
    cli_output_flush(&output);
    assert_int_equal(output.state, CLI_OUTPUT_CLOSED);
    cli_output_put_text(&output, "more");
    cli_output_flush(&output);
    assert_int_equal(output.state, CLI_OUTPUT_CLOSED);
    close_pipe(fds);
}

static void a_descriptor_that_is_not_open_for_writing_counts_as_closed(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY);
    cli_output_init(&output, fd, NULL);
    cli_output_put_text(&output, "x");
    cli_output_flush(&output);
    assert_int_equal(output.state, CLI_OUTPUT_CLOSED);
    close(fd);
}

static void a_full_disk_is_a_failure_with_its_reason(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    cli_output_init(&output, fd, NULL);
    cli_output_put_text(&output, "x");
    cli_output_flush(&output);
    assert_int_equal(output.state, CLI_OUTPUT_FAILED);
    assert_int_equal(output.error, ENOSPC);
    close(fd);
}

static void the_end_does_not_wait_for_a_reader_that_does_not_read(void **state)
{
    (void)state;
    int fds[2];
    char *text = calloc(1, 1 << 20);
    (void)open_pipe(fds, 0);
    has_stopped = 1;
    cli_output_put(&output, (ki_str){text, 1 << 20});
    cli_output_flush(&output);
    assert_int_equal(output.state, CLI_OUTPUT_STOPPED);
    free(text);
    close_pipe(fds);
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static void expect_json(const char *text, size_t n, const char *expected)
{
    int fds[2];
    char written[256];
    int reader = open_pipe(fds, 0);
    cli_output_put_json_string(&output, (ki_str){text, n});
    cli_output_flush(&output);
    size_t length = read_some(reader, written, sizeof(written));
    assert_string_equal(written, expected);
    assert_int_equal(ki_json_validate((ki_str){written, length}, NULL), 0);
    close_pipe(fds);
}

static void strings_are_escaped_as_json(void **state)
{
    (void)state;
    expect_json("", 0, "\"\"");
    expect_json("a\"b\\c\n\t\x01", 8, "\"a\\\"b\\\\c\\n\\t\\u0001\"");
    expect_json("\0", 1, "\"\\u0000\"");
    expect_json("\x7f\xc2\x80\xc2\x9f\xc2\xa0", 7, "\"\\u007f\\u0080\\u009f\xc2\xa0\"");
    expect_json("\xd8\x9c\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa6", 14,
                "\"\\u061c\\u200f\\u202e\\u2066\xe2\x80\xa6\"");
    expect_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void invalid_utf8_is_replaced(void **state)
{
    (void)state;
    expect_json("a\xff", 2, "\"a\xef\xbf\xbd\"");
    expect_json("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_json("\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_json("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_json("\xf4\x90\x80\x80x", 5, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"");
    expect_json("\xf5\x80\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* Only a terminal is protected: a file gets what the server wrote. */
static void a_terminal_is_known_by_its_descriptor(void **state)
{
    (void)state;
    static const char steering[] = "\"\xc2\x9b\xe2\x80\xae\"", harmless[] = "\"\\u009b\\u202e\"";
    int fds[2];
    char text[64] = "";
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int end = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    cli_output_init(&output, end, NULL);
    cli_output_put_json(&output, ki_str_of(steering));
    cli_output_flush(&output);
    assert_int_equal(read(terminal, text, sizeof(text) - 1), strlen(harmless));
    assert_string_equal(text, harmless);
    close(end);
    close(terminal);
    open_pipe(fds, 1);
    cli_output_put_json(&output, ki_str_of(steering));
    cli_output_flush(&output);
    memset(text, 0, sizeof(text));
    assert_int_equal(read(fds[0], text, sizeof(text) - 1), strlen(steering));
    assert_string_equal(text, steering);
    close(fds[0]);
    close(fds[1]);
}

static void messages_on_stderr_do_not_control_a_terminal(void **state)
{
    (void)state;
    char text[128] = "";
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    cli_say("%s", "a\nb\x1b[2J\x7f\xc2\x9b\xd8\x9c\xe2\x80\xae\xe2\x81\xa9\xc3\xa9");
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "kinformer: a?b?[2J?????\xc3\xa9\n");
    close(before);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_buffered_until_it_is_flushed),
        cmocka_unit_test(text_larger_than_the_buffer_is_written_in_order),
        cmocka_unit_test(a_reader_that_has_gone_closes_the_output),
        cmocka_unit_test(a_descriptor_that_is_not_open_for_writing_counts_as_closed),
        cmocka_unit_test(a_full_disk_is_a_failure_with_its_reason),
        cmocka_unit_test(the_end_does_not_wait_for_a_reader_that_does_not_read),
        cmocka_unit_test(strings_are_escaped_as_json),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(a_terminal_is_known_by_its_descriptor),
        cmocka_unit_test(messages_on_stderr_do_not_control_a_terminal),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
