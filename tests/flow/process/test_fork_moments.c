/* SPDX-License-Identifier: Apache-2.0 */
/* Children are forked at an awkward moment of a client: while a connection is being opened, and while a
 * transfer is paused. The child frees what it has inherited, and keeps no descriptor of the client; the
 * parent continues unaffected. A child that hangs is ended by its alarm. */
#include <arpa/inet.h>
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "informer/informer.h"
#include "support/apiserver/api_rig.h"
#include "support/aside.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/unit.h"

enum { CHILD_SECONDS = 60, MODES = 3, PODS = 3000, FILLERS = 8, URL_BYTES = 64 };

/* A sanitizer checks for leaks in _exit(), and would report the parent's memory in the child. */
static pid_t begin_child(int (*call)(void *user), void *user)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS);
        (void)syscall(SYS_exit_group, call(user));
    }
    return pid;
}

/* Returns the child's result, or -1. */
static int end_child(pid_t pid)
{
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

typedef struct world {
    int mode;
    int descriptors; /* before the client was made */
    int spare;       /* those that a child may keep: see docs/embedding.md */
    ki_client *client;
    ki_informer *informer;
} world;

static int inherit(void *user)
{
    world *w = user;
    if (ki_informer_start(w->informer, NULL) != KI_ERR_FORKED)
        return 1;
    (void)ki_store_count(ki_informer_store(w->informer));
    ki_informer_stop(w->informer);
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    return process_descriptors() <= w->descriptors + w->spare ? 0 : 2;
}

static void world_init(world *w, int mode, const char *url, const ki_informer_options *options)
{
    int spare = process_libcurl_wake_fds();
    *w = (world){.mode = mode, .descriptors = process_descriptors(), .spare = spare};
    w->client = ki_client_new(
        &(ki_client_options){.mode = (ki_mode)mode, .server = url, .insecure_skip_tls_verify = url[4] == 's'},
        NULL);
    assert_non_null(w->client);
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, options, NULL);
    assert_non_null(w->informer);
}

/* Does what a program would do in this mode, for a moment. */
static void live(world *w)
{
    struct pollfd fd = {.fd = ki_client_fd(w->client), .events = POLLIN};
    (void)poll(&fd, fd.fd >= 0 ? 1 : 0, 2);
    if (w->mode != KI_MODE_THREADS)
        assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
}

/* ---- connecting ---------------------------------------------------------------------------------------- */

/* A port that never responds. With a full queue, the kernel does not even accept connections. */
typedef struct dead_end {
    int listener;
    int fillers[FILLERS];
    int last_fd; /* of the connections that fill the queue */
    uint16_t port;
} dead_end;

static int plain_socket(int type)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | type, 0);
    int one = 1;
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    return fd;
}

static void dead_end_open(dead_end *d, bool is_full)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    d->listener = plain_socket(0);
    assert_int_equal(bind(d->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(d->listener, is_full ? 0 : FILLERS), 0);
    assert_int_equal(getsockname(d->listener, (struct sockaddr *)&address, &len), 0);
    d->port = ntohs(address.sin_port);
    d->last_fd = d->listener;
    for (int i = 0; i < FILLERS; i++) {
        d->fillers[i] = is_full ? plain_socket(SOCK_NONBLOCK) : -1;
        if (!is_full)
            continue;
        (void)!connect(d->fillers[i], (struct sockaddr *)&address, sizeof(address));
        d->last_fd = d->fillers[i];
    }
}

static void dead_end_close(dead_end *d)
{
    for (int i = 0; i < FILLERS; i++)
        if (d->fillers[i] >= 0)
            (void)close(d->fillers[i]);
    (void)close(d->listener);
}

/* Whether the process has a socket for this port in this TCP state. */
static bool has_socket(uint16_t port, int tcp_state, int first_fd)
{
    for (int fd = first_fd; fd < 256; fd++) {
        struct sockaddr_in peer = {0};
        struct tcp_info info = {0};
        socklen_t peer_len = sizeof(peer);
        socklen_t info_len = sizeof(info);
        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_len) < 0 || info.tcpi_state != tcp_state)
            continue;
        if (tcp_state == TCP_SYN_SENT) /* it has no peer yet */
            return true;
        if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 && ntohs(peer.sin_port) == port)
            return true;
    }
    return false;
}

