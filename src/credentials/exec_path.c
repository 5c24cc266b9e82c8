/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 or an errno. */
static int check_program(const char *path)
{
    struct stat status;
    if (access(path, X_OK) != 0 || stat(path, &status) != 0)
        return errno;
    return S_ISREG(status.st_mode) ? 0 : EACCES;
}

static bool write_path(char *out_path, size_t bytes, ki_str folder, const char *name)
{
    int len = snprintf(out_path, bytes, "%.*s%s%s", KI_STR_ARGS(folder), folder.len == 0 ? "" : "/", name);
    return len >= 0 && (size_t)len < bytes;
}

int ki_exec_path_find(const char *name, char *out_path, size_t bytes)
{
    const char *list = getenv("PATH");
    int found = ENOENT;
    if (strchr(name, '/') != NULL)
        return write_path(out_path, bytes, (ki_str){0}, name) ? check_program(out_path) : ENAMETOOLONG;
    if (list == NULL)
        list = "/bin:/usr/bin";
    for (size_t len; *list != 0; list += len + (list[len] == ':')) {
        len = strcspn(list, ":");
        if (list[0] != '/' || !write_path(out_path, bytes, (ki_str){list, len}, name))
            continue;
        int rc = check_program(out_path);
        if (rc == 0)
            return 0;
        if (rc == EACCES)
            found = EACCES;
    }
    return found;
}
