/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall; NOLINT(bugprone-reserved-identifier) */
#endif
#include "apiserver/serve/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apiserver/serve/connection.h"
#include "apiserver/serve/exchange.h"
#include "apiserver/serve/linger.h"
#include "apiserver/serve/listen.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"

enum {
    CONNECTION_BYTES = 64 * 1024, /* headers, and a piece of a stream */
    IDLE_SECONDS = 180,           /* how long a connection may neither send nor read */
    SPARE_DESCRIPTORS = 64 + KI_AS_LINGERS_MAX,
    CONNECTIONS_MAX = 60000,
    FORGOTTEN_BYTES_MAX = 256 * 1024, /* the largest unused body that is read, as in Go's server */
    THREADS = 2
};

struct ki_as_http {
    struct ki_as_listen_address address;
    int reserve_fd;
    struct MHD_Daemon *daemon; /* NULL if stopped */
};

/* ---- callbacks of libmicrohttpd ------------------------------------------------------------------------ */

/* Called first for each request, before anything is decoded. The result is the request's context. */
static void *on_address(void *user, const char *address, struct MHD_Connection *connection)
{
    struct ki_as_exchange *exchange = ki_as_exchange_new(user, address);
    if (exchange == NULL)
        return NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->mhd = connection;
    if (info != NULL && info->socket_context != NULL)
        ki_as_connection_attach(info->socket_context, exchange);
    return exchange;
}

static ki_str header(struct ki_as_exchange *exchange, const char *name)
{
    return ki_str_of(MHD_lookup_connection_value(exchange->mhd, MHD_HEADER_KIND, name));
}

/* A short unused body is read and discarded, so that the connection stays usable. A body that is long, has no
 * length or has not been sent yet is not read; the connection ends with the response. */
static bool is_body_worth_reading(struct ki_as_exchange *exchange)
{
    ki_str length = header(exchange, "Content-Length");
    if (header(exchange, "Transfer-Encoding").len > 0 || header(exchange, "Expect").len > 0)
        return false;
    return length.len == 0 || strtoull(length.ptr, NULL, 10) <= FORGOTTEN_BYTES_MAX;
}

static enum MHD_Result begin(struct ki_as_exchange *exchange, const char *method, const char *version)
{
    ki_str length = header(exchange, "Content-Length");
    exchange->method = method;
    exchange->begin_wall_ns = ki_clock_wall_ns(ki_clock_real());
    exchange->begin_ns = ki_clock_now_ns(ki_clock_real());
    exchange->request.method = ki_as_method_of(method);
    exchange->headers = (struct ki_as_headers){
        .accept = header(exchange, "Accept"),
        .accept_encoding = header(exchange, "Accept-Encoding"),
        .content_type = header(exchange, "Content-Type"),
        .user_agent = header(exchange, "User-Agent"),
        .authorization = header(exchange, "Authorization"),
        .host = header(exchange, "Host"),
        .origin = header(exchange, "Origin"),
        .upgrade = header(exchange, "Upgrade"),
    };
    exchange->headers.is_host_missing =
        strcmp(version, MHD_HTTP_VERSION_1_1) == 0 && exchange->headers.host.len == 0;
    exchange->phase = KI_AS_PHASE_BODY;
    bool is_refused = ki_as_exchange_begin(exchange) < 0;
    exchange->is_body_too_large =
        length.len > 0 && strtoull(length.ptr, NULL, 10) > exchange->server->body_bytes_max;
    if ((!is_refused && !exchange->is_body_too_large) || is_body_worth_reading(exchange))
        return MHD_YES;
    if (exchange->connection != NULL)
        exchange->connection->lingers = true;
    return ki_as_exchange_run(exchange);
}

/* Discards the body if it is too large or the request is rejected,
 * because the response can only be sent after the body. */
static enum MHD_Result take_body(struct ki_as_exchange *exchange, const char *bytes, size_t n)
{
    if (exchange->failure.code != 0 || exchange->is_body_too_large || exchange->is_overloaded)
        return MHD_YES;
    exchange->is_overloaded = !ki_as_exchange_charge(exchange, n);
    int rc = exchange->is_overloaded ? 0 : ki_buf_append(&exchange->body, bytes, n);
    if (rc == KI_ERR_NO_MEMORY)
        return MHD_NO;
    exchange->is_body_too_large = rc < 0;
    if (rc < 0 || exchange->is_overloaded) {
        ki_buf_reset(&exchange->body, 0);
        ki_as_exchange_discharge(exchange);
    }
    return MHD_YES;
}

/* The parameters are prescribed by libmicrohttpd. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **context)
{
    (void)user;
    (void)connection;
    (void)url;
    struct ki_as_exchange *exchange = *context;
    if (exchange == NULL || exchange->phase == KI_AS_PHASE_QUEUED)
        return MHD_NO;
    if (exchange->phase == KI_AS_PHASE_NEW)
        return begin(exchange, method, version);
    if (*upload_bytes > 0) {
        size_t n = *upload_bytes;
        *upload_bytes = 0;
        return take_body(exchange, upload, n);
    }
    exchange->phase = KI_AS_PHASE_HANDLE;
    return ki_as_exchange_run(exchange);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)user;
    (void)connection;
    (void)code;
    ki_as_exchange_free(*context);
    *context = NULL;
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info == NULL ? NULL : ki_as_connection_new(user, info->connect_fd);
    } else {
        ki_as_connection_free(*context);
        *context = NULL;
    }
}

/* ---- the daemon ---------------------------------------------------------------------------------------- */

