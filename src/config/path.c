/* SPDX-License-Identifier: Apache-2.0 */
#include "config/path.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

char *ki_path_join(ki_str dir, ki_str path)
{
    assert((dir.ptr != NULL || dir.len == 0) && (path.ptr != NULL || path.len == 0));
    if (path.len > 0 && path.ptr[0] == '/')
        return ki_str_copy(path);
    char *joined = ki_malloc(dir.len + path.len + 2);
    if (joined == NULL)
        return NULL;
    size_t len = dir.len;
    if (len > 0)
        memcpy(joined, dir.ptr, len);
    if (len > 0 && joined[len - 1] != '/')
        joined[len++] = '/';
    if (path.len > 0)
        memcpy(joined + len, path.ptr, path.len);
    joined[len + path.len] = 0;
    return joined;
}

/* A working directory that was deleted has no name. Then the path stays as it is, and opening it fails. */
char *ki_path_absolute(ki_str path)
{
    assert(path.ptr != NULL || path.len == 0);
    char dir[PATH_MAX];
    if (getcwd(dir, sizeof(dir)) == NULL)
        return ki_str_copy(path);
    return ki_path_join(ki_str_of(dir), path);
}

ki_str ki_path_dir(ki_str path)
{
    assert(path.ptr != NULL || path.len == 0);
    size_t len = path.len;
    while (len > 0 && path.ptr[len - 1] != '/')
        len--;
    return len > 1 ? (ki_str){path.ptr, len - 1} : KI_STR("/");
}
