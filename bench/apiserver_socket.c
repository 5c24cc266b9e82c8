/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 2048 };

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
