/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_http - a small HTTP/1.1 server on 127.0.0.1 whose responses the test writes, if need be byte by
 * byte.
 *
 *   From:     a client under test, over real sockets
 *   To:       a function of the test, called for each request on the connection's thread
 *   Locks:    one mutex, for counts and pokes.
 */
#ifndef KI_TESTS_SUPPORT_CLIENT_SCRIPTED_HTTP_H
#define KI_TESTS_SUPPORT_CLIENT_SCRIPTED_HTTP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scripted_http scripted_http;
typedef struct scripted_connection scripted_connection;

typedef struct scripted_request {
    char method[16];
    char target[4096];
    char head[16384]; /* includes the request line */
    char client[64];  /* the common name in the client's certificate; "": none */
    int number;       /* the number of the request on this server, from 1 */
    int connection;   /* the number of the connection on this server, from 1 */
} scripted_request;

typedef enum scripted_next {
    SCRIPTED_KEEP = 0, /* keeps the connection for the next request */
    SCRIPTED_CLOSE,
    SCRIPTED_RESET /* with RST */
} scripted_next;

typedef scripted_next (*scripted_serve_cb)(scripted_connection *connection, const scripted_request *request,
                                           void *user);

typedef struct scripted_http_options {
    scripted_serve_cb serve;
    void *user;
    const char *certificate_pem; /* together with the next one: the server uses TLS */
    const char *key_pem;
    const char *client_ca_pem; /* the server asks for a client certificate, signed by this CA */
    int tls_version_max;       /* such as TLS1_2_VERSION; 0: any */
    /* Takes over connections whose client agrees to use HTTP/2; NULL: HTTP/2 is not offered. */
    void (*serve_http2)(scripted_connection *connection, void *user);
    /* Takes over each connection before a byte is read, for a protocol other than HTTP. NULL: HTTP. */
    void (*serve_bytes)(scripted_connection *connection, void *user);
} scripted_http_options;

/* Fails the test on an error. */
scripted_http *scripted_http_start(const scripted_http_options *options);

/* Ends connections and threads. */
void scripted_http_stop(scripted_http *server);

int scripted_http_port(const scripted_http *server);

/* "http://127.0.0.1:4711", or https; valid as long as the server. */
const char *scripted_http_url(const scripted_http *server);

int scripted_http_requests(scripted_http *server);
int scripted_http_connections(scripted_http *server);

/* Ends scripted_wait() for this number or a smaller one. */
void scripted_http_poke(scripted_http *server, int number);

/* ---- for the function that serves requests ------------------------------------------------------------ */

/* Each returns false if the client is gone or the server stops. */
bool scripted_send(scripted_connection *connection, const char *text);
bool scripted_send_bytes(scripted_connection *connection, const void *bytes, size_t n);

/* Reads `n` bytes. */
bool scripted_read_bytes(scripted_connection *connection, void *bytes, size_t n);

/* Forwards bytes in both directions between the client and `fd` until one of them ends. Bytes received after
 * the request are forwarded first. */
void scripted_relay(scripted_connection *connection, int fd);

/* Reads the body of the request, whose length is in its head, and adds a NUL;
 * fails if it is longer than `size` - 1. */
bool scripted_read_body(scripted_connection *connection, const scripted_request *request, char *body,
                        size_t size);

/* Sends a whole response; `headers` are lines with their line ends; "" or NULL: none. */
bool scripted_answer(scripted_connection *connection, const char *status, const char *headers,
                     const char *body);

/* Answers with the head of the request, and keeps the connection. */
scripted_next scripted_serve_echo(scripted_connection *connection, const scripted_request *request,
                                  void *user);
bool scripted_is_watch(const scripted_request *request);

/* A response in chunks. An empty chunk ends it. */
bool scripted_begin(scripted_connection *connection, const char *status);
bool scripted_chunk(scripted_connection *connection, const char *text);

/* Waits for scripted_http_poke(). */
bool scripted_wait(scripted_connection *connection, int number);

/* Waits until the client is gone or the server stops. */
void scripted_wait_for_end(scripted_connection *connection);

#endif
