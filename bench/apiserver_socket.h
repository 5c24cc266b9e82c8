/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_socket - requests to the embedded API server over a plain socket, so that the client costs almost
 * nothing.
 *
 *   From:     apiserver_load.c, apiserver_pages.c, apiserver_watchers.c
 *   Not here: the content of answers
 */
#ifndef BENCH_APISERVER_SOCKET_H
#define BENCH_APISERVER_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

uint16_t apiserver_port_of(const char *url);
/* Returns a connected socket, or -1 after a message. */
int apiserver_connect(uint16_t port);
/* Sends a GET of that path. */
bool apiserver_ask(int fd, const char *path);
/* Sends a POST with a JSON body. */
bool apiserver_post(int fd, const char *path, const char *body);
/* Reads the whole answer to one request, which must have a Content-Length. Returns its status, or 0. */
int apiserver_read_status(int fd);

#endif
