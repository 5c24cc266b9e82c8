/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

/* Many clients may reconnect at the same time after a restart. */
enum { BACKLOG = 1024 };

static int resolve(const char *address, uint16_t port, struct ki_as_listen_address *out, ki_error *err)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char digits[8];
    if (address == NULL || strcmp(address, "localhost") == 0)
        address = "127.0.0.1";
    snprintf(digits, sizeof(digits), "%u", (unsigned)port);
    if (getaddrinfo(address, digits, &hints, &found) != 0)
        return ki_fail(err, KI_ERR_INVALID, "\"%s\" is not an address; write it as 127.0.0.1 or ::1",
                       address);
    memcpy(&out->address, found->ai_addr, found->ai_addrlen);
    out->bytes = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static int bind_to(const struct ki_as_listen_address *address, ki_error *err)
{
    const struct sockaddr *raw = (const struct sockaddr *)(const void *)&address->address;
    char text[80];
    int yes = 1;
    int fd = socket(raw->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "no socket: %s", strerror(errno));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        bind(fd, raw, address->bytes) == 0)
        return fd;
    int error = errno;
    (void)close(fd);
    ki_as_listen_format(address, text, sizeof(text));
    return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", text, strerror(error));
}

int ki_as_listen_reserve(const char *address, uint16_t port, struct ki_as_listen_address *out, ki_error *err)
{
    struct ki_as_listen_address found = {0};
    int rc = resolve(address, port, &found, err);
    if (rc < 0)
        return rc;
    int fd = bind_to(&found, err);
    if (fd < 0)
        return fd;
    found.bytes = sizeof(found.address);
    if (getsockname(fd, (struct sockaddr *)(void *)&found.address, &found.bytes) < 0) {
        (void)close(fd);
        return ki_fail(err, KI_ERR_SYSTEM, "getsockname: %s", strerror(errno));
    }
    *out = found;
    return fd;
}

int ki_as_listen_open(const struct ki_as_listen_address *address, ki_error *err)
{
    int fd = bind_to(address, err);
    if (fd < 0)
        return fd;
    if (listen(fd, BACKLOG) == 0)
        return fd;
    char text[80];
    int error = errno;
    (void)close(fd);
    ki_as_listen_format(address, text, sizeof(text));
    return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", text, strerror(error));
}

void ki_as_listen_format(const struct ki_as_listen_address *address, char *out, size_t out_bytes)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)&address->address;
        const struct in6_addr *host =
            IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) ? &in6addr_loopback : &in6->sin6_addr;
        inet_ntop(AF_INET6, host, text, sizeof(text));
        snprintf(out, out_bytes, "[%s]:%u", text, (unsigned)ntohs(in6->sin6_port));
        return;
    }
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)&address->address;
    struct in_addr host = in->sin_addr;
    if (host.s_addr == htonl(INADDR_ANY))
        host.s_addr = htonl(INADDR_LOOPBACK);
    inet_ntop(AF_INET, &host, text, sizeof(text));
    snprintf(out, out_bytes, "%s:%u", text, (unsigned)ntohs(in->sin_port));
}
