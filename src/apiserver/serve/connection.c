/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/connection.h"

#include <assert.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "apiserver/serve/linger.h"
#include "apiserver/serve/listen.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/units.h"

enum { NUDGE_MS = 10, NUDGE_MS_MAX = 1000 };

/* libmicrohttpd uses edge-triggered epoll and misses a client's end of stream that arrives together with its
 * last bytes. An incomplete request and its connection would then stay until the idle timeout. Shutting down
 * the reading side again changes nothing, but triggers another notification. libmicrohttpd may still be busy
 * with earlier data, so this is repeated until it has closed the connection. */
static void nudge(struct ki_as_connection *connection)
{
    assert(connection->nudge_ns > 0);
    (void)shutdown(connection->fd, SHUT_RD);
    ki_job_wake_at(&connection->hang_up.job, ki_clock_now_ns(ki_clock_real()) + connection->nudge_ns);
    connection->nudge_ns = ki_ns_min(2 * connection->nudge_ns, ki_ns_of_ms(NUDGE_MS_MAX));
}

/* Runs when the client closes its side. It is needed because libmicrohttpd does not poll the socket of a
 * suspended connection. */
static void on_hang_up(ki_job *job)
{
    struct ki_as_connection *connection = KI_CONTAINER_OF(job, struct ki_as_connection, hang_up.job);
    struct ki_apiserver *server = connection->server;
    KI_ASSERT_ON(&server->loop);
    uint32_t ready = ki_fd_watch_take(&connection->hang_up);
    bool is_gone = (ready & (EPOLLHUP | EPOLLERR)) != 0;
    ki_mutex_lock(&server->mu);
    connection->is_half_closed = true;
    if (connection->exchange != NULL)
        ki_as_exchange_hang_up(connection->exchange, is_gone);
    ki_mutex_unlock(&server->mu);
    if (!is_gone)
        nudge(connection);
}

struct ki_as_connection *ki_as_connection_new(struct ki_apiserver *server, int fd)
{
    assert(server != NULL && fd >= 0);
    struct ki_as_connection *connection = ki_calloc(1, sizeof(*connection));
    if (connection == NULL)
        return NULL;
    connection->server = server;
    connection->fd = fd;
    struct ki_as_listen_address peer = {.bytes = sizeof(peer.address)};
    if (getpeername(fd, (struct sockaddr *)(void *)&peer.address, &peer.bytes) == 0)
        ki_as_listen_format(&peer, connection->remote, sizeof(connection->remote));
    connection->nudge_ns = ki_ns_of_ms(NUDGE_MS);
    /* If this fails, a hang-up is noticed only when the next byte is sent. */
    if (ki_fd_watch_init(&connection->hang_up, &server->loop, on_hang_up) == 0)
        (void)!ki_fd_watch_set(&connection->hang_up, fd, EPOLLRDHUP);
    ki_mutex_lock(&server->mu);
    ki_list_push_back(&server->connections, &connection->node);
    ki_mutex_unlock(&server->mu);
    return connection;
}

void ki_as_connection_free(struct ki_as_connection *connection)
{
    if (connection == NULL)
        return;
    ki_mutex_lock(&connection->server->mu);
    ki_list_remove(&connection->node);
    ki_mutex_unlock(&connection->server->mu);
    ki_fd_watch_fini(&connection->hang_up);
    if (connection->lingers && !atomic_load(&connection->server->is_ending))
        ki_as_linger_start(connection->server, connection->fd);
    ki_free(connection);
}

void ki_as_connection_attach(struct ki_as_connection *connection, struct ki_as_exchange *exchange)
{
    assert(exchange->server == connection->server);
    ki_mutex_lock(&connection->server->mu);
    assert(connection->exchange == NULL && exchange->connection == NULL);
    connection->exchange = exchange;
    exchange->connection = connection;
    if (connection->is_half_closed)
        atomic_store(&exchange->is_half_closed, true);
    ki_mutex_unlock(&connection->server->mu);
}
