/* SPDX-License-Identifier: Apache-2.0 */
/* process - the descriptors and threads of the calling process.
 *
 *   From:     tests of what is left after a free
 *   To:       /proc/self, libcurl
 */
#ifndef KI_TESTS_SUPPORT_PROCESS_H
#define KI_TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>

/* The descriptor that is opened for the count is not included. */
int process_descriptors(void);

/* Whether libcurl may use it to wake itself: an eventfd, or an end of an unnamed socket pair.
 * Neither is a connection. */
bool process_is_wake_fd(int fd);

/* How many of these our two libcurl handles have. They belong to libcurl: the library does not know them, and
 * a child keeps its copies. */
int process_libcurl_wake_fds(void);

int process_threads(void);

/* The number of threads when the library has none: a sanitizer starts a thread of its own together with the
 * first one. The first call must come before any other thread is started. */
int process_idle_threads(void);

/* Whether there are at most this many threads within AT_ONCE_MS (support/patience.h): a thread that has ended
 * may still be known to the kernel. */
int process_has_threads(int expected);

#endif
