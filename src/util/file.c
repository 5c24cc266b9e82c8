/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* A message shows the end of a longer path, which says more than its beginning. */
enum { PATH_SHOWN_MAX = 120 };

static int fail_errno(ki_error *err, const char *path, int number)
{
    size_t len = strlen(path);
    bool is_cut = len > PATH_SHOWN_MAX;
    return ki_fail(err, number == ENOENT || number == ENOTDIR ? KI_ERR_NOT_FOUND : KI_ERR_SYSTEM, "%s%s: %s",
                   is_cut ? "..." : "", is_cut ? path + len - PATH_SHOWN_MAX : path, strerror(number));
}

void ki_file_text_fini(ki_file_text *text)
{
    assert(text != NULL);
    ki_secret_free_bytes(text->data, text->capacity);
    *text = (ki_file_text){0};
}

/* Does not use realloc, which would not wipe the old content. */
static int grow(ki_file_text *text, size_t capacity)
{
    char *data = ki_malloc(capacity);
    if (data == NULL)
        return KI_ERR_NO_MEMORY;
    if (text->len > 0)
        memcpy(data, text->data, text->len);
    ki_secret_free_bytes(text->data, text->capacity);
    text->data = data;
    text->capacity = capacity;
    return 0;
}

/* One byte of the capacity is left for the NUL. Files in /proc, and files that grow meanwhile, have more
 * content than fstat() reports. */
static int read_all(int fd, size_t bytes_max, ki_file_text *text, int *out_errno)
{
    for (;;) {
        if (text->len + 1 >= text->capacity) {
            int rc = text->len >= bytes_max ? 0 : grow(text, text->capacity * 2);
            if (rc < 0)
                return rc;
        }
        size_t space = text->capacity - 1 - text->len;
        char extra;
        ssize_t n = read(fd, space > 0 ? text->data + text->len : &extra, space > 0 ? space : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            *out_errno = errno;
            return KI_ERR_SYSTEM;
        }
        if (n == 0)
            break;
        if (space == 0 || text->len + (size_t)n > bytes_max)
            return KI_ERR_TOO_LARGE;
        text->len += (size_t)n;
    }
    text->data[text->len] = 0;
    return 0;
}

/* Character devices are allowed: /dev/null is an empty file, an endless device reaches the limit, and a
 * device that would block fails, because reads are non-blocking. */
static int read_open(int fd, size_t bytes_max, ki_file_text *text, int *out_errno)
{
    struct stat status;
    if (fstat(fd, &status) < 0) {
        *out_errno = errno;
        return KI_ERR_SYSTEM;
    }
    if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) {
        *out_errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return KI_ERR_SYSTEM;
    }
    if ((uint64_t)status.st_size > bytes_max)
        return KI_ERR_TOO_LARGE;
    int rc = grow(text, (size_t)status.st_size + 64);
    return rc < 0 ? rc : read_all(fd, bytes_max, text, out_errno);
}

int ki_file_read(const char *path, size_t bytes_max, ki_file_text *out_text, ki_error *err)
{
    assert(out_text != NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_errno(err, path, errno);
    ki_file_text text = {0};
    int number = EIO;
    int rc = read_open(fd, bytes_max, &text, &number);
    close(fd);
    if (rc == 0) {
        *out_text = text;
        return 0;
    }
    ki_file_text_fini(&text);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc == KI_ERR_TOO_LARGE)
        return ki_fail(err, rc, "%.120s: larger than the limit of %zu bytes", path, bytes_max);
    return fail_errno(err, path, number);
}

bool ki_file_is_pipe(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}

ki_file_mark ki_file_mark_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return (ki_file_mark){0};
    return (ki_file_mark){
        .device = (uint64_t)status.st_dev,
        .inode = (uint64_t)status.st_ino,
        .size = (int64_t)status.st_size,
        .changed_s = (int64_t)status.st_mtim.tv_sec,
        .changed_ns = (int64_t)status.st_mtim.tv_nsec,
    };
}

bool ki_file_mark_equal(ki_file_mark a, ki_file_mark b)
{
    return a.device == b.device && a.inode == b.inode && a.size == b.size && a.changed_s == b.changed_s &&
           a.changed_ns == b.changed_ns;
}
