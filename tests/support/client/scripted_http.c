/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4 */
#include "support/client/scripted_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/unit.h"
#include "util/list.h"
#include "util/thread.h"

struct scripted_http {
    scripted_http_options options;
    SSL_CTX *tls;
    int fd;
    int port;
    char url[64];
    ki_thread accepter;
    ki_mutex mu;
    ki_cond changed;
    ki_list connections; /* guarded by mu, like all below */
    int connection_count;
    int request_count;
    int poked;
    bool is_stopping;
};

struct scripted_connection {
    ki_list_node node;
    scripted_http *server;
    ki_thread thread;
    SSL *ssl;
    int fd;
    int number;
    char input[32768]; /* bytes that were read and do not belong to a request yet */
    size_t input_bytes;
};

/* ---- bytes ------------------------------------------------------------------------------------------- */

static ssize_t read_some(scripted_connection *c, char *bytes, size_t n)
{
    if (c->ssl != NULL)
        return SSL_read(c->ssl, bytes, (int)n);
    return recv(c->fd, bytes, n, 0);
}

bool scripted_send_bytes(scripted_connection *c, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        ssize_t sent = c->ssl != NULL ? SSL_write(c->ssl, at, (int)n) : send(c->fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

bool scripted_read_bytes(scripted_connection *c, void *bytes, size_t n)
{
    char *at = bytes;
    while (n > 0) {
        ssize_t got = read_some(c, at, n);
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

bool scripted_read_body(scripted_connection *c, const scripted_request *request, char *body, size_t size)
{
    const char *header = strcasestr(request->head, "\r\nContent-Length:");
    size_t n = header == NULL ? 0 : strtoul(header + strlen("\r\nContent-Length:"), NULL, 10);
    if (n >= size)
        return false;
    size_t here = n < c->input_bytes ? n : c->input_bytes;
    memcpy(body, c->input, here);
    memmove(c->input, c->input + here, c->input_bytes - here);
    c->input_bytes -= here;
    body[n] = 0;
    return scripted_read_bytes(c, body + here, n - here);
}

bool scripted_send(scripted_connection *c, const char *text)
{
    return scripted_send_bytes(c, text, strlen(text));
}

bool scripted_answer(scripted_connection *c, const char *status, const char *headers, const char *body)
{
    char head[1024];
    (void)snprintf(head, sizeof(head),
                   "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n", status,
                   headers == NULL ? "" : headers, strlen(body));
    return scripted_send(c, head) && scripted_send(c, body);
}

scripted_next scripted_serve_echo(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    (void)scripted_answer(c, "200 OK", "", r->head);
    return SCRIPTED_KEEP;
}

bool scripted_is_watch(const scripted_request *request)
{
    return strstr(request->target, "watch=true") != NULL;
}

bool scripted_begin(scripted_connection *c, const char *status)
{
    char head[256];
    (void)snprintf(head, sizeof(head),
                   "HTTP/1.1 %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
                   status);
    return scripted_send(c, head);
}

bool scripted_chunk(scripted_connection *c, const char *text)
{
    char size[32];
    (void)snprintf(size, sizeof(size), "%zx\r\n", strlen(text));
    return scripted_send(c, size) && scripted_send(c, text) && scripted_send(c, "\r\n");
}

bool scripted_wait(scripted_connection *c, int number)
{
    scripted_http *server = c->server;
    ki_mutex_lock(&server->mu);
    while (server->poked < number && !server->is_stopping)
        ki_cond_wait(&server->changed, &server->mu);
    bool is_stopping = server->is_stopping;
    ki_mutex_unlock(&server->mu);
    return !is_stopping;
}

void scripted_wait_for_end(scripted_connection *c)
{
    char bytes[256];
    while (read_some(c, bytes, sizeof(bytes)) > 0)
        continue;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    for (ssize_t sent = 0; n > 0; bytes += sent, n -= (size_t)sent)
        if ((sent = send(fd, bytes, n, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

/* poll() does not see bytes that TLS has already read. */
static bool relay_once(scripted_connection *c, int fd)
{
    static const short in = POLLIN | POLLHUP | POLLERR;
    char bytes[16384];
    struct pollfd polled[] = {{.fd = c->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    bool has_more = c->ssl != NULL && SSL_pending(c->ssl) > 0;
    if (poll(polled, 2, has_more ? 0 : -1) < 0)
        return errno == EINTR;
    if (has_more || (polled[0].revents & in) != 0) {
        ssize_t n = read_some(c, bytes, sizeof(bytes));
        if (n <= 0 || !send_all(fd, bytes, (size_t)n))
            return false;
    }
    if ((polled[1].revents & in) != 0) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
        if (n <= 0 || !scripted_send_bytes(c, bytes, (size_t)n))
            return false;
    }
    return true;
}

void scripted_relay(scripted_connection *c, int fd)
{
    bool is_open = send_all(fd, c->input, c->input_bytes);
    c->input_bytes = 0;
    while (is_open)
        is_open = relay_once(c, fd);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static bool read_request(scripted_connection *c, scripted_request *out)
{
    const char *end = NULL;
    c->input[c->input_bytes] = 0;
    while ((end = strstr(c->input, "\r\n\r\n")) == NULL) {
        size_t space = sizeof(c->input) - 1 - c->input_bytes;
        ssize_t n = space == 0 ? 0 : read_some(c, c->input + c->input_bytes, space);
        if (n <= 0)
            return false;
        c->input_bytes += (size_t)n;
        c->input[c->input_bytes] = 0;
    }
    size_t used = (size_t)(end - c->input) + 4;
    (void)snprintf(out->head, sizeof(out->head), "%.*s", (int)used, c->input);
    memmove(c->input, c->input + used, c->input_bytes - used);
    c->input_bytes -= used;
    return sscanf(out->head, "%15s %4095s", out->method, out->target) == 2;
}

static void count_request(scripted_connection *c, scripted_request *request)
{
    ki_mutex_lock(&c->server->mu);
    request->number = ++c->server->request_count;
    request->connection = c->number;
    ki_mutex_unlock(&c->server->mu);
}

static bool open_tls(scripted_connection *c)
{
    if (c->server->tls == NULL)
        return true;
    c->ssl = SSL_new(c->server->tls);
    return c->ssl != NULL && SSL_set_fd(c->ssl, c->fd) == 1 && SSL_accept(c->ssl) == 1;
}

static void hang_up(scripted_connection *c, scripted_next how)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (how == SCRIPTED_RESET)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    else if (c->ssl != NULL && how == SCRIPTED_CLOSE)
        (void)SSL_shutdown(c->ssl);
    SSL_free(c->ssl);
    ki_mutex_lock(&c->server->mu);
    (void)close(c->fd);
    c->fd = -1;
    ki_mutex_unlock(&c->server->mu);
    ERR_clear_error();
    OPENSSL_thread_stop();
}

static bool speaks_http2(const scripted_connection *c)
{
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    if (c->ssl != NULL)
        SSL_get0_alpn_selected(c->ssl, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

/* The client's identity as proved by TLS. */
static void note_client(const scripted_connection *c, scripted_request *request)
{
    X509 *certificate = c->ssl != NULL ? SSL_get1_peer_certificate(c->ssl) : NULL;
    if (certificate != NULL)
        (void)X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, request->client,
                                        sizeof(request->client));
    X509_free(certificate);
}

static void serve(void *user)
{
    scripted_connection *c = user;
    scripted_request *request = calloc(1, sizeof(*request));
    scripted_next next = SCRIPTED_KEEP;
    bool is_open = request != NULL && open_tls(c);
    if (is_open)
        note_client(c, request);
    if (is_open && c->server->options.serve_bytes != NULL)
        c->server->options.serve_bytes(c, c->server->options.user);
    else if (is_open && speaks_http2(c))
        c->server->options.serve_http2(c, c->server->options.user);
    else if (is_open)
        while (next == SCRIPTED_KEEP && read_request(c, request)) {
            count_request(c, request);
            next = c->server->options.serve(c, request, c->server->options.user);
        }
    hang_up(c, next);
    free(request);
}

/* ---- the server -------------------------------------------------------------------------------------- */

static void take_connection(scripted_http *server, int fd)
{
    scripted_connection *c = calloc(1, sizeof(*c));
    ki_thread_options options = {.name = "connection", .run = serve, .user = c};
    if (c == NULL) {
        (void)close(fd);
        return;
    }
    c->server = server;
    c->fd = fd;
    ki_mutex_lock(&server->mu);
    c->number = ++server->connection_count;
    ki_list_push_back(&server->connections, &c->node);
    if (server->is_stopping)
        (void)shutdown(fd, SHUT_RDWR);
    (void)!ki_thread_start(&c->thread, &options, NULL);
    ki_mutex_unlock(&server->mu);
}

static void accept_all(void *user)
{
    scripted_http *server = user;
    for (;;) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            take_connection(server, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

static void use_pem(SSL_CTX *tls, const scripted_http_options *options)
{
    BIO *certificate = BIO_new_mem_buf(options->certificate_pem, -1);
    BIO *key = BIO_new_mem_buf(options->key_pem, -1);
    X509 *x509 = PEM_read_bio_X509(certificate, NULL, NULL, NULL);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    assert_int_equal(SSL_CTX_use_certificate(tls, x509), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(tls, pkey), 1);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(certificate);
    BIO_free(key);
}

static void ask_client(SSL_CTX *tls, const char *ca_pem)
{
    BIO *bio = BIO_new_mem_buf(ca_pem, -1);
    X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), ca), 1);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    X509_free(ca);
    BIO_free(bio);
}

static int choose_http2(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                        const unsigned char *in, unsigned in_length, void *user)
{
    static const unsigned char http2[] = "\x2h2";
    (void)ssl;
    (void)user;
    int found = SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_length, http2, sizeof(http2) - 1,
                                      in, in_length);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static void init_tls(scripted_http *server)
{
    const scripted_http_options *options = &server->options;
    if (options->certificate_pem == NULL)
        return;
    server->tls = SSL_CTX_new(TLS_server_method());
    assert_non_null(server->tls);
    SSL_CTX_set_security_level(server->tls, 0);
    (void)SSL_CTX_set_min_proto_version(server->tls, TLS1_VERSION);
    (void)SSL_CTX_set_max_proto_version(server->tls, options->tls_version_max);
    use_pem(server->tls, options);
    if (options->serve_http2 != NULL)
        SSL_CTX_set_alpn_select_cb(server->tls, choose_http2, NULL);
    if (options->client_ca_pem != NULL)
        ask_client(server->tls, options->client_ca_pem);
}

/* No request in these tests goes through a proxy. */
static void forget_proxies(void)
{
    static const char *const names[] = {"http_proxy",  "https_proxy", "all_proxy", "no_proxy",
                                        "HTTPS_PROXY", "ALL_PROXY",   "NO_PROXY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unsetenv(names[i]);
}

scripted_http *scripted_http_start(const scripted_http_options *options)
{
    scripted_http *server = calloc(1, sizeof(*server));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    ki_thread_options thread = {.name = "accepter", .run = accept_all, .user = server};
    assert_non_null(server);
    forget_proxies();
    server->options = *options;
    ki_mutex_init(&server->mu);
    ki_cond_init(&server->changed);
    ki_list_init(&server->connections);
    init_tls(server);
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->fd >= 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server->fd, 64), 0);
    assert_int_equal(getsockname(server->fd, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    (void)snprintf(server->url, sizeof(server->url), "%s://127.0.0.1:%d",
                   server->tls != NULL ? "https" : "http", server->port);
    assert_int_equal(ki_thread_start(&server->accepter, &thread, NULL), 0);
    return server;
}

static void stop_connections(scripted_http *server)
{
    ki_mutex_lock(&server->mu);
    server->is_stopping = true;
    for (ki_list_node *node = ki_list_first(&server->connections); node != NULL;
         node = ki_list_next(&server->connections, node)) {
        const scripted_connection *c = KI_CONTAINER_OF(node, scripted_connection, node);
        if (c->fd >= 0)
            (void)shutdown(c->fd, SHUT_RDWR);
    }
    ki_cond_broadcast(&server->changed);
    ki_mutex_unlock(&server->mu);
}

void scripted_http_stop(scripted_http *server)
{
    if (server == NULL)
        return;
    (void)shutdown(server->fd, SHUT_RDWR);
    ki_thread_join(&server->accepter);
    (void)close(server->fd);
    stop_connections(server);
    for (ki_list_node *node = ki_list_pop_front(&server->connections); node != NULL;
         node = ki_list_pop_front(&server->connections)) {
        scripted_connection *c = KI_CONTAINER_OF(node, scripted_connection, node);
        ki_thread_join(&c->thread);
        free(c);
    }
    SSL_CTX_free(server->tls);
    ki_cond_fini(&server->changed);
    ki_mutex_fini(&server->mu);
    free(server);
}

int scripted_http_port(const scripted_http *server)
{
    return server->port;
}

const char *scripted_http_url(const scripted_http *server)
{
    return server->url;
}

int scripted_http_requests(scripted_http *server)
{
    ki_mutex_lock(&server->mu);
    int count = server->request_count;
    ki_mutex_unlock(&server->mu);
    return count;
}

int scripted_http_connections(scripted_http *server)
{
    ki_mutex_lock(&server->mu);
    int count = server->connection_count;
    ki_mutex_unlock(&server->mu);
    return count;
}

void scripted_http_poke(scripted_http *server, int number)
{
    ki_mutex_lock(&server->mu);
    if (server->poked < number)
        server->poked = number;
    ki_cond_broadcast(&server->changed);
    ki_mutex_unlock(&server->mu);
}
