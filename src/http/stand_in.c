/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dup3; NOLINT(bugprone-reserved-identifier) */
#endif
#include "http/stand_in.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

/* What libcurl wants to send while its socket is away must wait as well. */
static void fill(int fd)
{
    static const char bytes[1024];
    int least = 1; /* the kernel makes it what it needs */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
    while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
        continue;
}

int ki_stand_in_open(ki_stand_in *out_stand_in, ki_error *err)
{
    assert(out_stand_in != NULL);
    int fds[2];
    struct stat about;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "making a pair of sockets: %s", strerror(errno));
    fill(fds[0]);
    (void)fstat(fds[0], &about);
    *out_stand_in = (ki_stand_in){
        .is_open = true, .fd = fds[0], .peer_fd = fds[1], .device = about.st_dev, .inode = about.st_ino};
    return 0;
}

void ki_stand_in_close(ki_stand_in *stand_in)
{
    assert(stand_in != NULL);
    if (stand_in->is_open) {
        (void)close(stand_in->fd);
        (void)close(stand_in->peer_fd);
    }
    *stand_in = (ki_stand_in){0};
}

int ki_stand_in_take_place(const ki_stand_in *stand_in, int fd)
{
    assert(stand_in != NULL);
    int socket_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (socket_fd >= 0 && dup3(stand_in->fd, fd, O_CLOEXEC) < 0) {
        (void)close(socket_fd);
        return -1;
    }
    return socket_fd;
}

static bool is_in_place(const ki_stand_in *stand_in, int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_dev == stand_in->device && about.st_ino == stand_in->inode;
}

/* A number that is not the stand-in's any more may be anybody's. */
bool ki_stand_in_give_back(const ki_stand_in *stand_in, int fd, int socket_fd)
{
    bool is_back = is_in_place(stand_in, fd) && dup3(socket_fd, fd, O_CLOEXEC) >= 0;
    (void)close(socket_fd);
    return is_back;
}
