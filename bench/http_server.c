/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "http_server.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apiserver/kind/proto_write.h"
#include "generate_pods.h"
#include "http_tls.h"

enum { REQUEST_BYTES_MAX = 16384, STACK_BYTES = 256 * 1024, WAITING_MAX = 1024, LIST_BYTES_MAX = 4096 };
enum { SEND_BYTES = 256 * 1024 };

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

struct connection {
    int fd;
    SSL_CTX *tls; /* NULL: plain HTTP */
    SSL *ssl;
    const struct http_material *material;
    char request[REQUEST_BYTES_MAX + 1];
    size_t length;
};

uint64_t http_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static bool send_bytes(const struct connection *connection, const char *bytes, size_t n, int flags)
{
    if (connection->ssl != NULL) {
        return http_tls_send(connection->ssl, bytes, n);
    }
    while (n > 0) {
        ssize_t sent = send(connection->fd, bytes, n, MSG_NOSIGNAL | flags);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_file_over_tls(SSL *ssl, int file, uint64_t start, uint64_t end)
{
    char block[16 * HTTP_TLS_RECORD_BYTES];
    while (start < end) {
        size_t wanted = end - start < sizeof(block) ? end - start : sizeof(block);
        ssize_t n = pread(file, block, wanted, (off_t)start);
        if (n <= 0 || !http_tls_send(ssl, block, (size_t)n)) {
            return false;
        }
        start += (uint64_t)n;
    }
    return true;
}

static bool send_file(const struct connection *connection, int file, uint64_t start, uint64_t end)
{
    off_t at = (off_t)start;
    if (connection->ssl != NULL) {
        return send_file_over_tls(connection->ssl, file, start, end);
    }
    while ((uint64_t)at < end) {
        if (sendfile(connection->fd, file, &at, end - (uint64_t)at) <= 0) {
            return false;
        }
    }
    return true;
}

/* Whether the request is for the paths that are served in protobuf. */
static bool is_proto(const struct connection *connection)
{
    return strstr(connection->request, "/namespaces/protobuf/") != NULL;
}

static const char *type_of(const struct connection *connection)
{
    return is_proto(connection) ? "vnd.kubernetes.protobuf" : "json";
}

static bool send_list_head(const struct connection *connection, uint64_t bytes)
{
    char head[160];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 200 OK\r\nContent-Type: application/%s\r\nContent-Length: %" PRIu64 "\r\n\r\n",
                     type_of(connection), bytes);
    return send_bytes(connection, head, (size_t)n, MSG_MORE);
}

static bool send_page(const struct connection *connection, uint64_t first)
{
    const struct http_pages *pages = &connection->material->pages;
    uint64_t page = first / HTTP_PAGE_PODS;
    if (page >= pages->count) {
        return false;
    }
    uint64_t start = pages->starts[page];
    uint64_t end = pages->starts[page + 1];
    return send_list_head(connection, end - start) && send_file(connection, pages->fd, start, end);
}

/* Replaces an empty list in JSON by the same list in protobuf. */
static void encode_list(struct text *body)
{
    ki_buf list;
    size_t at = 0;
    ki_buf_init(&list, LIST_BYTES_MAX);
    json_t *head = json_loadb(body->data, body->length, 0, NULL);
    body->length = 0;
    if (head != NULL && ki_as_proto_list_begin(&list, head, &at) == 0 &&
        ki_as_proto_list_end(&list, at) == 0) {
        text_append(body, list.data, list.len);
    }
    json_decref(head);
    ki_buf_fini(&list);
}

/* The list has a version before all events. */
static bool send_empty_list(const struct connection *connection)
{
    const struct pod_collection collection = {GENERATE_PODS_SEED, 1};
    struct text body = {0};
    pods_append_list_start(&body, &collection, 1);
    pods_append_list_end(&body);
    if (is_proto(connection)) {
        encode_list(&body);
    }
    bool is_sent =
        send_list_head(connection, body.length) && send_bytes(connection, body.data, body.length, 0);
    text_fini(&body);
    return is_sent;
}

/* ---- watches ---------------------------------------------------------------------------------------- */

static bool send_watch_head(const struct connection *connection)
{
    char head[160];
    int n =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 200 OK\r\nContent-Type: application/%s%s\r\nTransfer-Encoding: chunked\r\n\r\n",
                 type_of(connection), is_proto(connection) ? ";stream=watch" : "");
    return send_bytes(connection, head, (size_t)n, 0);
}

/* On the loopback device, the thread that reads also does the kernel's work of sending. So the send buffer is
 * limited, as the API server does for a watch, and the congestion control is one that sends without timers:
 * the system's default may be another. */
static void spare_reader(const struct connection *connection)
{
    static const char control[] = "reno";
    int bytes = SEND_BYTES;
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_CONGESTION, control, sizeof(control) - 1);
}

static bool send_burst(const struct connection *connection)
{
    const struct http_burst *burst =
        is_proto(connection) ? &connection->material->proto_burst : &connection->material->burst;
    spare_reader(connection);
    if (!send_file(connection, burst->fd, 0, burst->bytes)) {
        return false;
    }
    if (strstr(connection->request, "end=true") == NULL) {
        return true;
    }
    static const char end[] = "0\r\n\r\n";
    return send_bytes(connection, end, sizeof(end) - 1, 0);
}

