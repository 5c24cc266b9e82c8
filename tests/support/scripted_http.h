/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_http - a small HTTP/1.1 server on 127.0.0.1 whose answers the test writes, byte by byte if it
 * likes.
 *
 *   From:     a client under test, over real sockets
 *   To:       a function of the test, called for each request on a thread of its connection
 *   Locks:    one mutex, for counts and pokes.
 */
#ifndef KI_TESTS_SUPPORT_SCRIPTED_HTTP_H
#define KI_TESTS_SUPPORT_SCRIPTED_HTTP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scripted_http scripted_http;
typedef struct scripted_connection scripted_connection;

typedef struct scripted_request {
    char method[16];
    char target[4096];
    char head[16384]; /* with the request line */
    char client[64];  /* the common name in its certificate; "": none */
    int number;       /* of the server's requests, from 1 on */
    int connection;   /* of the server's connections, from 1 on */
} scripted_request;

typedef enum scripted_next {
    SCRIPTED_KEEP = 0, /* the connection, for the next request */
    SCRIPTED_CLOSE,
    SCRIPTED_RESET /* without a good-bye */
} scripted_next;

typedef scripted_next (*scripted_serve_cb)(scripted_connection *connection, const scripted_request *request,
                                           void *user);

typedef struct scripted_http_options {
    scripted_serve_cb serve;
    void *user;
    const char *certificate_pem; /* with the next: speaks TLS */
    const char *key_pem;
    const char *client_ca_pem; /* asks for a certificate of the client's, by this authority */
    int tls_version_max;       /* 0: any; as TLS1_2_VERSION */
    /* Takes over connections whose client agrees to speak HTTP/2; NULL: none does. */
    void (*serve_http2)(scripted_connection *connection, void *user);
    /* Takes over each connection before a byte is read: speaks something else than HTTP. NULL: HTTP. */
    void (*serve_bytes)(scripted_connection *connection, void *user);
} scripted_http_options;

/* Fails the test when it cannot. */
scripted_http *scripted_http_start(const scripted_http_options *options);

/* Ends connections and threads. */
void scripted_http_stop(scripted_http *server);

int scripted_http_port(const scripted_http *server);

/* "http://127.0.0.1:4711", or https; lives as long as the server. */
const char *scripted_http_url(const scripted_http *server);

int scripted_http_requests(scripted_http *server);
int scripted_http_connections(scripted_http *server);

/* Those that wait in scripted_wait() for this number or a smaller one go on. */
void scripted_http_poke(scripted_http *server, int number);

/* ---- for the function that serves -------------------------------------------------------------------- */

/* Each returns false when the client is gone or the server stops. */
bool scripted_send(scripted_connection *connection, const char *text);
bool scripted_send_bytes(scripted_connection *connection, const void *bytes, size_t n);

/* Fills `bytes`. */
bool scripted_read_bytes(scripted_connection *connection, void *bytes, size_t n);

/* Hands on what comes, in both ways, between the client and `fd` until one of them ends. What was read of the
 * client behind the request is handed on first. */
void scripted_relay(scripted_connection *connection, int fd);

/* The body of the request, as long as its head says, with a NUL behind it;
 * what is longer than `size` - 1 fails. */
bool scripted_read_body(scripted_connection *connection, const scripted_request *request, char *body,
                        size_t size);

/* A whole answer; `headers` are lines with their ends, "" or NULL: none. */
bool scripted_answer(scripted_connection *connection, const char *status, const char *headers,
                     const char *body);

/* Answers with the head of the request, and keeps the connection. */
scripted_next scripted_serve_echo(scripted_connection *connection, const scripted_request *request,
                                  void *user);
bool scripted_is_watch(const scripted_request *request);

/* An answer in chunks. An empty one ends it. */
bool scripted_begin(scripted_connection *connection, const char *status);
bool scripted_chunk(scripted_connection *connection, const char *text);

/* Waits for scripted_http_poke(). */
bool scripted_wait(scripted_connection *connection, int number);

/* Waits until the client is gone, or the server stops. */
void scripted_wait_for_end(scripted_connection *connection);

#endif
