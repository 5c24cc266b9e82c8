/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_openpt; NOLINT(bugprone-reserved-identifier) */
#endif
#include "credentials/exec_plugin.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/units.h"

#define V1 "client.authentication.k8s.io/v1"

#define V1BETA1 "client.authentication.k8s.io/v1beta1"

#define ANSWER_OF(version, status)                                                                           \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" version "\",\"status\":" status "}"

#define ANSWER(status) ANSWER_OF(V1, status)

/* Replaces waitpid() of the C library: a child that the kernel does not end cannot be created. */
static struct {
    int unheard; /* calls that find the child still running */
    int waits;   /* calls that would wait */
} kernel;

pid_t waitpid(pid_t pid, int *status, int options)
{
    kernel.waits += (options & WNOHANG) == 0;
    if (pid > 0 && kernel.unheard > 0) {
        kernel.unheard--;
        return 0;
    }
    return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static temp_dir dir;

static ki_clock test_clock;

static ki_loop loop;

static int has_fd; /* the loop watches descriptors; otherwise it polls */

static struct {
    int calls;
    int code;
    ki_exec_credential credential;
    ki_error err;
} ended;

static void on_end(ki_exec_credential *credential, const ki_error *err, void *user)
{
    assert_null(user);
    ended.calls++;
    ended.err = *err;
    if (credential != NULL)
        ended.credential = *credential;
}

static int set_up(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    memset(&ended, 0, sizeof(ended));
    memset(&kernel, 0, sizeof(kernel));
    ki_clock_init_virtual(&test_clock, KI_NS_PER_S, 0);
    return ki_loop_init(&loop, &(ki_loop_options){.clock = &test_clock, .with_fd = has_fd}, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    ki_exec_credential_fini(&ended.credential);
    ki_loop_fini(&loop);
    temp_dir_remove(&dir);
    return 0;
}

static ki_config_exec exec_of(const char *script)
{
    return (ki_config_exec){
        .api_version = V1,
        .command = (char *)temp_dir_script(&dir, "plugin", script),
        .interactive_mode = "Never",
    };
}

/* If descriptors are watched, no time has to pass. */
static void let_it_look(void)
{
    if (!has_fd)
        ki_clock_advance_ms(&test_clock, KI_EXEC_POLL_MS);
    ki_loop_step(&loop, 0);
}

/* Waits for the child without reaping it, and then lets the loop handle its end. */
static void finish_run(void)
{
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    let_it_look();
}

/* A killed child may still be ending. */
static void expect_no_child(void)
{
    siginfo_t info;
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        ki_clock_advance_ms(&test_clock, KI_EXEC_REAP_MS);
        ki_loop_step(&loop, 0);
        (void)poll(NULL, 0, 1);
    }
}

static void run(ki_config_exec *exec)
{
    ki_config config = {.exec = exec, .user = "jane", .server = "https://k"};
    ki_exec_plugin plugin;
    ki_error err = {0};
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    if (ki_exec_plugin_start(&plugin, &err) < 0)
        ended.err = err;
    else
        finish_run();
    ki_exec_plugin_fini(&plugin);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void assert_runs(const char *script)
{
    ki_config_exec exec = exec_of(script);
    run(&exec);
    if (ended.calls != 1 || ended.err.code != 0)
        fail_msg("%d calls; %s", ended.calls, ended.err.message);
}

/* `reason` follows the names of the plug-in and the user. */
static void assert_fails(const char *script, const char *reason)
{
    char expected[400];
    ki_config_exec exec = exec_of(script);
    exec.command = "sh";
    exec.args = (char *[]){"-c", (char *)script, NULL};
    memset(&ended, 0, sizeof(ended));
    run(&exec);
    snprintf(expected, sizeof(expected), "exec plug-in \"sh\" of user \"jane\": %s", reason);
    assert_int_equal(ended.err.code, KI_ERR_CONFIG);
    assert_string_equal(ended.err.message, expected);
    assert_null(strstr(ended.err.message, "s3cret"));
}

/* ---- responses ----------------------------------------------------------------------------------------- */

static void a_token_is_read_from_the_response(void **state)
{
    (void)state;
    assert_runs("echo '" ANSWER("{\"token\":\"a\\u0062c\"}") "'");
    assert_string_equal(ended.credential.token, "abc");
    assert_null(ended.credential.certificate_pem);
    assert_true(ended.credential.expires_s == INT64_MAX);
}

static void a_certificate_and_an_expiry_are_read_from_the_response(void **state)
{
    (void)state;
    temp_dir_write(&dir, "answer",
                   ANSWER("{\"token\":null,\"clientCertificateData\":\"a\\nb\",\"clientKeyData\":\"c\","
                          "\"expirationTimestamp\":\"1970-01-01T00:01:00Z\"}"));
    assert_runs("cat \"$(dirname \"$0\")/answer\"");
    assert_null(ended.credential.token);
    assert_string_equal(ended.credential.certificate_pem, "a\nb");
    assert_string_equal(ended.credential.key_pem, "c");
    assert_true(ended.credential.expires_s == 60);
}

static void responses_are_refused_with_a_reason_and_without_their_text(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        const char *reason;
    } cases[] = {
        {"", "its output is empty"},
        {"s3cret", "its output is not JSON"},
        {"{\"token\":\"s3cret\"", "its output is not JSON"},
        {"\"s3cret\"", "its output is not an ExecCredential"},
        {"{\"kind\":\"s3cret\"}", "its output has a kind other than ExecCredential"},
        {ANSWER_OF(V1BETA1, "{\"token\":\"s3cret\"}"), "its output has an apiVersion other than " V1},
        {ANSWER("null"), "its output has no status"},
        {ANSWER("{}"), "its output has neither a token nor a certificate"},
        {ANSWER("{\"token\":\"\"}"), "its output has neither a token nor a certificate"},
        {ANSWER("{\"token\":[\"s3cret\"]}"), "its output has a status.token that is not a string"},
        {ANSWER("{\"token\":\"s3cret\\u0000\"}"), "its output has a status.token that is not a string"},
        {ANSWER("{\"clientKeyData\":\"s3cret\"}"),
         "its output has one of clientCertificateData and clientKeyData, not both"},
        {ANSWER("{\"token\":\"s3cret\",\"expirationTimestamp\":\"s3cret\"}"),
         "its output has a status.expirationTimestamp that is not an RFC 3339 time"},
        {ANSWER("{\"token\":\"s3cret\",\"expirationTimestamp\":1}"),
         "its output has a status.expirationTimestamp that is not a string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_exec_credential credential = {.expires_s = 7};
        ki_error err = {0};
        assert_int_equal(ki_exec_credential_parse(ki_str_of(cases[i].answer), V1, &credential, &err),
                         KI_ERR_CONFIG);
        assert_string_equal(err.message, cases[i].reason);
        assert_true(credential.expires_s == 7);
    }
}

/* ---- failures ------------------------------------------------------------------------------------------ */

static void a_failure_shows_the_exit_code_and_the_last_line(void **state)
{
    (void)state;
    assert_fails("exit 7", "ended with code 7");
    assert_fails("printf 'one\\n  two \\n\\n' >&2; exit 1", "ended with code 1:   two");
    assert_fails("kill -9 $$", "ended by signal 9");
    assert_fails("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 2",
                 "ended with code 2: line 2999");
    assert_fails("echo s3cret; exit 4", "ended with code 4");
    assert_fails("echo s3cret", "its output is not JSON");
}

static void secrets_are_masked_in_the_last_line(void **state)
{
    (void)state;
    ki_config_pair env[] = {{"CLIENT_SECRET", "hunter2-hunter2"}};
    ki_config_exec exec = exec_of("echo \"no such client: $CLIENT_SECRET\" >&2; exit 3");
    exec.env = env;
    exec.env_count = 1;
    run(&exec);
    assert_non_null(strstr(ended.err.message, "ended with code 3: no such client: <masked>"));
    assert_null(strstr(ended.err.message, "hunter2"));
    ki_config_pair odd[] = {{"CLIENT_SECRET", "hunter/2\"hunter"}};
    exec = exec_of(
        "echo '{\"url\":\"/?s=hunter%2F2%22hunter\",\"s\":\"hunter\\u002f2\\\"hunter\"}' >&2; exit 3");
    exec.env = odd;
    exec.env_count = 1;
    run(&exec);
    assert_non_null(strstr(ended.err.message, "{\"url\":\"/?s=<masked>\",\"s\":\"<masked>\"}"));
}

/* Only the end of a long line is kept, and it may begin within a secret. */
static void a_last_line_without_its_beginning_is_not_shown(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *shown;
    } cases[] = {{"yes hunter2-hunter2 | head -n 2000 | tr '\\n' ' ' >&2; exit 3", "ended with code 3"},
                 {"yes hunter2-hunter2 | head -n 2000 >&2; echo bye >&2; exit 3", "ended with code 3: bye"}};
    ki_config_pair env[] = {{"CLIENT_SECRET", "hunter2-hunter2"}};
    for (int i = 0; i < 2; i++) {
        ki_config_exec exec = exec_of(cases[i].script);
        exec.env = env;
        exec.env_count = 1;
        run(&exec);
        const char *found = strstr(ended.err.message, "ended with");
        assert_non_null(found);
        assert_string_equal(found, cases[i].shown);
    }
}

static void an_endless_response_is_cut_off(void **state)
{
    (void)state;
    /* Nothing waits for its end: the pipe is full, and the loop checks repeatedly. */
    ki_config_exec exec = exec_of("while :; do echo s3cret s3cret s3cret s3cret s3cret; done");
    ki_config config = {.exec = &exec, .user = "jane"};
    ki_exec_plugin plugin;
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    assert_int_equal(ki_exec_plugin_start(&plugin, NULL), 0);
    while (ended.calls == 0) {
        plugin.deadline_ns = UINT64_MAX;
        let_it_look();
    }
    assert_non_null(strstr(ended.err.message, "its output is too large"));
    expect_no_child();
    ki_exec_plugin_fini(&plugin);
}

static void a_plug_in_that_takes_too_long_is_killed(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("sleep 600; :");
    exec.install_hint = "have patience";
    ki_config config = {.exec = &exec, .user = "jane"};
    ki_exec_plugin plugin;
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    assert_int_equal(ki_exec_plugin_start(&plugin, NULL), 0);
    ki_clock_advance_ms(&test_clock, KI_EXEC_LIMIT_MS - 1);
    ki_loop_step(&loop, 0);
    assert_int_equal(ended.calls, 0);
    ki_clock_advance_ms(&test_clock, KI_EXEC_POLL_MS);
    ki_loop_step(&loop, 0);
    assert_int_equal(ended.calls, 1);
    assert_non_null(strstr(ended.err.message, "timed out after 60 s; have patience"));
    expect_no_child();
    ki_exec_plugin_fini(&plugin);
}

static void nothing_waits_for_a_child_that_does_not_end_when_killed(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("sleep 600; :");
    ki_config config = {.exec = &exec, .user = "jane"};
    ki_exec_plugin plugin;
    siginfo_t info;
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    assert_int_equal(ki_exec_plugin_start(&plugin, NULL), 0);
    kernel.unheard = INT_MAX;
    ki_clock_advance_ms(&test_clock, KI_EXEC_LIMIT_MS + KI_EXEC_POLL_MS);
    ki_loop_step(&loop, 0);
    assert_int_equal(ended.calls, 1);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    ki_clock_advance_ms(&test_clock, KI_EXEC_REAP_MS);
    ki_loop_step(&loop, 0);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    kernel.unheard = 0;
    ki_clock_advance_ms(&test_clock, KI_EXEC_REAP_MS);
    ki_loop_step(&loop, 0);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), -1);
    ki_exec_plugin_fini(&plugin);
    assert_int_equal(kernel.waits, 0);
}

