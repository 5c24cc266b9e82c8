/* SPDX-License-Identifier: Apache-2.0 */
/* file - reads small files, and tells whether they have changed since.
 *
 *   From:     all code that reads files: config/ (kubeconfigs, tokens, certificates), credentials/,
 *             apiserver/
 *   To:       open(2), fstat(2)
 *   Locks:    none; plain functions.
 *   Not here: building paths (config/path.h); writing.
 */
#ifndef KI_UTIL_FILE_H
#define KI_UTIL_FILE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

/* Text followed by a NUL; it may contain NULs as well. ki_file_text_fini() wipes it. A zeroed struct is
 * empty. */
typedef struct ki_file_text {
    char *data;
    size_t len;
    size_t capacity;
} ki_file_text;

void ki_file_text_fini(ki_file_text *text);

/* Reads a regular file or a character device. Anything else is refused, so this never waits for the other
 * end of a named pipe. Returns 0; KI_ERR_NOT_FOUND if there is no such file; KI_ERR_SYSTEM;
 * KI_ERR_TOO_LARGE; KI_ERR_NO_MEMORY. The message names the file and the reason, never the content. */
KI_NODISCARD int ki_file_read(const char *path, size_t bytes_max, ki_file_text *out_text, ki_error *err);

/* Whether the path is a named pipe, or a pipe that a shell made for `<(command)`. */
bool ki_file_is_pipe(const char *path);

/* Identifies the content of a file at one time. A zeroed mark stands for a missing file. */
typedef struct ki_file_mark {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_s;
    int64_t changed_ns;
} ki_file_mark;

/* The mark of the file as it is now; zeroed if there is no such file. */
ki_file_mark ki_file_mark_of(const char *path);

bool ki_file_mark_equal(ki_file_mark a, ki_file_mark b);

#endif
