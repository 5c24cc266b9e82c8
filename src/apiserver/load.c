/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apiserver/tree.h"
#include "util/error.h"
#include "util/file.h"

enum { FILE_BYTES_MAX = 256 * 1024 * 1024 };

struct loader {
    ki_as_load_cb take;
    void *user;
    ki_error *err;
};

/* "PodList" too: what has items and is called a list. */
static bool is_list(const json_t *object)
{
    ki_str kind = ki_as_json_str(json_object_get(object, "kind"));
    bool is_named = kind.len >= 4 && memcmp(kind.ptr + kind.len - 4, "List", 4) == 0;
    return is_named && json_is_array(json_object_get(object, "items"));
}

/* Items of a typed list say neither kind nor version: the list does. */
static int complete(json_t *item, const json_t *list)
{
    ki_str kind = ki_as_json_str(json_object_get(list, "kind"));
    int rc = 0;
    if (kind.len > 4 && json_object_get(item, "kind") == NULL)
        rc = json_object_set_new(item, "kind", json_stringn(kind.ptr, kind.len - 4));
    if (rc == 0 && kind.len > 4 && json_object_get(item, "apiVersion") == NULL)
        rc = json_object_set(item, "apiVersion", json_object_get(list, "apiVersion"));
    return rc;
}

static int give(const struct loader *loader, const char *file, json_t *object)
{
    size_t index = 0;
    json_t *item = NULL;
    if (!json_is_object(object))
        return ki_fail(loader->err, KI_ERR_INVALID, "%s: a document that is no object", file);
    if (!is_list(object))
        return loader->take(object, file, loader->user, loader->err);
    json_array_foreach(json_object_get(object, "items"), index, item)
    {
        if (json_is_object(item) && complete(item, object) < 0)
            return ki_fail_no_memory(loader->err);
        int rc = give(loader, file, item);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int load_file(const struct loader *loader, const char *path)
{
    ki_file_text text = {0};
    json_t *documents = NULL;
    size_t index = 0;
    json_t *document = NULL;
    int rc = ki_file_read(path, FILE_BYTES_MAX, &text, loader->err);
    if (rc == 0)
        rc = ki_as_yaml_parse((ki_str){text.data, text.len}, path, &documents, loader->err);
    ki_file_text_fini(&text);
    if (rc < 0)
        return rc;
    json_array_foreach(documents, index, document)
    {
        if (rc == 0)
            rc = give(loader, path, document);
    }
    json_decref(documents);
    return rc;
}

static int is_wanted(const struct dirent *entry)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t len = strlen(entry->d_name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (len > ending && entry->d_name[0] != '.' && strcmp(entry->d_name + len - ending, endings[i]) == 0)
            return 1;
    }
    return 0;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int load_folder(const struct loader *loader, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_wanted, by_name);
    int rc = count < 0 ? ki_fail(loader->err, KI_ERR_SYSTEM, "%s: %s", path, strerror(errno)) : 0;
    for (int i = 0; i < count; i++) {
        char file[4096];
        int len = snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        if (rc == 0 && len >= (int)sizeof(file))
            rc = ki_fail(loader->err, KI_ERR_INVALID, "%s: a path that is too long", path);
        if (rc == 0)
            rc = load_file(loader, file);
        free(entries[i]); /* scandir's own */
    }
    free((void *)entries);
    return rc;
}

int ki_as_load_path(const char *path, ki_as_load_cb take, void *user, ki_error *err)
{
    struct loader loader = {take, user, err};
    struct stat status;
    if (stat(path, &status) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return S_ISDIR(status.st_mode) ? load_folder(&loader, path) : load_file(&loader, path);
}
