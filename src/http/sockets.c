/* SPDX-License-Identifier: Apache-2.0 */
#include "http/sockets.h"

#include <assert.h>
#include <sys/epoll.h>

#include "http/read_ahead.h"
#include "http/transfer_parts.h"
#include "util/alloc.h"
#include "util/units.h"

/* A transfer may use sockets for two addresses at a time, for a name lookup, and one that is closed while the
 * next is opened. */
enum { SOCKETS_PER_TRANSFER = 4, SPARE_MAX = 16 };

/* How many descriptors each multi handle opens for its own use. */
enum { WAKE_FDS = 2 };

/* How many times libcurl is called for one socket before others get their turn; a call may read only one
 * record. */
enum { READS_AT_ONCE = 32 };

/* A socket that the kernel cannot watch is polled. */
enum { LOOK_AGAIN_MS = 500 };

struct ki_socket {
    ki_fd_watch watch;
    ki_list_node node;
    ki_http *http;
    ki_pool *pool; /* its owner, while in use */
    curl_socket_t fd;
    uint32_t events;
    ki_transfer *transfer; /* that libcurl watches it for; the last of several; NULL if over */
    ki_transfer *holder;   /* the paused transfer; NULL if it is not held */
    int real_fd;           /* its number while the stand-in replaces it; otherwise -1 */
};

int ki_sockets_init(ki_sockets *sockets, ki_error *err)
{
    assert(sockets != NULL);
    *sockets = (ki_sockets){0};
    ki_list_init(&sockets->spare);
    ki_list_init(&sockets->used);
    return ki_stand_in_open(&sockets->stand_in, err);
}

/* The first spare entry that may be freed; NULL if there is none. An entry that the epoll may still report is
 * kept until ki_sockets_fini(). */
static ki_list_node *first_to_free(const ki_sockets *sockets)
{
    ki_list_node *node = ki_list_first(&sockets->spare);
    while (node != NULL && KI_CONTAINER_OF(node, ki_socket, node)->watch.may_be_reported)
        node = ki_list_next(&sockets->spare, node);
    return node;
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
    assert(sockets != NULL);
    if (sockets->spare.head.next == NULL)
        return;
    free_all(sockets, &sockets->used);
    free_all(sockets, &sockets->spare);
    ki_stand_in_close(&sockets->stand_in);
}

/* ---- watching ---------------------------------------------------------------------------------------- */

