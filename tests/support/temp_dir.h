/* SPDX-License-Identifier: Apache-2.0 */
/* temp_dir - a folder of a test's own, with the files that it writes.
 *
 *   From:     tests of what reads files or starts programs
 */
#ifndef KI_TESTS_SUPPORT_TEMP_DIR_H
#define KI_TESTS_SUPPORT_TEMP_DIR_H

typedef struct temp_dir {
    char path[128];
} temp_dir;

void temp_dir_make(temp_dir *dir);

/* Removes it with all that is in it. */
void temp_dir_remove(temp_dir *dir);

/* "path/name", valid until eight calls later. */
const char *temp_dir_path(const temp_dir *dir, const char *name);

/* Replaces the file as a whole, with another inode. Folders in the name are made. Returns temp_dir_path(). */
const char *temp_dir_write(const temp_dir *dir, const char *name, const char *text);

/* A program for /bin/sh. Returns temp_dir_path(). */
const char *temp_dir_script(const temp_dir *dir, const char *name, const char *text);

/* What is in a file, "" without one; valid until the next call. */
const char *temp_dir_read(const temp_dir *dir, const char *name);

#endif