/* The time is filled in just before the tick is sent. */
static void append_tick(struct text *out, uint64_t number)
{
    static const char member[] = "\"" HTTP_TICK_MEMBER "\":\"00000000000000000000\",";
    const struct pod_collection collection = {GENERATE_PODS_SEED, 1};
    const struct pod_change change = {number == 0 ? "ADDED" : "MODIFIED", 0, number, (unsigned)number};
    struct text event = {0};
    pods_append_change(&event, &collection, &change);
    size_t place = (size_t)(strstr(event.data, "\"kind\"") - event.data);
    char head[24];
    int n = snprintf(head, sizeof(head), "%zx\r\n", event.length + sizeof(member) - 1);
    text_append(out, head, (size_t)n);
    text_append(out, event.data, place);
    text_append(out, member, sizeof(member) - 1);
    text_append(out, event.data + place, event.length - place);
    text_put_literal(out, "\r\n");
    text_fini(&event);
}

static void stamp(struct text *tick)
{
    char digits[HTTP_TICK_DIGITS + 1];
    static const char before[] = "\"" HTTP_TICK_MEMBER "\":\"";
    char *place = memmem(tick->data, tick->length, before, sizeof(before) - 1);
    if (place != NULL) {
        (void)snprintf(digits, sizeof(digits), "%0*" PRIu64, HTTP_TICK_DIGITS, http_now_ns());
        memcpy(place + sizeof(before) - 1, digits, HTTP_TICK_DIGITS);
    }
}

/* Sends until the client closes the connection. */
static void send_ticks(const struct connection *connection)
{
    uint64_t due = http_now_ns();
    bool is_sent = true;
    struct text tick = {0};
    for (uint64_t number = 0; is_sent; number++) {
        tick.length = 0;
        append_tick(&tick, number);
        due += HTTP_TICK_MS * NS_PER_MS;
        const struct timespec when = {(time_t)(due / NS_PER_S), (long)(due % NS_PER_S)};
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
        stamp(&tick);
        is_sent = send_bytes(connection, tick.data, tick.length, 0);
    }
    text_fini(&tick);
}

static bool serve_watch(const struct connection *connection)
{
    if (!send_watch_head(connection)) {
        return false;
    }
    if (strstr(connection->request, "/namespaces/burst/") != NULL || is_proto(connection)) {
        return send_burst(connection);
    }
    if (strstr(connection->request, "/namespaces/ticks/") != NULL) {
        send_ticks(connection);
        return false;
    }
    return true;
}

/* ---- connections ------------------------------------------------------------------------------------ */

static bool serve_request(const struct connection *connection)
{
    static const char next[] = "continue=" PODS_CONTINUE;
    const char *request = connection->request;
    if (strstr(request, "watch=true") != NULL) {
        return serve_watch(connection);
    }
    if (strncmp(request, "GET /api/v1/pods", strlen("GET /api/v1/pods")) != 0 ||
        strstr(request, "limit=1&") != NULL || strstr(request, "limit=1 ") != NULL) {
        return send_empty_list(connection);
    }
    const char *token = strstr(request, next);
    return send_page(connection, token == NULL ? 0 : strtoull(token + strlen(next), NULL, 10));
}

/* Reads on until the request is complete. */
static bool read_request(struct connection *connection)
{
    connection->length = 0;
    connection->request[0] = 0;
    while (strstr(connection->request, "\r\n\r\n") == NULL) {
        char *at = connection->request + connection->length;
        size_t space = REQUEST_BYTES_MAX - connection->length;
        ssize_t n = connection->ssl != NULL ? SSL_read(connection->ssl, at, (int)space)
                                            : recv(connection->fd, at, space, 0);
        if (n <= 0) {
            return false;
        }
        connection->length += (size_t)n;
        connection->request[connection->length] = 0;
    }
    return true;
}

static void *run_connection(void *user)
{
    struct connection *connection = user;
    bool is_open = true;
    if (connection->tls != NULL) {
        connection->ssl = http_tls_accept(connection->tls, connection->fd);
        is_open = connection->ssl != NULL;
    }
    while (is_open && read_request(connection) && serve_request(connection)) {
    }
    SSL_free(connection->ssl);
    close(connection->fd);
    free(connection);
    return NULL;
}

static void serve(int fd, SSL_CTX *tls, const struct http_material *material)
{
    int one = 1;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (;;) {
        struct connection *connection = calloc(1, sizeof(*connection));
        int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (connection == NULL || accepted < 0) {
            perror("server");
            _exit(EXIT_FAILURE);
        }
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        connection->fd = accepted;
        connection->tls = tls;
        connection->material = material;
        if (pthread_create(&thread, &attributes, run_connection, connection) != 0) {
            perror("server");
            _exit(EXIT_FAILURE);
        }
    }
}

/* ---- the process ------------------------------------------------------------------------------------ */

static int listen_on_loopback(unsigned *out_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, WAITING_MAX) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        perror("listen");
        return -1;
    }
    *out_port = ntohs(address.sin_port);
    return fd;
}

static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool start(struct http_server *server, const struct http_material *material, bool is_tls)
{
    int fd = listen_on_loopback(&server->port);
    if (fd < 0) {
        return false;
    }
    server->pid = fork();
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        raise_limits();
        SSL_CTX *tls = is_tls ? http_tls_new() : NULL;
        if (is_tls && tls == NULL) {
            fprintf(stderr, "server: no TLS\n");
            _exit(EXIT_FAILURE);
        }
        serve(fd, tls, material);
    }
    close(fd);
    return server->pid > 0;
}

bool http_server_start(struct http_server *server, const struct http_material *material)
{
    return start(server, material, false);
}

bool http_server_start_tls(struct http_server *server, const struct http_material *material)
{
    return start(server, material, true);
}

void http_server_stop(struct http_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
    }
    server->pid = 0;
}
