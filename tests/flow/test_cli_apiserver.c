/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer apiserver`: how it ends. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"
#include "util/clock.h"

enum { END_MS = 5000, TEXT_BYTES = 4096 };

typedef struct process {
    pid_t pid;
    int out;
    unsigned port;
} process;

/* Reads until `part` has come; fails the test when the other side ends before. */
static void read_until(int fd, const char *part, char text[TEXT_BYTES])
{
    size_t len = 0;
    text[0] = '\0';
    while (strstr(text, part) == NULL) {
        ssize_t n = read(fd, text + len, TEXT_BYTES - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
    }
}

/* Whether a line of stderr has `part` when it is started with the flags; without one the line is empty. */
static int warns(const char *bind, const char *token, const char *part)
{
    char text[TEXT_BYTES] = "";
    int ends[2];
    int status = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(ends[1], STDERR_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        /* A file that is not there ends it, behind the warning. */
        execl(getenv("KI_PROGRAM"), "kinformer", "apiserver", "--port", "0", "--load", "/nowhere", "--bind",
              bind, token == NULL ? NULL : "--token", token, NULL);
        _exit(127);
    }
    close(ends[1]);
    read_until(ends[0], "/nowhere", text);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 2);
    return strstr(text, part) != NULL;
}

static void it_warns_when_others_reach_it(void **state)
{
    (void)state;
    assert_true(warns("0.0.0.0", NULL, "WARNING: without --token"));
    assert_true(warns("0.0.0.0", "secret", "WARNING: without --tls"));
    assert_false(warns("127.0.0.1", NULL, "WARNING"));
    assert_false(warns("127.1.2.3", NULL, "WARNING"));
    assert_false(warns("localhost", NULL, "WARNING"));
}

static process start(void)
{
    static const char url[] = "http://127.0.0.1:";
    process p = {0};
    char text[TEXT_BYTES];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    p.pid = fork();
    if (p.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(getenv("KI_PROGRAM"), "kinformer", "apiserver", "--port", "0", NULL);
        _exit(127);
    }
    close(ends[1]);
    p.out = ends[0];
    read_until(p.out, "get namespaces\n", text);
    p.port = (unsigned)strtoul(strstr(text, url) + sizeof(url) - 1, NULL, 10);
    return p;
}

static int open_watch(const process *p)
{
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
    char text[TEXT_BYTES];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)(void *)&address, sizeof(address)), 0);
    assert_int_equal(write(fd, request, sizeof(request) - 1), sizeof(request) - 1);
    read_until(fd, "\r\n\r\n", text);
    return fd;
}

static void expect_end(process *p, int signal_number)
{
    int status = -1;
    uint64_t begin_ms = ki_clock_now_ms(ki_clock_real());
    assert_int_equal(kill(p->pid, signal_number), 0);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    assert_true(ki_clock_now_ms(ki_clock_real()) - begin_ms < END_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(p->out);
}

static void a_signal_ends_it_at_once_whoever_watches(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        char text[TEXT_BYTES];
        process p = start();
        int fd = open_watch(&p);
        expect_end(&p, signals[i]);
        /* The client hears of it: the stream ends, or the connection does. */
        while (read(fd, text, sizeof(text)) > 0)
            ;
        close(fd);
    }
}

static void a_signal_ends_it_while_nobody_is_there(void **state)
{
    (void)state;
    process p = start();
    expect_end(&p, SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_warns_when_others_reach_it),
        cmocka_unit_test(a_signal_ends_it_at_once_whoever_watches),
        cmocka_unit_test(a_signal_ends_it_while_nobody_is_there),
    };
    return RUN_TESTS(tests);
}