static void disarm(ki_socket *socket)
{
    (void)!ki_fd_watch_set(&socket->watch, socket->fd, 0);
    ki_job_wake_at(&socket->watch.job, UINT64_MAX);
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

/* Whether libcurl may start a thread for a name lookup, which inherits the caller's signal mask. Signals
 * are blocked meanwhile: if the program runs the loop on a thread of its own, one of its signals could
 * otherwise be delivered to the lookup thread, which does not expect it. */
static bool may_look_up(const ki_pool *pool)
{
    return pool->unanswered > 0 && (pool->http->server.is_name || pool->http->proxy.url != NULL);
}

/* The TLS connection of a socket, if it may have been read ahead; NULL otherwise. */
static const void *connection_of(const ki_socket *socket)
{
    if (!socket->http->reads_ahead || socket->pool->is_http2 || socket->transfer == NULL)
        return NULL;
    return ki_read_ahead_connection(socket->transfer->easy);
}

/* A paused transfer must not get more. */
static bool has_more(const ki_socket *socket, const void *connection)
{
    return connection != NULL && socket->holder == NULL && (socket->events & EPOLLIN) != 0 &&
           ki_read_ahead_has_more(connection);
}

/* The kernel does not report data that was read ahead. The previous request on this connection may have left
 * some. */
static void arm(ki_socket *socket)
{
    if (socket->holder != NULL)
        return;
    if (ki_fd_watch_set(&socket->watch, socket->fd, socket->events) < 0)
        ki_job_wake_at(&socket->watch.job,
                       ki_clock_now_ns(socket->http->clock) + LOOK_AGAIN_MS * KI_NS_PER_MS);
    if (has_more(socket, connection_of(socket)))
        ki_job_wake(&socket->watch.job);
}

/* libcurl also reads from sockets that are not ready when one of its timers is due. The walk begins with the
 * sockets that were ready last. */
static void wake_others(const ki_sockets *sockets)
{
    bool is_last = false;
    for (ki_list_node *node = ki_list_first(&sockets->used); node != NULL && !is_last;
         node = ki_list_next(&sockets->used, node)) {
        ki_socket *socket = KI_CONTAINER_OF(node, ki_socket, node);
        const void *connection = connection_of(socket);
        if (socket != sockets->running && has_more(socket, connection))
            ki_job_wake(&socket->watch.job);
        is_last = ki_read_ahead_was_only(ki_read_ahead_source(connection));
    }
}

/* libcurl may also read from sockets other than the one that is ready. The rest of such a read must be
 * fetched as well, so the other sockets are woken. They are also woken if a connection was closed: the source
 * of a new connection may have got the same address, so comparing sources proves nothing then. */
void ki_sockets_act(ki_pool *pool, curl_socket_t fd, int flags)
{
    KI_ASSERT_ON(pool->http->options.loop);
    ki_http *http = pool->http;
    sigset_t before;
    int running = 0;
    const ki_socket *ready = http->sockets.running;
    const void *source = ready == NULL ? NULL : ki_read_ahead_source(connection_of(ready));
    ki_http_enter(http);
    ki_read_ahead_forget();
    http->sockets.has_closed = false;
    bool is_masked = may_look_up(pool) && ki_signals_block(&before) == 0;
    (void)curl_multi_socket_action(pool->multi, fd, flags, &running);
    if (is_masked)
        ki_signals_restore(&before);
    ki_http_leave(http);
    if (http->sockets.has_closed || !ki_read_ahead_was_only(source))
        wake_others(&http->sockets);
}

/* libcurl may read a single record at a time, so it is called until it has read all, within limits. */
static void read_socket(ki_socket *socket, int flags)
{
    const ki_sockets *sockets = &socket->http->sockets;
    bool is_readable = has_more(socket, connection_of(socket));
    for (int i = 0; i == 0 || (is_readable && i < READS_AT_ONCE); i++) {
        ki_sockets_act(socket->pool, socket->fd, flags | (is_readable ? CURL_CSELECT_IN : 0));
        flags = 0;
        is_readable = sockets->running == socket && has_more(socket, connection_of(socket));
    }
}

/* A socket is ready: received bytes arrive here. libcurl reads them and calls ki_transfer_on_bytes(), in
 * http/transfer_receive.c, before ki_sockets_act() returns. libcurl may also give up the socket, and its
 * entry may be reused; then `running` has been cleared. A socket whose data was read ahead counts as
 * readable. */
static void run_socket(ki_job *job)
{
    ki_socket *socket = KI_CONTAINER_OF(job, ki_socket, watch.job);
    KI_ASSERT_ON(socket->http->options.loop);
    ki_http *http = socket->http;
    int flags = flags_of(ki_fd_watch_take(&socket->watch));
    if (socket->events == 0 || socket->holder != NULL)
        return;
    ki_list_remove(&socket->node);
    ki_list_push_front(&http->sockets.used, &socket->node);
    http->sockets.running = socket;
    ki_http_enter(http); /* all reads together are one turn */
    read_socket(socket, flags);
    ki_http_leave(http);
    if (http->sockets.running == socket && socket->events != 0)
        arm(socket);
    http->sockets.running = NULL;
}

/* ---- holding ----------------------------------------------------------------------------------------- */

/* The socket that libcurl reads for a transfer; NULL if it watches none yet. The transfer shares its
 * connection with no other, so one socket is enough. */
static ki_socket *find(const ki_sockets *sockets, const ki_transfer *transfer)
{
    if (sockets->running != NULL && sockets->running->transfer == transfer)
        return sockets->running;
    for (ki_list_node *node = ki_list_first(&sockets->used); node != NULL;
         node = ki_list_next(&sockets->used, node)) {
        ki_socket *socket = KI_CONTAINER_OF(node, ki_socket, node);
        if (socket->transfer == transfer && (socket->events & EPOLLIN) != 0)
            return socket;
    }
    return NULL;
}

/* The epoll identifies a socket by its number, so the socket is removed from the epoll first. If no number is
 * free, the socket is just not watched: libcurl may still read it once in a while, which is bounded by the
 * waiting buffer. */
static void hold(ki_socket *socket, ki_transfer *transfer)
{
    disarm(socket);
    socket->holder = transfer;
    transfer->held = socket;
    ki_descriptors *descriptors = &socket->http->descriptors;
    ki_descriptors_lock(descriptors);
    socket->real_fd = ki_stand_in_take_place(&socket->http->sockets.stand_in, socket->fd);
    if (socket->real_fd >= 0) {
        ki_descriptors_add_locked(descriptors, socket->real_fd);
        ki_descriptors_add_locked(descriptors, socket->fd); /* now the number of the stand-in */
    }
    ki_descriptors_unlock(descriptors);
}

static void let_go(ki_socket *socket)
{
    if (socket->holder == NULL)
        return;
    ki_descriptors *descriptors = &socket->http->descriptors;
    if (socket->real_fd >= 0) {
        ki_descriptors_lock(descriptors);
        ki_descriptors_remove_locked(descriptors, socket->real_fd);
        if (ki_stand_in_give_back(&socket->http->sockets.stand_in, socket->fd, socket->real_fd))
            ki_descriptors_add_locked(descriptors, socket->fd);
        ki_descriptors_unlock(descriptors);
    }
    socket->real_fd = -1;
    socket->holder->held = NULL;
    socket->holder = NULL;
}

void ki_sockets_hold(ki_transfer *transfer)
{
    assert(transfer != NULL);
    KI_ASSERT_ON(transfer->http->options.loop);
    ki_socket *socket = find(&transfer->http->sockets, transfer);
    if (transfer->held == NULL && socket != NULL)
        hold(socket, transfer);
}

void ki_sockets_let_go(ki_transfer *transfer)
{
    assert(transfer != NULL);
    KI_ASSERT_ON(transfer->http->options.loop);
    ki_socket *socket = transfer->held;
    if (socket == NULL)
        return;
    let_go(socket);
    if (socket->events != 0)
        arm(socket);
}

static void refer_to(ki_socket *socket, ki_transfer *transfer)
{
    if (socket->transfer != NULL)
        socket->transfer->socket_count--;
    if (transfer != NULL)
        transfer->socket_count++;
    socket->transfer = transfer;
}

void ki_sockets_forget(ki_transfer *transfer)
{
    assert(transfer != NULL);
    KI_ASSERT_ON(transfer->http->options.loop);
    const ki_list *used = &transfer->http->sockets.used;
    for (ki_list_node *node = ki_list_first(used); node != NULL && transfer->socket_count > 0;
         node = ki_list_next(used, node)) {
        ki_socket *socket = KI_CONTAINER_OF(node, ki_socket, node);
        if (socket->transfer == transfer)
            refer_to(socket, NULL);
    }
}

/* ---- for libcurl ------------------------------------------------------------------------------------- */

static ki_socket *make_socket(ki_http *http)
{
    ki_socket *made = ki_calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    made->http = http;
    made->real_fd = -1;
    if (ki_fd_watch_init(&made->watch, http->options.loop, run_socket) == 0)
        return made;
    ki_free(made);
    return NULL;
}

int ki_sockets_reserve(ki_http *http, size_t transfers)
{
    assert(http != NULL);
    KI_ASSERT_ON(http->options.loop);
    ki_sockets *sockets = &http->sockets;
    size_t wanted = transfers * SOCKETS_PER_TRANSFER;
    while (sockets->count < wanted) {
        ki_socket *made = make_socket(http);
        if (made == NULL)
            return KI_ERR_NO_MEMORY;
        ki_list_push_back(&sockets->spare, &made->node);
        sockets->count++;
    }
    for (ki_list_node *node = first_to_free(sockets); node != NULL && sockets->count > wanted + SPARE_MAX;
         node = first_to_free(sockets))
        free_socket(sockets, KI_CONTAINER_OF(node, ki_socket, node));
    return ki_descriptors_reserve(&http->descriptors, SOCKETS_PER_TRANSFER + WAKE_FDS);
}

/* A watch whose job is running may be reused at once: the run notices that it is a different one. A
 * connection that is not closed must get its socket back, because another transfer may use it at once. */
static void give_up(ki_socket *socket)
{
    ki_sockets *sockets = &socket->http->sockets;
    if (sockets->running == socket)
        sockets->running = NULL;
    let_go(socket);
    disarm(socket);
    socket->events = 0;
    refer_to(socket, NULL);
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
    (void)curl_multi_assign(pool->multi, fd, socket);
    return socket;
}

/* libcurl also watches sockets for itself, with an internal handle, until a connection is closed. */
static void set_transfer(ki_socket *socket, CURL *easy)
{
    ki_transfer *transfer = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    refer_to(socket, transfer);
    if (transfer != NULL && transfer->is_paused && transfer->held == NULL)
        hold(socket, transfer);
}

int ki_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_data)
{
    ki_pool *pool = user;
    KI_ASSERT_ON(pool->http->options.loop);
    ki_socket *socket = socket_data;
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
    set_transfer(socket, easy);
    arm(socket);
    return 0;
}
