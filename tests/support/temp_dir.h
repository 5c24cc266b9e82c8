/* SPDX-License-Identifier: Apache-2.0 */
/* temp_dir - a temporary folder for a test and its files.
 *
 *   From:     tests of code that reads files or starts programs
 */
#ifndef KI_TESTS_SUPPORT_TEMP_DIR_H
#define KI_TESTS_SUPPORT_TEMP_DIR_H

typedef struct temp_dir {
    char path[128];
} temp_dir;

void temp_dir_make(temp_dir *dir);

/* Removes it with everything in it. */
void temp_dir_remove(temp_dir *dir);

/* "path/name", valid until the eighth call after it. */
const char *temp_dir_path(const temp_dir *dir, const char *name);

/* Replaces the whole file, with a new inode. Creates folders in the name. Returns temp_dir_path(). */
const char *temp_dir_write(const temp_dir *dir, const char *name, const char *text);

/* Writes a script for /bin/sh. Returns temp_dir_path(). */
const char *temp_dir_script(const temp_dir *dir, const char *name, const char *text);

/* The content of a file, "" if it does not exist; valid until the next call. */
const char *temp_dir_read(const temp_dir *dir, const char *name);

#endif
