/* SPDX-License-Identifier: Apache-2.0 */
#include "http/sockets.h"

#include <assert.h>
#include <sys/epoll.h>

#include "http/close_on_exec.h"
#include "http/http_parts.h"
#include "util/alloc.h"
#include "util/units.h"

/* Two addresses at a time, a name lookup, and one that is closed while the next is opened. */
enum { SOCKETS_PER_TRANSFER = 4, SPARE_MAX = 16 };

/* When the kernel cannot watch a socket, it is looked at now and then. */
enum { LOOK_AGAIN_MS = 500 };

typedef struct ki_socket {
    ki_fd_watch watch;
    ki_list_node node;
    ki_http *http;
    ki_pool *pool; /* whose it is, when used */
    curl_socket_t fd;
    uint32_t events;
} ki_socket;

void ki_sockets_init(ki_sockets *sockets)
{
    *sockets = (ki_sockets){0};
    ki_list_init(&sockets->spare);
    ki_list_init(&sockets->used);
}

static void free_socket(ki_sockets *sockets, ki_socket *socket)
{
    ki_list_remove(&socket->node);
    ki_fd_watch_fini(&socket->watch);
    ki_free(socket);
    sockets->count--;
}

static void free_all(ki_sockets *sockets, ki_list *list)
{
    for (ki_list_node *node = ki_list_first(list); node != NULL; node = ki_list_first(list))
        free_socket(sockets, KI_CONTAINER_OF(node, ki_socket, node));
}

void ki_sockets_fini(ki_sockets *sockets)
{
    if (sockets->spare.head.next == NULL)
        return;
    free_all(sockets, &sockets->used);
    free_all(sockets, &sockets->spare);
}

static void arm(ki_socket *socket)
{
    if (ki_fd_watch_set(&socket->watch, socket->fd, socket->events) < 0)
        ki_job_wake_at(&socket->watch.job,
                       ki_clock_now_ns(socket->http->clock) + LOOK_AGAIN_MS * KI_NS_PER_MS);
}

static int flags_of(uint32_t ready)
{
    int flags = 0;
    if ((ready & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0)
        flags |= CURL_CSELECT_IN;
    if ((ready & EPOLLOUT) != 0)
        flags |= CURL_CSELECT_OUT;
    if ((ready & EPOLLERR) != 0)
        flags |= CURL_CSELECT_ERR;
    return flags;
}

/* libcurl may give the socket up meanwhile, and another may take its place. */
static void run_socket(ki_job *job)
{
    ki_socket *socket = KI_CONTAINER_OF(job, ki_socket, watch.job);
    ki_http *http = socket->http;
    uint32_t ready = ki_fd_watch_take(&socket->watch);
    if (socket->events == 0)
        return;
    http->sockets.running = socket;
    ki_pool_act(socket->pool, socket->fd, flags_of(ready));
    if (http->sockets.running == socket && socket->events != 0)
        arm(socket);
    http->sockets.running = NULL;
}

static ki_socket *make_socket(ki_http *http)
{
    ki_socket *made = ki_calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    made->http = http;
    if (ki_fd_watch_init(&made->watch, http->options.loop, run_socket) == 0)
        return made;
    ki_free(made);
    return NULL;
}

int ki_sockets_reserve(ki_http *http, size_t transfers)
{
    ki_sockets *sockets = &http->sockets;
    size_t wanted = transfers * SOCKETS_PER_TRANSFER;
    while (sockets->count < wanted) {
        ki_socket *made = make_socket(http);
        if (made == NULL)
            return KI_ERR_NO_MEMORY;
        ki_list_push_back(&sockets->spare, &made->node);
        sockets->count++;
    }
    while (sockets->count > wanted + SPARE_MAX && !ki_list_is_empty(&sockets->spare))
        free_socket(sockets, KI_CONTAINER_OF(ki_list_first(&sockets->spare), ki_socket, node));
    return 0;
}

/* A watch whose job runs right now may be used again at once: the run sees that it is not the same any
 * more. */
static void give_up(ki_socket *socket)
{
    ki_sockets *sockets = &socket->http->sockets;
    if (sockets->running == socket)
        sockets->running = NULL;
    (void)!ki_fd_watch_set(&socket->watch, socket->fd, 0);
    ki_job_wake_at(&socket->watch.job, UINT64_MAX);
    socket->events = 0;
    ki_list_remove(&socket->node);
    ki_list_push_back(&sockets->spare, &socket->node);
}

static ki_socket *take_up(ki_pool *pool, curl_socket_t fd)
{
    ki_http *http = pool->http;
    ki_list_node *node = ki_list_pop_front(&http->sockets.spare);
    if (node == NULL && ki_sockets_reserve(http, http->alive_count + 1) == 0)
        node = ki_list_pop_front(&http->sockets.spare);
    if (node == NULL)
        return NULL;
    ki_socket *socket = KI_CONTAINER_OF(node, ki_socket, node);
    ki_list_push_back(&http->sockets.used, node);
    socket->pool = pool;
    socket->fd = fd;
    ki_close_on_exec_socket(fd);
    (void)curl_multi_assign(pool->multi, fd, socket);
    return socket;
}

int ki_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_data)
{
    ki_pool *pool = user;
    ki_socket *socket = socket_data;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket != NULL)
            give_up(socket);
        return 0;
    }
    if (socket == NULL)
        socket = take_up(pool, fd);
    if (socket == NULL)
        return -1;
    socket->events = ((what & CURL_POLL_IN) != 0 ? (uint32_t)EPOLLIN : 0) |
                     ((what & CURL_POLL_OUT) != 0 ? (uint32_t)EPOLLOUT : 0);
    arm(socket);
    return 0;
}
