/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 2048, ANSWER_BYTES = 16384 };

uint16_t apiserver_port_of(const char *url)
{
    const char *colon = strrchr(url, ':');
    return colon == NULL ? 0 : (uint16_t)strtoul(colon + 1, NULL, 10);
}

int apiserver_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)(void *)&address, sizeof(address)) == 0) {
        return fd;
    }
    perror("connect");
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

bool apiserver_ask(int fd, const char *path)
{
    char request[REQUEST_BYTES];
    int length = snprintf(request, sizeof(request),
                          "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n", path);
    return length < REQUEST_BYTES && send(fd, request, (size_t)length, MSG_NOSIGNAL) == length;
}

bool apiserver_post(int fd, const char *path, const char *body)
{
    char request[REQUEST_BYTES];
    int length = snprintf(request, sizeof(request),
                          "POST %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          path, strlen(body), body);
    return length < REQUEST_BYTES && send(fd, request, (size_t)length, MSG_NOSIGNAL) == length;
}

/* The length of the answer including its head; 0 if it is not known yet. */
static size_t answer_bytes(const char *answer)
{
    static const char name[] = "Content-Length:";
    const char *end = strstr(answer, "\r\n\r\n");
    const char *length = strstr(answer, name);
    if (end == NULL || length == NULL || length > end) {
        return 0;
    }
    return (size_t)(end - answer) + 4 + strtoul(length + sizeof(name) - 1, NULL, 10);
}

int apiserver_read_status(int fd)
{
    char answer[ANSWER_BYTES];
    size_t have = 0;
    for (size_t want = 0; want == 0 || have < want; want = answer_bytes(answer)) {
        ssize_t n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0);
        if (n <= 0) {
            return 0;
        }
        have += (size_t)n;
        answer[have] = '\0';
    }
    return (int)strtol(answer + strcspn(answer, " "), NULL, 10);
}