static void a_program_that_cannot_be_started_is_reported_with_a_reason(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("");
    exec.command = "/nowhere/plug";
    exec.install_hint = "try this";
    run(&exec);
    assert_string_equal(
        ended.err.message,
        "exec plug-in \"/nowhere/plug\" of user \"jane\": No such file or directory; try this");
    exec.command = (char *)temp_dir_write(&dir, "data", "");
    exec.install_hint = NULL;
    run(&exec);
    assert_non_null(strstr(ended.err.message, ": Permission denied"));
}

static void an_interactive_plug_in_needs_a_terminal(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("exit 0");
    exec.interactive_mode = "Always";
    int before = dup(STDIN_FILENO);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(null, STDIN_FILENO), STDIN_FILENO);
    run(&exec);
    assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
    close(null);
    assert_int_equal(ended.calls, 0);
    assert_non_null(
        strstr(ended.err.message, "it is always interactive, and standard input is not a terminal"));
}

/* Returns a terminal that can replace standard input; *out_other is its other end. */
static int open_terminal(int *out_other)
{
    int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(other >= 0);
    assert_int_equal(grantpt(other), 0);
    assert_int_equal(unlockpt(other), 0);
    int terminal = open(ptsname(other), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    *out_other = other;
    return terminal;
}

static void with_a_terminal_it_depends_on_the_mode(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        const char *seen;
    } cases[] = {{"Never", "no"}, {"IfAvailable", "terminal"}, {"Always", "terminal"}};
    int other = -1;
    int before = dup(STDIN_FILENO);
    int terminal = open_terminal(&other);
    assert_int_equal(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_config_exec exec =
            exec_of("case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) says=1;; *) says=0;; esac\n"
                    "if [ -t 0 ] && [ $says = 1 ]; then seen=terminal; "
                    "elif [ ! -t 0 ] && [ $says = 0 ]; then seen=no; else seen=mixed; fi\n"
                    "printf %s $seen >\"$0.out\"\n"
                    "echo '" ANSWER("{\"token\":\"t\"}") "'");
        exec.interactive_mode = (char *)(uintptr_t)cases[i].mode;
        run(&exec);
        assert_string_equal(temp_dir_read(&dir, "plugin.out"), cases[i].seen);
        ki_exec_credential_fini(&ended.credential);
        ended.credential = (ki_exec_credential){0};
    }
    assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
    close(terminal);
    close(other);
}

