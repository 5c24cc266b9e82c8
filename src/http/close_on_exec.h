/* SPDX-License-Identifier: Apache-2.0 */
/* close_on_exec - descriptors that libcurl opens for itself and leaves open to programs that are started.
 *
 *   From:     http/pool.c, http/sockets.c
 *   Locks:    none.
 *   Not here: sockets of connections, which are made close-on-exec (http/easy.c).
 */
#ifndef KI_HTTP_CLOSE_ON_EXEC_H
#define KI_HTTP_CLOSE_ON_EXEC_H

#include <curl/curl.h>

/* Of a handle that is fresh. Returns how many there are, two or none: it does nothing where libcurl has seen
 * to it, or where /proc is not there. */
size_t ki_close_on_exec_multi(CURLM *multi, int out_fds[2]);

/* Of a socket that libcurl wants watched; if it is one end of a pair, as for a name lookup, of both ends. */
void ki_close_on_exec_socket(int fd);

#endif
