/* SPDX-License-Identifier: Apache-2.0 */
/* process - what the calling process has: descriptors, threads.
 *
 *   From:     tests of what is left after a free
 *   To:       /proc/self, libcurl
 */
#ifndef KI_TESTS_SUPPORT_PROCESS_H
#define KI_TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>

/* The one that is open while they are counted is not counted. */
int process_descriptors(void);

/* What libcurl may wake itself with: an eventfd, or half of a pair of sockets without a name. Neither is a
 * connection. */
bool process_is_wake_fd(int fd);

/* How many of these our two libcurl handles have. They are libcurl's own: the library does not learn of them,
 * and a child keeps its copies. */
int process_libcurl_wake_fds(void);

int process_threads(void);

/* How many there are when none is needed: a sanitizer has one of its own from the first one on. To be called
 * first when there are no others. */
int process_idle_threads(void);

/* Whether there are no more than this many threads within AT_ONCE_MS (support/patience.h): one that has ended
 * may still be on its way out of the kernel. */
int process_has_threads(int expected);

#endif