static unsigned connections_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? (unsigned)limit.rlim_cur - SPARE_DESCRIPTORS
                                                  : SPARE_DESCRIPTORS;
}

static struct MHD_Daemon *start_daemon(struct ki_apiserver *server, int fd)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    if (server->certificate != NULL)
        flags |= MHD_USE_TLS;
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_URI_LOG_CALLBACK, on_address, server, MHD_OPTION_NOTIFY_COMPLETED,
                            on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
                            MHD_OPTION_CONNECTION_LIMIT, connections_max(), MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)IDLE_SECONDS, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
                            MHD_OPTION_ARRAY, server->certificate != NULL ? tls : none, MHD_OPTION_END);
}

int ki_as_http_open(struct ki_apiserver *server, const struct ki_as_http_options *options, ki_error *err)
{
    struct ki_as_http *http = ki_calloc(1, sizeof(*http));
    if (http == NULL)
        return ki_fail_no_memory(err);
    int rc = ki_as_listen_reserve(options->bind, options->port, &http->address, err);
    if (rc < 0) {
        ki_free(http);
        return rc;
    }
    http->reserve_fd = rc;
    ki_as_listen_format(&http->address, server->address, sizeof(server->address));
    server->http = http;
    return 0;
}

void ki_as_http_close(struct ki_as_http *http)
{
    if (http == NULL)
        return;
    (void)close(http->reserve_fd);
    ki_free(http);
}

/* If libmicrohttpd fails to start, it may or may not have closed the socket, and the descriptor number may
 * already be in use for another file. */
static void close_if_ours(int fd, const struct stat *ours)
{
    struct stat now;
    if (fstat(fd, &now) == 0 && now.st_dev == ours->st_dev && now.st_ino == ours->st_ino)
        (void)close(fd);
}

int ki_as_http_start(struct ki_apiserver *server, ki_error *err)
{
    struct stat listener = {0};
    struct ki_as_http *http = server->http;
    if (http->daemon != NULL)
        return 0;
    int fd = ki_as_listen_open(&http->address, err);
    if (fd < 0)
        return fd;
    (void)fstat(fd, &listener);
    atomic_store(&server->is_ending, false);
    http->daemon = start_daemon(server, fd);
    if (http->daemon != NULL)
        return 0;
    close_if_ours(fd, &listener);
    return ki_fail(err, KI_ERR_SYSTEM, "cannot start the HTTP server");
}

/* The daemon must not stop while an exchange is parked. Once is_ending is set,
 * no exchange is parked any more. */
void ki_as_http_stop(struct ki_apiserver *server)
{
    if (server->http == NULL || server->http->daemon == NULL)
        return;
    atomic_store(&server->is_ending, true);
    ki_as_http_cut(server, false, NULL);
    MHD_stop_daemon(server->http->daemon);
    ki_as_linger_end_all(server);
    server->http->daemon = NULL;
}

/* ---- all connections ----------------------------------------------------------------------------------- */

/* Connecting to AF_UNSPEC makes Linux reset the connection. The system call is used directly, because the
 * thread sanitizer takes the C library's connect() for the creation of a descriptor. */
void ki_as_socket_reset(int fd)
{
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    (void)syscall(SYS_connect, fd, &nowhere, sizeof(nowhere));
}

void ki_as_http_cut(struct ki_apiserver *server, bool is_reset, const struct ki_as_exchange *spared)
{
    ki_mutex_lock(&server->mu);
    for (ki_list_node *node = ki_list_first(&server->connections); node != NULL;
         node = ki_list_next(&server->connections, node)) {
        const struct ki_as_connection *connection = KI_CONTAINER_OF(node, struct ki_as_connection, node);
        if (spared != NULL && connection == spared->connection)
            continue;
        if (is_reset)
            ki_as_socket_reset(connection->fd);
        else
            (void)shutdown(connection->fd, SHUT_RDWR);
    }
    for (ki_list_node *node = ki_list_first(&server->exchanges); node != NULL;
         node = ki_list_next(&server->exchanges, node)) {
        struct ki_as_exchange *exchange = KI_CONTAINER_OF(node, struct ki_as_exchange, node);
        if (exchange == spared)
            continue;
        atomic_store(&exchange->is_cut, true);
        ki_as_exchange_wake(exchange);
    }
    ki_mutex_unlock(&server->mu);
}

void ki_as_http_clear_faults(struct ki_apiserver *server)
{
    ki_mutex_lock(&server->mu);
    for (ki_list_node *node = ki_list_first(&server->exchanges); node != NULL;
         node = ki_list_next(&server->exchanges, node)) {
        struct ki_as_exchange *exchange = KI_CONTAINER_OF(node, struct ki_as_exchange, node);
        atomic_store(&exchange->is_fault_cleared, true);
        ki_as_exchange_wake(exchange);
    }
    ki_mutex_unlock(&server->mu);
}
