/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in - a descriptor that takes the place of a socket for as long as nothing may come on it.
 *
 *   From:     http/sockets.c
 *   To:       the kernel
 *   Locks:    none; io's.
 *   Not here: deciding when; watching sockets.
 *
 * libcurl decides by itself when it reads from a socket, and how much. So a socket that must not be read is
 * given another number, and its own number leads to the stand-in meanwhile: there is never anything to read
 * there, and no room to write. To libcurl that is a server that sends nothing for a while. What the real
 * socket receives stays in the kernel, until the server has to wait.
 */
#ifndef KI_HTTP_STAND_IN_H
#define KI_HTTP_STAND_IN_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>
#include <sys/types.h>

/* One for any number of sockets. */
typedef struct ki_stand_in {
    bool is_open;
    int fd;
    int peer_fd; /* open as long as the other, which would be readable without it */
    dev_t device;
    ino_t inode;
} ki_stand_in;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_stand_in_open(ki_stand_in *out_stand_in, ki_error *err);

/* NULL is not allowed, a zeroed struct is. */
void ki_stand_in_close(ki_stand_in *stand_in);

/* Takes the place of `fd`, which is in no epoll. Returns the number under which the socket waits, for
 * ki_stand_in_give_back(); -1: the process has no number left, and all is as it was. */
KI_NODISCARD int ki_stand_in_take_place(const ki_stand_in *stand_in, int fd);

/* The socket is `fd` again, or closed if `fd` has been closed meanwhile: returns whether it is back. */
bool ki_stand_in_give_back(const ki_stand_in *stand_in, int fd, int socket_fd);

#endif
