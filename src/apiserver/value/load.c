/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/load.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apiserver/value/tree.h"
#include "util/error.h"
#include "util/file.h"

/* FOLDERS_MAX: how deep directories may be nested. The limit also ends cycles of symbolic links. */
enum {
    FILE_BYTES_MAX = 256 * 1024 * 1024,
    FOLDERS_MAX = 32,
    PATH_BYTES = 4096,
    PLACE_BYTES = PATH_BYTES + 128
};

struct loader {
    struct ki_as_load *load;
    ki_error *err;
};

void ki_as_load_place_write(const struct ki_as_load_place *place, char *out, size_t bytes)
{
    assert(place->document > 0 && place->line > 0 && bytes > 0);
    if (place->item > 0)
        (void)snprintf(out, bytes, "%s:%zu: document %zu, item %zu: ", place->file, place->line,
                       place->document, place->item);
    else
        (void)snprintf(out, bytes, "%s:%zu: document %zu: ", place->file, place->line, place->document);
}

/* Typed lists such as "PodList" count as well: the kind ends in "List", and there are items. */
static bool is_list(const json_t *object)
{
    ki_str kind = ki_as_json_str(json_object_get(object, "kind"));
    bool is_named = kind.len >= 4 && memcmp(kind.ptr + kind.len - 4, "List", 4) == 0;
    return is_named && json_is_array(json_object_get(object, "items"));
}

/* Items of a typed list may lack kind and apiVersion; both follow from those of the list. */
static int complete(json_t *item, const json_t *list)
{
    assert(json_is_object(item) && is_list(list));
    ki_str kind = ki_as_json_str(json_object_get(list, "kind"));
    int rc = 0;
    if (kind.len > 4 && json_object_get(item, "kind") == NULL)
        rc = json_object_set_new(item, "kind", json_stringn(kind.ptr, kind.len - 4));
    if (rc == 0 && kind.len > 4 && json_object_get(item, "apiVersion") == NULL)
        rc = json_object_set(item, "apiVersion", json_object_get(list, "apiVersion"));
    return rc;
}

/* The item count continues across Lists nested in a List. */
static int give(const struct loader *loader, struct ki_as_load_place *place, json_t *object)
{
    size_t index = 0;
    json_t *item = NULL;
    if (!json_is_object(object)) {
        char text[PLACE_BYTES];
        ki_as_load_place_write(place, text, sizeof(text));
        return ki_fail(loader->err, KI_ERR_INVALID, "%snot an object", text);
    }
    if (!is_list(object))
        return loader->load->take(object, place, loader->load->user, loader->err);
    json_array_foreach(json_object_get(object, "items"), index, item)
    {
        if (json_is_object(item) && complete(item, object) < 0)
            return ki_fail_no_memory(loader->err);
        place->item += is_list(item) ? 0 : 1;
        int rc = give(loader, place, item);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static size_t number_at(const json_t *numbers, size_t index)
{
    assert(index < json_array_size(numbers));
    return (size_t)json_integer_value(json_array_get(numbers, index));
}

static int load_file(const struct loader *loader, const char *path)
{
    ki_file_text text = {0};
    struct ki_as_documents documents = {0};
    size_t index = 0;
    json_t *document = NULL;
    int rc = ki_file_read(path, FILE_BYTES_MAX, &text, loader->err);
    if (rc == 0)
        rc = ki_as_yaml_parse((ki_str){text.data, text.len}, path, &documents, loader->err);
    ki_file_text_fini(&text);
    if (rc < 0)
        return rc;
    loader->load->files++;
    assert(json_array_size(documents.places) == 2 * json_array_size(documents.trees));
    json_array_foreach(documents.trees, index, document)
    {
        struct ki_as_load_place place = {.file = path,
                                         .document = number_at(documents.places, 2 * index),
                                         .line = number_at(documents.places, 2 * index + 1)};
        if (rc == 0)
            rc = give(loader, &place, document);
    }
    json_decref(documents.trees);
    json_decref(documents.places);
    return rc;
}

static bool is_wanted(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(name + len - ending, endings[i]) == 0)
            return true;
    }
    return false;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int load_folder(const struct loader *loader, const char *path, size_t depth);

static int load_entry(const struct loader *loader, const char *folder, const char *name, size_t depth)
{
    char path[PATH_BYTES];
    struct stat status;
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return ki_fail(loader->err, KI_ERR_INVALID, "%s: the path is too long", folder);
    if (stat(path, &status) < 0)
        return is_wanted(name) ? ki_fail(loader->err, KI_ERR_SYSTEM, "%s: %s", path, strerror(errno)) : 0;
    if (S_ISDIR(status.st_mode))
        return load_folder(loader, path, depth + 1);
    return is_wanted(name) ? load_file(loader, path) : 0;
}

static int load_folder(const struct loader *loader, const char *path, size_t depth)
{
    struct dirent **entries = NULL;
    if (depth > FOLDERS_MAX)
        return ki_fail(loader->err, KI_ERR_INVALID, "%s: directories are nested too deeply", path);
    int count = scandir(path, &entries, is_visible, by_name);
    int rc = count < 0 ? ki_fail(loader->err, KI_ERR_SYSTEM, "%s: %s", path, strerror(errno)) : 0;
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = load_entry(loader, path, entries[i]->d_name, depth);
        free(entries[i]); /* allocated by scandir() */
    }
    free((void *)entries);
    return rc;
}

int ki_as_load_path(const char *path, struct ki_as_load *load, ki_error *err)
{
    assert(path != NULL && load != NULL && load->take != NULL);
    struct loader loader = {load, err};
    struct stat status;
    if (stat(path, &status) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return S_ISDIR(status.st_mode) ? load_folder(&loader, path, 0) : load_file(&loader, path);
}
