/* SPDX-License-Identifier: Apache-2.0 */
/* file - small files read whole, and whether they have changed since.
 *
 *   From:     config/: kubeconfigs, tokens, certificates
 *   To:       open(2), fstat(2)
 *   Locks:    none; plain functions.
 *   Not here: names of files made of other names (config/path.h); writing.
 */
#ifndef KI_UTIL_FILE_H
#define KI_UTIL_FILE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

/* Text with a NUL behind it; it may have others inside. Wiped by ki_file_text_fini(). A zeroed one is
 * empty. */
typedef struct ki_file_text {
    char *data;
    size_t len;
    size_t capacity;
} ki_file_text;

void ki_file_text_fini(ki_file_text *text);

/* Never waits for the other end of a named pipe: what is no regular file is refused. Returns 0;
 * KI_ERR_NOT_FOUND when there is none; KI_ERR_SYSTEM; KI_ERR_TOO_LARGE; KI_ERR_NO_MEMORY. The message names
 * the file and the reason, never what is in it. */
KI_NODISCARD int ki_file_read(const char *path, size_t bytes_max, ki_file_text *out_text, ki_error *err);

/* Whether it is a named pipe, or one that the shell has made for `<(command)`. */
bool ki_file_is_pipe(const char *path);

/* Which content a file had. A zeroed one is that of no file. */
typedef struct ki_file_mark {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_s;
    int64_t changed_ns;
} ki_file_mark;

/* The mark of the file as it is now; zeroed when there is none. */
ki_file_mark ki_file_mark_of(const char *path);

bool ki_file_mark_equal(ki_file_mark a, ki_file_mark b);

#endif
