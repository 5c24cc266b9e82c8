/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/proxies.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns -1 if nothing listens. */
static int connect_to(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = port == 0 ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

scripted_next proxies_connect(scripted_connection *c, const scripted_request *r, void *user)
{
    proxied *notes = user;
    (void)snprintf(notes->asked, sizeof(notes->asked), "%.299s", r->target);
    (void)snprintf(notes->client, sizeof(notes->client), "%s", r->client);
    (void)snprintf(notes->head, sizeof(notes->head), "%s", r->head);
    int fd = strcmp(r->method, "CONNECT") == 0 ? connect_to(notes->port) : -1;
    if (fd < 0) {
        (void)scripted_answer(c, "403 Forbidden", "", "not here");
        return SCRIPTED_CLOSE;
    }
    notes->tunnels++;
    if (scripted_send(c, "HTTP/1.1 200 Connection established\r\n\r\n"))
        scripted_relay(c, fd);
    (void)close(fd);
    return SCRIPTED_CLOSE;
}

/* ---- SOCKS5 ------------------------------------------------------------------------------------------ */

enum { VERSION = 5, NO_METHOD = 0, BY_PASSWORD = 2, NONE_WILL_DO = 0xff };
enum { CONNECT = 1, ADDRESS_V4 = 1, NAME = 3, GOES = 0, IS_REFUSED = 5 };

/* Reads a byte with the length, and that many bytes. */
static bool read_text(scripted_connection *c, char *text, size_t size)
{
    unsigned char n = 0;
    if (!scripted_read_bytes(c, &n, 1) || n >= size || !scripted_read_bytes(c, text, n))
        return false;
    text[n] = 0;
    return true;
}

static bool read_user(scripted_connection *c, proxied *notes)
{
    char version = 0, name[256], password[256];
    if (!scripted_read_bytes(c, &version, 1) || !read_text(c, name, sizeof(name)) ||
        !read_text(c, password, sizeof(password)))
        return false;
    (void)snprintf(notes->user, sizeof(notes->user), "%.140s:%.140s", name, password);
    return scripted_send_bytes(c, "\x1\x0", 2);
}

static bool greet(scripted_connection *c, proxied *notes)
{
    unsigned char head[2], methods[255];
    unsigned char method = notes->wants_user ? BY_PASSWORD : NO_METHOD;
    if (!scripted_read_bytes(c, head, 2) || head[0] != VERSION || !scripted_read_bytes(c, methods, head[1]))
        return false;
    bool is_offered = memchr(methods, method, head[1]) != NULL;
    unsigned char answer[] = {VERSION, is_offered ? method : NONE_WILL_DO};
    if (!scripted_send_bytes(c, answer, 2) || !is_offered)
        return false;
    return !notes->wants_user || read_user(c, notes);
}

static bool read_target(scripted_connection *c, proxied *notes)
{
    unsigned char head[4], address[4], port[2];
    char name[256];
    if (!scripted_read_bytes(c, head, 4) || head[0] != VERSION || head[1] != CONNECT)
        return false;
    if (head[3] == NAME ? !read_text(c, name, sizeof(name))
                        : head[3] != ADDRESS_V4 || !scripted_read_bytes(c, address, 4) ||
                              inet_ntop(AF_INET, address, name, sizeof(name)) == NULL)
        return false;
    if (!scripted_read_bytes(c, port, 2))
        return false;
    (void)snprintf(notes->asked, sizeof(notes->asked), "%s %s:%d", head[3] == NAME ? "name" : "address", name,
                   port[0] << 8 | port[1]);
    return true;
}

void proxies_socks5(scripted_connection *c, void *user)
{
    proxied *notes = user;
    if (!greet(c, notes) || !read_target(c, notes))
        return;
    int fd = connect_to(notes->port);
    unsigned char answer[10] = {VERSION, fd >= 0 ? GOES : IS_REFUSED, 0, ADDRESS_V4};
    if (scripted_send_bytes(c, answer, sizeof(answer)) && fd >= 0) {
        notes->tunnels++;
        scripted_relay(c, fd);
    }
    if (fd >= 0)
        (void)close(fd);
}