/* ---- the child's environment --------------------------------------------------------------------------- */

static void arguments_and_environment_reach_the_plug_in(void **state)
{
    (void)state;
    ki_config_exec exec =
        exec_of("printf '%s|' \"$@\" \"$A\" \"$HOME\" \"$KUBERNETES_EXEC_INFO\" >\"$0.out\"\n"
                "echo '" ANSWER("{\"token\":\"t\"}") "'");
    exec.args = (char *[]){"a b", "", NULL};
    exec.env = (ki_config_pair[]){{"A", "first"}, {"A", "x=y"}, {"HOME", "/other"}};
    exec.env_count = 3;
    run(&exec);
    assert_int_equal(ended.err.code, 0);
    assert_string_equal(temp_dir_read(&dir, "plugin.out"),
                        "a b||x=y|/other|{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                        "\",\"spec\":{\"interactive\":false}}|");
}

static void the_child_has_a_clean_mask_and_default_handlers(void **state)
{
    (void)state;
    sigset_t all, before;
    sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
    struct sigaction ignored = {.sa_handler = SIG_IGN}, old;
    assert_int_equal(sigaction(SIGPIPE, &ignored, &old), 0);
    /* Read by the shell itself: while it waits for a child, it may block signals. */
    ki_config_exec exec = exec_of("while read -r line; do case $line in Sig*) echo \"$line\";; esac; done "
                                  "</proc/self/status >\"$0.out\"\n"
                                  "echo '" ANSWER("{\"token\":\"t\"}") "'");
    run(&exec);
    assert_int_equal(sigaction(SIGPIPE, &old, NULL), 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_non_null(strstr(temp_dir_read(&dir, "plugin.out"), "SigBlk:\t0000000000000000"));
    /* Signals above 31 belong to the C library and the emulator. */
    const char *masked = strstr(temp_dir_read(&dir, "plugin.out"), "SigIgn:\t");
    assert_non_null(masked);
    assert_int_equal(strtoull(masked + strlen("SigIgn:\t"), NULL, 16) & 0x7fffffff, 0);
}

static void the_child_has_none_of_our_descriptors(void **state)
{
    (void)state;
    int ours = open("/dev/null", O_RDONLY); /* not close-on-exec, as in a careless program */
    int high = fcntl(ours, F_DUPFD, 100);
    ki_config_exec exec = exec_of("test -e /proc/self/fd/100 && echo leaked >\"$0.out\"\n"
                                  "readlink /proc/self/fd/0 >>\"$0.out\"\n"
                                  "echo '" ANSWER("{\"token\":\"t\"}") "'");
    assert_true(high >= 100);
    run(&exec);
    close(ours);
    close(high);
    assert_string_equal(temp_dir_read(&dir, "plugin.out"), "/dev/null\n");
}

static void closed_standard_descriptors_do_no_harm(void **state)
{
    (void)state;
    int before = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    ki_config_exec exec = exec_of("echo '" ANSWER("{\"token\":\"t\"}") "'");
    run(&exec);
    assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
    assert_int_equal(ended.err.code, 0);
    assert_string_equal(ended.credential.token, "t");
}

static void nothing_waits_for_a_grandchild_that_keeps_the_output_open(void **state)
{
    (void)state;
    assert_runs("sleep 5 &\necho '" ANSWER("{\"token\":\"t\"}") "'");
    assert_string_equal(ended.credential.token, "t");
}

static void an_exit_status_discarded_by_the_program_is_not_needed(void **state)
{
    (void)state;
    struct sigaction ignored = {.sa_handler = SIG_IGN}, old;
    ki_config_exec exec = exec_of("echo '" ANSWER("{\"token\":\"t\"}") "'");
    ki_config config = {.exec = &exec};
    ki_exec_plugin plugin;
    assert_int_equal(sigaction(SIGCHLD, &ignored, &old), 0);
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    assert_int_equal(ki_exec_plugin_start(&plugin, NULL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED), -1); /* returns when the last child is gone */
    ki_clock_advance_ms(&test_clock, KI_EXEC_POLL_MS);      /* perhaps it ended before it could be watched */
    ki_loop_step(&loop, 0);
    assert_int_equal(sigaction(SIGCHLD, &old, NULL), 0);
    assert_int_equal(ended.err.code, 0);
    assert_string_equal(ended.credential.token, "t");
    ki_exec_plugin_fini(&plugin);
}

/* A thread that waits for the plug-in sleeps until something happens. */
static void nothing_is_polled_while_nothing_happens(void **state)
{
    (void)state;
    ki_config_exec exec = exec_of("echo one; sleep 600; :");
    ki_config config = {.exec = &exec};
    ki_exec_plugin plugin;
    assert_int_equal(ki_exec_plugin_init(&plugin, &config, &loop), 0);
    plugin.on_end = on_end;
    assert_int_equal(ki_exec_plugin_start(&plugin, NULL), 0);
    if (plugin.process.pid_fd >= 0) {
        struct pollfd polled = {.fd = ki_loop_fd(&loop), .events = POLLIN};
        assert_int_equal(ki_loop_next_ns(&loop), plugin.deadline_ns);
        while (plugin.process.output_len < strlen("one\n")) {
            assert_int_equal(poll(&polled, 1, 30 * 1000), 1);
            ki_loop_step(&loop, 0);
        }
        assert_int_equal(ki_loop_next_ns(&loop), plugin.deadline_ns);
        assert_int_equal(poll(&polled, 1, 0), 0);
    }
    ki_exec_plugin_fini(&plugin);
    assert_int_equal(loop.armed_count, 0);
    assert_int_equal(ended.calls, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_is_read_from_the_response),
        TEST(a_certificate_and_an_expiry_are_read_from_the_response),
        TEST(responses_are_refused_with_a_reason_and_without_their_text),
        TEST(a_failure_shows_the_exit_code_and_the_last_line),
        TEST(secrets_are_masked_in_the_last_line),
        TEST(a_last_line_without_its_beginning_is_not_shown),
        TEST(an_endless_response_is_cut_off),
        TEST(a_plug_in_that_takes_too_long_is_killed),
        TEST(nothing_waits_for_a_child_that_does_not_end_when_killed),
        TEST(a_program_that_cannot_be_started_is_reported_with_a_reason),
        TEST(an_interactive_plug_in_needs_a_terminal),
        TEST(with_a_terminal_it_depends_on_the_mode),
        TEST(arguments_and_environment_reach_the_plug_in),
        TEST(the_child_has_a_clean_mask_and_default_handlers),
        TEST(the_child_has_none_of_our_descriptors),
        TEST(closed_standard_descriptors_do_no_harm),
        TEST(nothing_waits_for_a_grandchild_that_keeps_the_output_open),
        TEST(an_exit_status_discarded_by_the_program_is_not_needed),
    };
    const struct CMUnitTest watched[] = {TEST(nothing_is_polled_while_nothing_happens)};
    int failures = RUN_TESTS(tests);
    has_fd = 1;
    return failures + RUN_TESTS(tests) + RUN_TESTS(watched);
}
