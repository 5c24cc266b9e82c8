/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int listen_at(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (fd >= 0 && (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, 16) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int server_listen(const char *address, ki_error *err)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int fd = -1, is_bracketed = address[0] == '[' && colon > address + 1 && colon[-1] == ']';
    (void)snprintf(host, sizeof(host), "%.*s", (int)(colon - address) - 2 * is_bracketed,
                   address + is_bracketed);
    int rc = getaddrinfo(host[0] == 0 ? NULL : host, colon + 1, &hints, &found);
    const char *why = gai_strerror(rc);
    if (rc == 0) {
        fd = listen_at(found);
        why = strerror(errno);
        freeaddrinfo(found);
    }
    if (fd < 0) {
        err->code = KI_ERR_SYSTEM;
        (void)snprintf(err->message, sizeof(err->message), "--metrics-address: cannot listen at %.200s: %s",
                       address, why);
    }
    return fd;
}

static void answer(int fd, const char *status, const char *type, ki_str body)
{
    char head[256];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                     status, type, body.len);
    ssize_t sent = send(fd, head, (size_t)n, MSG_NOSIGNAL | MSG_MORE);
    while (sent > 0 && body.len > 0) {
        sent = send(fd, body.ptr, body.len, MSG_NOSIGNAL);
        body.ptr += sent > 0 ? sent : 0;
        body.len -= sent > 0 ? (size_t)sent : 0;
    }
}

static void answer_metrics(int fd, ki_metrics *metrics)
{
    ki_metrics_text text = {0};
    if (ki_metrics_render(metrics, &text, NULL) < 0)
        answer(fd, "500 Internal Server Error", "text/plain", (ki_str){0});
    else
        answer(fd, "200 OK", KI_METRICS_CONTENT_TYPE, (ki_str){text.bytes, text.len});
    ki_metrics_text_fini(&text);
}

void server_answer(int listener, ki_metrics *metrics)
{
    char request[2048];
    struct timeval limit = {.tv_sec = 1};
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    ssize_t n = recv(fd, request, sizeof(request) - 1, 0);
    request[n > 0 ? n : 0] = 0;
    if (strncmp(request, "GET /metrics ", 13) == 0)
        answer_metrics(fd, metrics);
    else if (strncmp(request, "GET /healthz ", 13) == 0)
        answer(fd, "200 OK", "text/plain", KI_STR("ok"));
    else
        answer(fd, "404 Not Found", "text/plain", (ki_str){0});
    close(fd);
}
