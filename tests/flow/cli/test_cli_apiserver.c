/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer apiserver`: what it loads, how it ends. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/patience.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/clock.h"

enum { TEXT_BYTES = 4096 };

typedef struct process {
    pid_t pid;
    int out;
    unsigned port;
} process;

/* Reads until `part` has arrived; fails the test if the other side ends before. */
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

/* Whether stderr has a line with `part` when the program is started with these flags;
 * without a warning the line is empty. */
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
        /* A missing file ends the program, after the warning. */
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

static void it_warns_when_it_is_reachable_from_outside(void **state)
{
    (void)state;
    assert_true(warns("0.0.0.0", NULL, "WARNING: without --token"));
    assert_true(warns("0.0.0.0", "secret", "WARNING: without --tls"));
    assert_false(warns("127.0.0.1", NULL, "WARNING"));
    assert_false(warns("127.1.2.3", NULL, "WARNING"));
    assert_false(warns("localhost", NULL, "WARNING"));
}

/* `fd` is 1 or 2: the output that is read. `path` NULL: nothing is loaded. `port` "0": any. */
static process run(int fd, const char *path, const char *port)
{
    process p = {.port = (unsigned)strtoul(port, NULL, 10)};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    p.pid = fork();
    if (p.pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* otherwise nothing would end it if a check fails */
        dup2(ends[1], fd);
        /* The replicas of the one Deployment that a test loads become available. */
        execl(getenv("KI_PROGRAM"), "kinformer", "apiserver", "--port", port, "--simulate", "deployments",
              path == NULL ? NULL : "--load", path, NULL);
        _exit(127);
    }
    close(ends[1]);
    p.out = ends[0];
    return p;
}

static unsigned port_of(const char *text)
{
    static const char url[] = "http://127.0.0.1:";
    return (unsigned)strtoul(strstr(text, url) + sizeof(url) - 1, NULL, 10);
}

static process start(void)
{
    char text[TEXT_BYTES];
    process p = run(STDOUT_FILENO, NULL, "0");
    read_until(p.out, "get namespaces\n", text);
    p.port = port_of(text);
    return p;
}

/* Returns -1 if the connection is refused. */
static int try_connect(const process *p)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)(void *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_watch(const process *p)
{
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[TEXT_BYTES];
    int fd = try_connect(p);
    assert_int_not_equal(fd, -1);
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
    assert_true(ki_clock_now_ms(ki_clock_real()) - begin_ms < AT_ONCE_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(p->out);
}

static void a_signal_ends_it_at_once_despite_watches(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        char text[TEXT_BYTES];
        process p = start();
        int fd = open_watch(&p);
        expect_end(&p, signals[i]);
        /* The client notices: the stream ends, or the connection does. */
        while (read(fd, text, sizeof(text)) > 0)
            ;
        close(fd);
    }
}

static void a_signal_ends_it_without_clients(void **state)
{
    (void)state;
    process p = start();
    expect_end(&p, SIGTERM);
}

static void it_prints_what_it_has_loaded(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    temp_dir dir;
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "a.yaml",
                         "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: team}\n");
    (void)temp_dir_write(&dir, "b/c.yaml",
                         "kind: Namespace\napiVersion: v1\nmetadata: {name: team}\n---\nkind: ConfigMap\n"
                         "apiVersion: v1\nmetadata: {name: b}\n");
    process p = run(STDOUT_FILENO, dir.path, "0");
    read_until(p.out, "get namespaces\n", text);
    assert_non_null(strstr(text, "loaded 3 objects of 2 files from "));
    expect_end(&p, SIGTERM);
    temp_dir_remove(&dir);
}

/* A file with this many config maps. */
static const char *write_maps(temp_dir *dir, size_t count)
{
    enum { MAP_BYTES = 100 };
    char *yaml = malloc(count * MAP_BYTES);
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(yaml + len, MAP_BYTES,
                                "kind: ConfigMap\napiVersion: v1\nmetadata: {name: map-%zu}\n---\n", i);
    const char *path = temp_dir_write(dir, "maps.yaml", yaml);
    free(yaml);
    return path;
}

/* A port that was free a moment ago. */
static void find_port(char out[8])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)(void *)&address, bytes), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&address, &bytes), 0);
    snprintf(out, 8, "%u", (unsigned)ntohs(address.sin_port));
    close(fd);
}

static void clients_find_everything_that_was_loaded(void **state)
{
    (void)state;
    static const char request[] =
        "GET /api/v1/configmaps?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char text[TEXT_BYTES];
    char port[8];
    int fd = -1;
    temp_dir dir;
    temp_dir_make(&dir);
    find_port(port);
    process p = run(STDOUT_FILENO, write_maps(&dir, 5000), port);
    while (fd < 0 && waitpid(p.pid, NULL, WNOHANG) == 0)
        fd = try_connect(&p);
    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, request, sizeof(request) - 1), sizeof(request) - 1);
    read_until(fd, "\"remainingItemCount\":4999", text);
    close(fd);
    expect_end(&p, SIGTERM);
    temp_dir_remove(&dir);
}

/* Whether the whole response contains `part`. */
static int says(const process *p, const char *request, const char *part)
{
    char text[TEXT_BYTES] = "";
    size_t len = 0;
    ssize_t n = 0;
    int fd = try_connect(p);
    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
    while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    close(fd);
    return strstr(text, part) != NULL;
}

static void replicas_become_available_when_they_are_simulated(void **state)
{
    (void)state;
    static const char request[] = "GET /apis/apps/v1/namespaces/default/deployments/web HTTP/1.1\r\n"
                                  "Host: localhost\r\nConnection: close\r\n\r\n";
    char text[TEXT_BYTES];
    temp_dir dir;
    temp_dir_make(&dir);
    process p = run(STDOUT_FILENO,
                    temp_dir_write(&dir, "web.yaml",
                                   "{kind: Deployment, apiVersion: apps/v1, metadata: {name: web},"
                                   " spec: {replicas: 2, selector: {matchLabels: {app: web}},"
                                   " template: {metadata: {labels: {app: web}},"
                                   " spec: {containers: [{name: c, image: i}]}}}}\n"),
                    "0");
    read_until(p.out, "get namespaces\n", text);
    p.port = port_of(text);
    uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!says(&p, request, "\"availableReplicas\":2") && ki_clock_now_ms(ki_clock_real()) < until_ms)
        continue;
    assert_true(says(&p, request, "\"availableReplicas\":2"));
    expect_end(&p, SIGTERM);
    temp_dir_remove(&dir);
}

/* A kind that is not served ends the program, so that no client waits for it. */
static void it_warns_about_unknown_fields(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    temp_dir dir;
    temp_dir_make(&dir);
    (void)temp_dir_write(
        &dir, "a.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\nspce: {a: 1}\n---\n"
        "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: p}\n"
        "  spec: {nodeNam: n1, containers: [{name: c, image: i, imag: j}]}\n---\n"
        "kind: Nothing\napiVersion: v1\n");
    process p = run(STDERR_FILENO, dir.path, "0");
    read_until(p.out, "no kind \"Nothing\"", text);
    assert_non_null(strstr(text, "WARNING: "));
    assert_non_null(strstr(text, "/a.yaml:1: document 1: unknown field \"spce\"\n"));
    assert_non_null(
        strstr(text, "/a.yaml:6: document 2, item 1: unknown field \"spec.containers[0].imag\"\n"));
    assert_non_null(strstr(text, "/a.yaml:6: document 2, item 1: unknown field \"spec.nodeNam\"\n"));
    assert_int_equal(waitpid(p.pid, NULL, 0), p.pid);
    close(p.out);
    temp_dir_remove(&dir);
}

/* Longer than an error of the library can be. */
static void it_prints_load_errors_in_full(void **state)
{
    (void)state;
    char text[TEXT_BYTES] = "";
    char yaml[2048];
    char name[512];
    int status = -1;
    size_t len = 0;
    ssize_t n = 0;
    temp_dir dir;
    temp_dir_make(&dir);
    memset(name, 'Q', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)snprintf(
        yaml, sizeof(yaml),
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n\nkind: ConfigMap\napiVersion: v1\n"
        "metadata: {name: %s}\n",
        name);
    process p = run(STDERR_FILENO, temp_dir_write(&dir, "a.yaml", yaml), "0");
    while ((n = read(p.out, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_non_null(strstr(text, "/a.yaml:6: document 2: ConfigMap \"QQQ"));
    assert_non_null(strstr(text, "must be no more than 253"));
    close(p.out);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_warns_when_it_is_reachable_from_outside),
        cmocka_unit_test(a_signal_ends_it_at_once_despite_watches),
        cmocka_unit_test(a_signal_ends_it_without_clients),
        cmocka_unit_test(it_prints_what_it_has_loaded),
        cmocka_unit_test(clients_find_everything_that_was_loaded),
        cmocka_unit_test(replicas_become_available_when_they_are_simulated),
        cmocka_unit_test(it_warns_about_unknown_fields),
        cmocka_unit_test(it_prints_load_errors_in_full),
    };
    return RUN_TESTS(tests);
}
