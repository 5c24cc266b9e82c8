/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"
#include "support/unit.h"

static temp_dir dir;

static int set_up(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static void assert_reads(const char *path, const char *expected)
{
    ki_file_text text = {0};
    assert_int_equal(ki_file_read(path, 1000, &text, NULL), 0);
    assert_int_equal(text.len, strlen(expected));
    assert_string_equal(text.data, expected);
    ki_file_text_fini(&text);
    assert_null(text.data);
}

static void assert_refused(const char *path, int code, const char *reason)
{
    char expected[300];
    ki_file_text text = {.len = 7};
    ki_error err = {0};
    assert_int_equal(ki_file_read(path, 1000, &text, &err), code);
    snprintf(expected, sizeof(expected), "%s: %s", path, reason);
    assert_string_equal(err.message, expected);
    assert_int_equal(text.len, 7);
}

static void a_file_is_read_whole(void **state)
{
    (void)state;
    assert_reads(temp_dir_write(&dir, "a", "hello\n"), "hello\n");
    assert_reads(temp_dir_write(&dir, "b", ""), "");
}

static void a_file_with_a_size_of_zero_is_read_to_its_end(void **state)
{
    (void)state;
    ki_file_text text = {0};
    assert_int_equal(ki_file_read("/proc/self/status", 1 << 20, &text, NULL), 0);
    assert_true(text.len > 64);
    assert_non_null(strstr(text.data, "nonvoluntary_ctxt_switches"));
    ki_file_text_fini(&text);
}

static void a_file_may_be_as_large_as_the_limit(void **state)
{
    (void)state;
    char bytes[1002];
    memset(bytes, 'x', sizeof(bytes));
    bytes[1000] = 0;
    assert_reads(temp_dir_write(&dir, "a", bytes), bytes);
    bytes[1000] = 'x';
    bytes[1001] = 0;
    assert_refused(temp_dir_write(&dir, "a", bytes), KI_ERR_TOO_LARGE, "larger than the limit of 1000 bytes");
    ki_file_text text = {0};
    assert_int_equal(ki_file_read("/proc/self/status", 100, &text, NULL), KI_ERR_TOO_LARGE);
}

static void an_empty_device_is_an_empty_file(void **state)
{
    (void)state;
    assert_reads("/dev/null", "");
    assert_refused("/dev/zero", KI_ERR_TOO_LARGE, "larger than the limit of 1000 bytes");
}

static void paths_that_are_not_files_are_refused(void **state)
{
    (void)state;
    assert_refused(temp_dir_path(&dir, "none"), KI_ERR_NOT_FOUND, "No such file or directory");
    assert_refused(dir.path, KI_ERR_SYSTEM, "Is a directory");
    const char *pipe_path = temp_dir_path(&dir, "pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_refused(pipe_path, KI_ERR_SYSTEM, "Invalid argument");
}

static void a_mark_changes_with_the_file(void **state)
{
    (void)state;
    const char *path = temp_dir_write(&dir, "a", "one");
    ki_file_mark first = ki_file_mark_of(path);
    assert_true(ki_file_mark_equal(first, ki_file_mark_of(path)));
    temp_dir_write(&dir, "a", "two");
    assert_false(ki_file_mark_equal(first, ki_file_mark_of(path)));
    assert_int_equal(unlink(path), 0);
    assert_true(ki_file_mark_equal((ki_file_mark){0}, ki_file_mark_of(path)));
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    bool has_failed = true;
    failing_allocator_install();
    for (size_t n = 1; has_failed; n++) {
        ki_file_text text = {0};
        failing_allocator_fail_at(n);
        int rc = ki_file_read("/proc/self/status", 1 << 20, &text, NULL);
        has_failed = failing_allocator_has_failed();
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        ki_file_text_fini(&text);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    failing_allocator_remove();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_read_whole),
        TEST(a_file_with_a_size_of_zero_is_read_to_its_end),
        TEST(a_file_may_be_as_large_as_the_limit),
        TEST(an_empty_device_is_an_empty_file),
        TEST(paths_that_are_not_files_are_refused),
        TEST(a_mark_changes_with_the_file),
        TEST(running_out_of_memory_is_an_error),
    };
    return RUN_TESTS(tests);
}
