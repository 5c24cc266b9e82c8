/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC; NOLINT(bugprone-reserved-identifier) */
#endif
#include "apiserver/serve/linger.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/clock.h"
#include "util/loop/fd_watch.h"
#include "util/units.h"

enum {
    WHOLE_MS = 30 * 1000,
    IDLE_MS = 5 * 1000, /* the longest pause between two bytes */
    PIECE_BYTES = 1024 * 1024,
    PIECES_AT_A_TIME = 16, /* then other jobs run */
    BYTES_MAX = 256 * 1024 * 1024
};

struct lingering {
    struct ki_apiserver *server;
    ki_list_node node; /* guarded by the server's mu, like `is_taken` */
    bool is_taken;     /* by ki_as_linger_end_all() */
    ki_fd_watch watch;
    int fd;
    uint64_t end_ns;
    size_t bytes;
};

static void end(struct lingering *linger)
{
    ki_fd_watch_fini(&linger->watch);
    (void)close(linger->fd);
    ki_free(linger);
}

/* Ends the connection from its job, unless ki_as_linger_end_all() has taken it. */
static void leave(struct lingering *linger)
{
    struct ki_apiserver *server = linger->server;
    ki_mutex_lock(&server->mu);
    bool is_ours = !linger->is_taken;
    if (is_ours) {
        ki_list_remove(&linger->node);
        assert(server->linger_count > 0);
        server->linger_count--;
    }
    ki_mutex_unlock(&server->mu);
    if (is_ours)
        end(linger);
}

/* Discards received bytes. False if no more will come, or if BYTES_MAX is reached. */
static bool forget(struct lingering *linger)
{
    for (int i = 0; i < PIECES_AT_A_TIME && linger->bytes < BYTES_MAX; i++) {
        /* Needs no buffer: with MSG_TRUNC, TCP discards the bytes. */
        ssize_t n = recv(linger->fd, NULL, PIECE_BYTES, MSG_TRUNC | MSG_DONTWAIT);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        linger->bytes += (size_t)n;
    }
    return linger->bytes < BYTES_MAX;
}

static int wait_for_more(struct lingering *linger)
{
    assert(linger->fd >= 0);
    uint64_t now = ki_clock_now_ns(ki_clock_real());
    if (now >= linger->end_ns)
        return -1;
    ki_job_wake_at(&linger->watch.job, ki_ns_min(linger->end_ns, now + ki_ns_of_ms(IDLE_MS)));
    return ki_fd_watch_set(&linger->watch, linger->fd, EPOLLIN);
}

/* Runs when bytes arrive, and on timeout. */
static void on_ready(ki_job *job)
{
    struct lingering *linger = KI_CONTAINER_OF(job, struct lingering, watch.job);
    KI_ASSERT_ON(&linger->server->loop);
    size_t before = linger->bytes;
    (void)ki_fd_watch_take(&linger->watch);
    if (!forget(linger) || linger->bytes == before || wait_for_more(linger) < 0)
        leave(linger);
}

/* NULL if out of memory or descriptors. */
static struct lingering *make(struct ki_apiserver *server, int fd)
{
    struct lingering *linger = ki_calloc(1, sizeof(*linger));
    if (linger == NULL)
        return NULL;
    linger->server = server;
    linger->end_ns = ki_clock_now_ns(ki_clock_real()) + ki_ns_of_ms(WHOLE_MS);
    linger->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (linger->fd >= 0 && ki_fd_watch_init(&linger->watch, &server->loop, on_ready) == 0)
        return linger;
    if (linger->fd >= 0)
        (void)close(linger->fd);
    ki_free(linger);
    return NULL;
}

void ki_as_linger_start(struct ki_apiserver *server, int fd)
{
    struct lingering *linger = make(server, fd);
    if (linger == NULL)
        return;
    ki_mutex_lock(&server->mu);
    bool is_kept = server->linger_count < KI_AS_LINGERS_MAX && wait_for_more(linger) == 0;
    if (is_kept) {
        ki_list_push_back(&server->lingers, &linger->node);
        server->linger_count++;
    }
    assert(server->linger_count <= KI_AS_LINGERS_MAX);
    ki_mutex_unlock(&server->mu);
    if (!is_kept)
        end(linger);
}

void ki_as_linger_end_all(struct ki_apiserver *server)
{
    for (;;) {
        ki_mutex_lock(&server->mu);
        ki_list_node *node = ki_list_first(&server->lingers);
        struct lingering *linger = node == NULL ? NULL : KI_CONTAINER_OF(node, struct lingering, node);
        if (linger != NULL) {
            ki_list_remove(node);
            linger->is_taken = true;
            assert(server->linger_count > 0);
            server->linger_count--;
        }
        ki_mutex_unlock(&server->mu);
        if (linger == NULL)
            return;
        end(linger);
    }
}
