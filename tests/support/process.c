/* SPDX-License-Identifier: Apache-2.0 */
#include "support/process.h"

#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/patience.h"

static int entries_of(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (folder == NULL) {
        perror(path);
        abort();
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count;
}

int process_descriptors(void)
{
    return entries_of("/proc/self/fd") - 1;
}

bool process_is_wake_fd(int fd)
{
    char path[32];
    char what[64] = "";
    struct sockaddr_un name = {0};
    socklen_t size = sizeof(name);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, what, sizeof(what) - 1) > 0 && strcmp(what, "anon_inode:[eventfd]") == 0)
        return true;
    return getsockname(fd, (struct sockaddr *)&name, &size) == 0 && name.sun_family == AF_UNIX &&
           size == sizeof(name.sun_family);
}

int process_libcurl_wake_fds(void)
{
    enum { FDS = 256, HANDLES = 2 };
    int was_open[FDS];
    int count = 0;
    for (int fd = 0; fd < FDS; fd++)
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
    CURLM *multi = curl_multi_init();
    for (int fd = 0; fd < FDS; fd++)
        count += !was_open[fd] && fcntl(fd, F_GETFD) >= 0 && process_is_wake_fd(fd);
    (void)curl_multi_cleanup(multi);
    return HANDLES * count;
}

int process_threads(void)
{
    return entries_of("/proc/self/task");
}

static void nothing(void *user)
{
    (void)user;
}

int process_idle_threads(void)
{
    static int count;
    if (count > 0)
        return count;
    aside first = {0};
    aside_start(&first, nothing, NULL);
    aside_join(&first);
    aside_pause(50);
    count = process_threads();
    return count;
}

/* Checked twice: while a thread ends, the kernel's list may lack another one. */
int process_has_threads(int expected)
{
    for (int ms = 0; ms < AT_ONCE_MS; ms++) {
        if (process_threads() <= expected && process_threads() <= expected)
            return 1;
        aside_pause(1);
    }
    return 0;
}