/* The server that is started later has the same port. */
static void fork_while_connecting(int mode, bool is_full)
{
    world w;
    dead_end d;
    char url[URL_BYTES];
    int before = process_descriptors();
    int tcp_state = is_full ? TCP_SYN_SENT : TCP_ESTABLISHED;
    dead_end_open(&d, is_full);
    snprintf(url, sizeof(url), "%s://127.0.0.1:%d", is_full ? "http" : "https", d.port);
    world_init(&w, mode, url, &(ki_informer_options){.backoff_ms = 10, .backoff_max_ms = 20});
    assert_int_equal(ki_informer_start(w.informer, NULL), 0);
    bool is_there = false;
    for (int ms = 0; ms < AT_ONCE_MS && !is_there; ms += 2) {
        live(&w);
        is_there = has_socket(d.port, tcp_state, d.last_fd + 1);
    }
    assert_true(is_there);
    assert_int_equal(end_child(begin_child(inherit, &w)), 0);
    assert_true(has_socket(d.port, tcp_state, d.last_fd + 1));
    dead_end_close(&d);
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.port = d.port, .is_tls = !is_full});
    api_put_pod(server, "a", "web", "node-1");
    assert_int_equal(ki_informer_wait_for_sync(w.informer, HANG_MS, NULL), 0);
    ki_client_free(w.client);
    ki_informer_free(w.informer);
    ki_apiserver_free(server);
    assert_int_equal(process_descriptors(), before);
}

static void a_child_is_forked_while_connecting(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++)
        fork_while_connecting(mode, true);
}

static void a_child_is_forked_during_a_handshake(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++)
        fork_while_connecting(mode, false);
}

/* ---- paused -------------------------------------------------------------------------------------------- */

static ki_apiserver *server;

typedef struct held {
    world world;
    atomic_bool may_go;
    atomic_int adds;
} held;

static void hold_up(const ki_event *event, void *user)
{
    held *h = user;
    (void)event;
    while (!h->may_go)
        aside_pause(1);
    h->adds++;
}

/* Runs in its own process, which has no server. */
static int be_held_up(void *user)
{
    held h = {0};
    (void)user;
    world_init(&h.world, KI_MODE_THREADS, ki_apiserver_url(server),
               &(ki_informer_options){.queue_items_max = 1});
    ki_handler handler = {
        .on_add = hold_up, .overflow = KI_OVERFLOW_BLOCK, .backlog_items_max = 1, .user = &h};
    ki_registration *registration = ki_informer_add_handler(h.world.informer, &handler, NULL);
    if (registration == NULL || ki_informer_start(h.world.informer, NULL) != 0)
        return 10;
    for (int ms = 0; ms < AT_ONCE_MS && !h.world.informer->is_blocked; ms++)
        aside_pause(1);
    aside_pause(100);
    if (!h.world.informer->is_blocked)
        return 11;
    if (end_child(begin_child(inherit, &h.world)) != 0)
        return 12;
    h.may_go = true;
    if (ki_informer_wait_for_sync(h.world.informer, HANG_MS, NULL) != 0 ||
        ki_registration_wait_for_sync(registration, HANG_MS, NULL) != 0)
        return 13;
    ki_informer_status status;
    ki_informer_read_status(h.world.informer, &status);
    if (h.adds != PODS || status.lists != 1 || status.reconnects != 0)
        return 14;
    ki_client_free(h.world.client);
    ki_informer_free(h.world.informer);
    return process_descriptors() == h.world.descriptors ? 0 : 15;
}

static void a_child_is_forked_while_a_transfer_is_paused(void **state)
{
    (void)state;
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        server = api_rig_start(&(ki_apiserver_options){.is_tls = (uint16_t)is_tls});
        for (int i = 0; i < PODS; i++) {
            char name[16];
            snprintf(name, sizeof(name), "pod-%d", i);
            api_put_pod(server, name, "web", "node-1");
        }
#if defined(__SANITIZE_ADDRESS__)
        aside_pause(500); /* a sanitizer does not handle its locks at a fork: the server must be idle */
#endif
        assert_int_equal(end_child(begin_child(be_held_up, NULL)), 0);
        ki_apiserver_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_forked_while_connecting),
        cmocka_unit_test(a_child_is_forked_during_a_handshake),
        cmocka_unit_test(a_child_is_forked_while_a_transfer_is_paused),
    };
    return RUN_TESTS(tests);
}
