/* SPDX-License-Identifier: Apache-2.0 */
/* generate_pods - writes a list and a watch stream of generated pods into a cache folder.
 *
 * A file's name identifies its content (version of the generator, seed, number of pods), so a file that
 * exists is correct, and is not written again. A file gets its name only when it is complete.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate_pods.h"

enum { PATH_SIZE = 4096, FLUSH_BYTES = 4 << 20, PODS_PER_PROGRESS = 1000 };

struct settings {
    struct pod_collection pods;
    char folder[PATH_SIZE - 256];
};

struct output {
    const char *path;
    FILE *file;
    struct text pending;
    bool failed;
};

typedef void (*write_document_cb)(struct output *output, const struct pod_collection *pods);

static void output_flush(struct output *output)
{
    struct text *pending = &output->pending;
    if (fwrite(pending->data, 1, pending->length, output->file) != pending->length) {
        output->failed = true;
    }
    pending->length = 0;
}

static void output_step(struct output *output, uint64_t done, uint64_t total)
{
    if (output->pending.length >= FLUSH_BYTES) {
        output_flush(output);
    }
    bool is_shown = done % PODS_PER_PROGRESS == 0 || done == total;
    if (is_shown && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%s: %3u %%%s", output->path, (unsigned)(done * 100 / total),
                done == total ? "\n" : "");
    }
}

static void write_list(struct output *output, const struct pod_collection *pods)
{
    pods_append_list_start(&output->pending, pods, pods->pod_count);
    for (uint64_t i = 0; i < pods->pod_count; i++) {
        text_put(&output->pending, i == 0 ? "" : ",");
        pods_append_item(&output->pending, pods, i);
        output_step(output, i + 1, pods->pod_count);
    }
    pods_append_list_end(&output->pending);
}

static void write_watch(struct output *output, const struct pod_collection *pods)
{
    for (uint64_t i = 0; i < pods->pod_count; i++) {
        pods_append_event(&output->pending, pods, i);
        output_step(output, i + 1, pods->pod_count);
    }
}

static bool write_file(const char *path, write_document_cb write_document, const struct pod_collection *pods)
{
    char unfinished[PATH_SIZE + 32];
    snprintf(unfinished, sizeof(unfinished), "%s.%ld.unfinished", path, (long)getpid());
    struct output output = {.path = path, .file = fopen(unfinished, "wb")};
    if (output.file == NULL) {
        fprintf(stderr, "%s: %s\n", unfinished, strerror(errno));
        return false;
    }
    write_document(&output, pods);
    output_flush(&output);
    text_fini(&output.pending);
    output.failed |= fclose(output.file) != 0;
    if (output.failed || rename(unfinished, path) != 0) {
        fprintf(stderr, "%s: %s\n", unfinished, strerror(errno));
        unlink(unfinished);
        return false;
    }
    return true;
}

static bool provide_file(const struct settings *settings, const char *kind, const char *suffix,
                         write_document_cb write_document)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/pods-%s-%llu-seed%llu-v%d.%s", settings->folder, kind,
             (unsigned long long)settings->pods.pod_count, (unsigned long long)settings->pods.seed,
             GENERATE_PODS_VERSION, suffix);
    if (access(path, R_OK) != 0 && !write_file(path, write_document, &settings->pods)) {
        return false;
    }
    printf("%s\n", path);
    return true;
}

static bool make_folder(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static void default_folder(struct settings *settings)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (cache != NULL && cache[0] != '\0') {
        snprintf(settings->folder, sizeof(settings->folder), "%s/kinformer-bench", cache);
    } else {
        snprintf(settings->folder, sizeof(settings->folder), "%s/.cache/kinformer-bench",
                 home != NULL ? home : "/tmp");
    }
}

static bool read_number(const char *text, uint64_t *out_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-') {
        return false;
    }
    *out_number = number;
    return true;
}

static bool read_arguments(struct settings *settings, int count, char **arguments)
{
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        bool is_read = false;
        if (value != NULL && strcmp(arguments[i], "--pods") == 0) {
            is_read = read_number(value, &settings->pods.pod_count);
        } else if (value != NULL && strcmp(arguments[i], "--seed") == 0) {
            is_read = read_number(value, &settings->pods.seed);
        } else if (value != NULL && strcmp(arguments[i], "--dir") == 0) {
            is_read = strlen(value) < sizeof(settings->folder);
            snprintf(settings->folder, sizeof(settings->folder), "%s", value);
        }
        if (!is_read) {
            return false;
        }
    }
    return settings->pods.pod_count > 0;
}

int main(int count, char **arguments)
{
    struct settings settings = {.pods = {GENERATE_PODS_SEED, 100000}};
    default_folder(&settings);
    if (!read_arguments(&settings, count, arguments)) {
        fprintf(stderr, "usage: %s [--pods N] [--seed N] [--dir FOLDER]\n", arguments[0]);
        return 2;
    }
    bool is_done = make_folder(settings.folder) && provide_file(&settings, "list", "json", write_list) &&
                   provide_file(&settings, "watch", "jsonl", write_watch);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
