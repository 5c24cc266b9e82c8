/* SPDX-License-Identifier: Apache-2.0 */
#include "http/open_files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

bool ki_open_files_is_limit(long os_error)
{
    return os_error == EMFILE || os_error == ENFILE;
}

int ki_open_files_probe(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0)
        return ki_open_files_is_limit(errno) ? errno : 0;
    close(fd);
    return 0;
}

void ki_open_files_explain(long os_error, char *text, size_t size)
{
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    if (os_error == ENFILE)
        (void)snprintf(text, size,
                       "no socket can be opened: the system has too many open files (see fs.file-max)");
    else
        (void)snprintf(text, size,
                       "no socket can be opened: this process has reached its limit of open files, %llu "
                       "(raise the limit: ulimit -n, LimitNOFILE=)",
                       (unsigned long long)limit.rlim_cur);
}
