/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/nghttpx.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/unit.h"

enum { READY_MS = 20 * 1000 };

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int choose_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

/* A single process, so that one signal ends it. */
void nghttpx_init(nghttpx *proxy, int server_port, const certificate *own)
{
    char text[1024];
    char paths[3][256];
    *proxy = (nghttpx){.port = choose_port()};
    temp_dir_make(&proxy->dir);
    (void)snprintf(paths[0], sizeof(paths[0]), "%s", temp_dir_write(&proxy->dir, "own.pem", own->pem));
    (void)snprintf(paths[1], sizeof(paths[1]), "%s", temp_dir_write(&proxy->dir, "own.key", own->key_pem));
    (void)snprintf(paths[2], sizeof(paths[2]), "%s", temp_dir_path(&proxy->dir, "errors"));
    (void)snprintf(text, sizeof(text),
                   "frontend=127.0.0.1,%d\n"
                   "backend=127.0.0.1,%d;;proto=http/1.1\n"
                   "certificate-file=%s\n"
                   "private-key-file=%s\n"
                   "errorlog-file=%s\n"
                   "accesslog-file=/dev/null\n"
                   "add-forwarded=for\n"
                   "backend-read-timeout=10m\n"
                   "workers=1\n"
                   "single-process=yes\n",
                   proxy->port, server_port, paths[0], paths[1], paths[2]);
    (void)temp_dir_write(&proxy->dir, "nghttpx.conf", text);
    (void)snprintf(proxy->url, sizeof(proxy->url), "https://127.0.0.1:%d", proxy->port);
}

void nghttpx_fini(nghttpx *proxy)
{
    nghttpx_kill(proxy);
    temp_dir_remove(&proxy->dir);
}

/* Debian installs it in a folder that is not in every PATH. */
static const char *program(void)
{
    static const char path[] = "/usr/sbin/nghttpx";
    return access(path, X_OK) == 0 ? path : "nghttpx";
}

static bool takes_connections(const nghttpx *proxy)
{
    struct sockaddr_in address = loopback(proxy->port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    int rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
    (void)close(fd);
    return rc == 0;
}

static void wait_until_ready(nghttpx *proxy)
{
    for (int i = 0; i < READY_MS / 10; i++) {
        int status = 0;
        if (takes_connections(proxy))
            return;
        if (waitpid(proxy->pid, &status, WNOHANG) != 0) {
            proxy->pid = 0;
            break;
        }
        aside_pause(10);
    }
    fail_msg("nghttpx does not start: %s", temp_dir_read(&proxy->dir, "errors"));
}

void nghttpx_start(nghttpx *proxy)
{
    extern char **environ;
    char option[256];
    posix_spawn_file_actions_t actions;
    (void)snprintf(option, sizeof(option), "--conf=%s", temp_dir_path(&proxy->dir, "nghttpx.conf"));
    char name[] = "nghttpx";
    char *arguments[] = {name, option, NULL};
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        assert_int_equal(posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0), 0);
    int rc = posix_spawnp(&proxy->pid, program(), &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        fail_msg("nghttpx: %s (scripts/deps.sh test)", strerror(rc));
    wait_until_ready(proxy);
}

void nghttpx_kill(nghttpx *proxy)
{
    int status = 0;
    if (proxy->pid == 0)
        return;
    (void)kill(proxy->pid, SIGKILL);
    (void)waitpid(proxy->pid, &status, 0);
    proxy->pid = 0;
}
