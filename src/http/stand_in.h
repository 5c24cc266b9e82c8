/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in - a descriptor that replaces a socket while nothing may be read from it.
 *
 *   From:     http/sockets.c, http/http.c
 *   To:       the kernel
 *   Locks:    none; io only.
 *   Not here: when to pause; watching sockets.
 *
 * libcurl decides itself when to read from a socket, and how much. So a socket that must not be read is moved
 * to another number, and its own number refers to the stand-in meanwhile, which is never readable or
 * writable. To libcurl it looks like a server that sends nothing for a while. Data for the real socket stays
 * in the kernel until its buffer is full and the server has to wait.
 */
#ifndef KI_HTTP_STAND_IN_H
#define KI_HTTP_STAND_IN_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>
#include <sys/types.h>

/* One stand-in serves any number of sockets. */
typedef struct ki_stand_in {
    bool is_open;
    int fd;
    int peer_fd; /* the other end of the pair; if it were closed, fd would be readable */
    dev_t device;
    ino_t inode;
} ki_stand_in;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_stand_in_open(ki_stand_in *out_stand_in, ki_error *err);

/* NULL is not allowed, a zeroed struct is. */
void ki_stand_in_close(ki_stand_in *stand_in);

/* Lets the stand-in replace `fd`, which must not be in an epoll. Returns the number that the socket has
 * meanwhile, for ki_stand_in_give_back(). Returns -1 and changes nothing if the process has no free
 * descriptor. */
KI_NODISCARD int ki_stand_in_take_place(const ki_stand_in *stand_in, int fd);

/* Moves the socket back to `fd`, or closes it if `fd` was closed meanwhile. Returns whether it was moved
 * back. */
bool ki_stand_in_give_back(const ki_stand_in *stand_in, int fd, int socket_fd);

#endif
