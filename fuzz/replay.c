/* SPDX-License-Identifier: Apache-2.0 */
/* replay - runs a fuzz target over files, without libFuzzer.
 *
 *   fuzz_<name> DIRECTORY|FILE ...
 *
 * Prints how many inputs ran; zero is a failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", what, path);
    exit(1);
}

static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die("cannot open", path);
    /* Exactly as large as the input, so that a sanitizer detects a read past its end. */
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL)
        die("out of memory", path);
    if (fread(data, 1, size, file) != size)
        die("cannot read", path);
    fclose(file);
    if (LLVMFuzzerTestOneInput(data, size) != 0)
        die("the target refused", path);
    free(data);
}

static size_t run_path(const char *path);

static size_t run_directory(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        die("cannot read", path);
    size_t ran = 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        int length = snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        if (length < 0 || (size_t)length >= sizeof(inner))
            die("path too long", path);
        if (entries[i]->d_name[0] != '.')
            ran += run_path(inner);
        free(entries[i]);
    }
    free(entries);
    return ran;
}

static size_t run_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        die("no such file", path);
    if (S_ISDIR(status.st_mode))
        return run_directory(path);
    run_file(path, (size_t)status.st_size);
    return 1;
}

int main(int argc, char **argv)
{
    size_t ran = 0;
    for (int i = 1; i < argc; i++)
        ran += run_path(argv[i]);
    printf("%zu inputs\n", ran);
    if (ran == 0)
        fprintf(stderr, "replay: no inputs found\n");
    return ran == 0;
}
