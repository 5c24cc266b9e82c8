/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw; NOLINT(bugprone-reserved-identifier) */
#endif
#include "support/temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/unit.h"

void temp_dir_make(temp_dir *dir)
{
    const char *base = getenv("TMPDIR");
    snprintf(dir->path, sizeof(dir->path), "%.80s/kinformer-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir->path) == NULL)
        fail_msg("cannot create %s", dir->path);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void temp_dir_remove(temp_dir *dir)
{
    assert_int_equal(nftw(dir->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    dir->path[0] = 0;
}

const char *temp_dir_path(const temp_dir *dir, const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", dir->path, name);
    return path;
}

static void make_folders(const temp_dir *dir, const char *name)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        char folder[512];
        snprintf(folder, sizeof(folder), "%s/%.*s", dir->path, (int)(slash - name), name);
        (void)mkdir(folder, 0700);
    }
}

const char *temp_dir_write(const temp_dir *dir, const char *name, const char *text)
{
    char fresh[600];
    const char *path = temp_dir_path(dir, name);
    make_folders(dir, name);
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    FILE *file = fopen(fresh, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, path), 0);
    return path;
}

const char *temp_dir_script(const temp_dir *dir, const char *name, const char *text)
{
    char program[8192];
    snprintf(program, sizeof(program), "#!/bin/sh\n%s", text);
    const char *path = temp_dir_write(dir, name, program);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

const char *temp_dir_read(const temp_dir *dir, const char *name)
{
    static char text[65536];
    FILE *file = fopen(temp_dir_path(dir, name), "re");
    size_t len = file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file);
    if (file != NULL)
        assert_int_equal(fclose(file), 0);
    text[len] = 0;
    return text;
}
