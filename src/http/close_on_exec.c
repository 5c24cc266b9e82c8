/* SPDX-License-Identifier: Apache-2.0 */
/* A multi handle owns a pair of connected sockets, by which curl_multi_wakeup() works, and tells nobody their
 * numbers. Descriptors that appeared while it was made might be another thread's. So the pair is recognised
 * by what it does: each wake sends one more byte through it. */
#include "http/close_on_exec.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { CANDIDATES_MAX = 256, WAKES = 3 };

/* Of a local socket: bytes that wait to be read at this end,
 * and bytes sent from it that were not read yet. */
typedef struct traffic {
    int in;
    int out;
} traffic;

static bool read_traffic(int fd, traffic *out)
{
    return ioctl(fd, SIOCINQ, &out->in) == 0 && ioctl(fd, SIOCOUTQ, &out->out) == 0;
}

/* A local socket without a name, idle, that a program would inherit. */
static bool is_candidate(int fd)
{
    struct sockaddr_un name = {0};
    socklen_t size = sizeof(name);
    traffic now = {0};
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && (flags & FD_CLOEXEC) == 0 && getsockname(fd, (struct sockaddr *)&name, &size) == 0 &&
           name.sun_family == AF_UNIX && size == sizeof(name.sun_family) && read_traffic(fd, &now) &&
           now.in == 0 && now.out == 0;
}

static size_t find_candidates(int *out_fds)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL && count < CANDIDATES_MAX;
         entry = readdir(folder)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && is_candidate(fd))
            out_fds[count++] = fd;
    }
    (void)closedir(folder);
    return count;
}

/* Those of a pair that has carried so many bytes: at one end they wait, from the other they were sent. */
static size_t keep_changed(int *fds, size_t count, int bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        traffic now = {0};
        bool is_reader = read_traffic(fds[i], &now) && now.in == bytes && now.out == 0;
        bool is_writer = now.in == 0 && now.out > 0;
        if (is_reader || is_writer)
            fds[kept++] = fds[i];
    }
    return kept;
}

/* The bytes stay where they are: nobody waits for them. */
size_t ki_close_on_exec_multi(CURLM *multi, int out_fds[2])
{
    int fds[CANDIDATES_MAX];
    size_t count = find_candidates(fds);
    for (int i = 1; i <= WAKES && count >= 2; i++) {
        if (curl_multi_wakeup(multi) != CURLM_OK)
            return 0;
        count = keep_changed(fds, count, i);
    }
    if (count != 2)
        return 0;
    for (size_t i = 0; i < count; i++) {
        (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        out_fds[i] = fds[i];
    }
    return count;
}

/* The number of the file behind it; 0: none. */
static ino_t file_of(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

/* The two ends of a pair are made by one call, so their files bear consecutive numbers. */
void ki_close_on_exec_socket(int fd)
{
    int fds[CANDIDATES_MAX];
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0)
        return;
    ino_t file = file_of(fd);
    size_t count = is_candidate(fd) ? find_candidates(fds) : 0;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < count; i++)
        if (file_of(fds[i]) == file + 1)
            (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
}
