/* SPDX-License-Identifier: Apache-2.0 */
#include "config/kubeconfig.h"

#include <assert.h>
#include <string.h>

#include "config/kubeconfig_fields.h"
#include "config/path.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* How much of a file name a message shows. */
enum { PATH_SHOWN_MAX = 80 };

const char *ki_kubeconfig_list_name(ki_kubeconfig_list list)
{
    static const char *const names[] = {"clusters", "contexts", "users"};
    return names[list];
}

const char *ki_kubeconfig_entry_kind(ki_kubeconfig_list list)
{
    static const char *const names[] = {"cluster", "context", "user"};
    assert(list < KI_KUBECONFIG_LISTS);
    return names[list];
}

int ki_kubeconfig_fail_at(ki_error *err, const ki_kubeconfig_file *file, size_t line)
{
    size_t len = strlen(file->path);
    bool is_cut = len > PATH_SHOWN_MAX;
    return ki_fail(err, KI_ERR_CONFIG, "%s%s:%zu: %s", is_cut ? "..." : "",
                   is_cut ? file->path + len - PATH_SHOWN_MAX : file->path, line,
                   err == NULL ? "" : err->message);
}

static void free_file(ki_kubeconfig_file *file)
{
    ki_yaml_free(file->root);
    ki_secret_free(file->path);
    ki_secret_free(file->dir);
    ki_free(file);
}

void ki_kubeconfig_fini(ki_kubeconfig *kubeconfig)
{
    assert(kubeconfig != NULL);
    for (ki_kubeconfig_file *file = kubeconfig->files, *next; file != NULL; file = next) {
        next = file->next;
        free_file(file);
    }
    for (size_t i = 0; i < KI_KUBECONFIG_LISTS; i++)
        ki_free(kubeconfig->lists[i].items);
    *kubeconfig = (ki_kubeconfig){0};
}

const ki_kubeconfig_entry *ki_kubeconfig_find(const ki_kubeconfig *kubeconfig, ki_kubeconfig_list list,
                                              const char *name)
{
    assert(kubeconfig != NULL && list < KI_KUBECONFIG_LISTS);
    assert(kubeconfig->lists[list].count <= KI_KUBECONFIG_ENTRIES_MAX);
    for (size_t i = 0; i < kubeconfig->lists[list].count; i++) {
        if (strcmp(kubeconfig->lists[list].items[i].name, name) == 0)
            return &kubeconfig->lists[list].items[i];
    }
    return NULL;
}

bool ki_kubeconfig_is_empty(const ki_kubeconfig *kubeconfig)
{
    assert(kubeconfig != NULL);
    for (size_t i = 0; i < KI_KUBECONFIG_LISTS; i++) {
        if (kubeconfig->lists[i].count > 0)
            return false;
    }
    return kubeconfig->current_context == NULL;
}

/* ---- one file ------------------------------------------------------------------------------------------ */

static int append_entry(ki_kubeconfig *kubeconfig, const ki_kubeconfig_entry *entry, ki_error *err)
{
    size_t count = kubeconfig->lists[entry->list].count;
    assert(count <= kubeconfig->lists[entry->list].capacity);
    if (count >= KI_KUBECONFIG_ENTRIES_MAX)
        return ki_kubeconfig_fail(err, entry->file, entry->item->line, "%s: more than %d",
                                  ki_kubeconfig_list_name(entry->list), KI_KUBECONFIG_ENTRIES_MAX);
    if (count == kubeconfig->lists[entry->list].capacity) {
        size_t capacity = count == 0 ? 8 : count * 2;
        ki_kubeconfig_entry *items =
            ki_realloc(kubeconfig->lists[entry->list].items, capacity * sizeof(*items));
        if (items == NULL)
            return ki_fail_no_memory(err);
        kubeconfig->lists[entry->list].items = items;
        kubeconfig->lists[entry->list].capacity = capacity;
    }
    kubeconfig->lists[entry->list].items[count] = *entry;
    kubeconfig->lists[entry->list].count++;
    return 0;
}

/* Reads all fields and discards them: a field of a wrong type is an error even in an entry that is not
 * used. */
static int check_entry(const ki_kubeconfig_entry *entry, ki_error *err)
{
    ki_config scratch = {0};
    assert(entry->list < KI_KUBECONFIG_LISTS && entry->value->kind == KI_YAML_MAPPING);
    int rc = entry->list == KI_KUBECONFIG_CLUSTERS   ? ki_kubeconfig_read_cluster(&scratch, entry, err)
             : entry->list == KI_KUBECONFIG_CONTEXTS ? ki_kubeconfig_read_context(&scratch, entry, err)
                                                     : ki_kubeconfig_read_user(&scratch, entry, err);
    ki_config_fini(&scratch);
    return rc;
}

static int fill_entry(ki_kubeconfig_entry *entry, ki_error *err)
{
    const char *list = ki_kubeconfig_list_name(entry->list);
    const char *kind = ki_kubeconfig_entry_kind(entry->list);
    const ki_yaml_node *item = entry->item;
    if (item->kind != KI_YAML_MAPPING)
        return ki_kubeconfig_fail(err, entry->file, item->line, "%s[%zu]: is not a mapping", list,
                                  entry->index);
    const ki_yaml_node *name = ki_yaml_member(item, "name");
    if (name == NULL || ki_yaml_is_null(name) || (name->kind == KI_YAML_SCALAR && name->text[0] == 0))
        return ki_kubeconfig_fail(err, entry->file, item->line, "%s[%zu].name: is missing", list,
                                  entry->index);
    if (name->kind != KI_YAML_SCALAR)
        return ki_kubeconfig_fail(err, entry->file, name->line, "%s[%zu].name: is not a string", list,
                                  entry->index);
    entry->name = name->text;
    const ki_yaml_node *value = ki_yaml_member(item, kind);
    if (value == NULL || ki_yaml_is_null(value))
        return 0;
    if (value->kind != KI_YAML_MAPPING)
        return ki_kubeconfig_fail(err, entry->file, value->line, "%s[%zu].%s: is not a mapping", list,
                                  entry->index, kind);
    entry->value = value;
    return check_entry(entry, err);
}

/* A duplicate in one file is an error; entries of earlier files take precedence. */
static int add_entry(ki_kubeconfig *kubeconfig, ki_kubeconfig_entry *entry, ki_error *err)
{
    int rc = fill_entry(entry, err);
    if (rc < 0)
        return rc;
    assert(entry->name != NULL);
    const ki_kubeconfig_entry *before = ki_kubeconfig_find(kubeconfig, entry->list, entry->name);
    if (before == NULL)
        return append_entry(kubeconfig, entry, err);
    if (before->file != entry->file)
        return 0;
    return ki_kubeconfig_fail(
        err, entry->file, entry->item->line, "%s[%zu].name: \"%.60s\" is already defined in line %zu",
        ki_kubeconfig_list_name(entry->list), entry->index, entry->name, before->item->line);
}

static int add_list(ki_kubeconfig *kubeconfig, const ki_kubeconfig_file *file, ki_kubeconfig_list list,
                    ki_error *err)
{
    const ki_yaml_node *node = ki_yaml_member(file->root, ki_kubeconfig_list_name(list));
    if (node == NULL || ki_yaml_is_null(node))
        return 0;
    if (node->kind != KI_YAML_SEQUENCE)
        return ki_kubeconfig_fail(err, file, node->line, "%s: is not a list", ki_kubeconfig_list_name(list));
    size_t index = 0;
    int rc = 0;
    for (const ki_yaml_node *item = node->first_child; item != NULL && rc == 0; item = item->next) {
        ki_kubeconfig_entry entry = {.file = file, .item = item, .list = list, .index = index++};
        rc = add_entry(kubeconfig, &entry, err);
    }
    return rc;
}

static int check_version(const ki_kubeconfig_file *file, const char *field, const char *expected,
                         ki_error *err)
{
    const ki_yaml_node *node = ki_yaml_member(file->root, field);
    if (node == NULL || ki_yaml_is_null(node))
        return 0;
    if (node->kind != KI_YAML_SCALAR || (node->text[0] != 0 && strcmp(node->text, expected) != 0))
        return ki_kubeconfig_fail(err, file, node->line, "%s: is not %s", field, expected);
    return 0;
}

static int add_current_context(ki_kubeconfig *kubeconfig, const ki_kubeconfig_file *file, ki_error *err)
{
    const ki_yaml_node *node = ki_yaml_member(file->root, "current-context");
    if (node == NULL || ki_yaml_is_null(node))
        return 0;
    if (node->kind != KI_YAML_SCALAR)
        return ki_kubeconfig_fail(err, file, node->line, "current-context: is not a string");
    if (kubeconfig->current_context != NULL || node->text[0] == 0)
        return 0;
    kubeconfig->current_context = node;
    kubeconfig->current_context_file = file;
    return 0;
}

static int add_content(ki_kubeconfig *kubeconfig, const ki_kubeconfig_file *file, ki_error *err)
{
    if (file->root == NULL || ki_yaml_is_null(file->root))
        return 0;
    if (file->root->kind != KI_YAML_MAPPING)
        return ki_kubeconfig_fail(err, file, file->root->line, "is not a kubeconfig");
    int rc = check_version(file, "apiVersion", "v1", err);
    if (rc == 0)
        rc = check_version(file, "kind", "Config", err);
    if (rc == 0)
        rc = add_current_context(kubeconfig, file, err);
    for (int list = 0; list < KI_KUBECONFIG_LISTS && rc == 0; list++)
        rc = add_list(kubeconfig, file, (ki_kubeconfig_list)list, err);
    return rc;
}

static ki_kubeconfig_file *new_file(const char *path)
{
    ki_kubeconfig_file *file = ki_calloc(1, sizeof(*file));
    char *absolute = ki_path_absolute(ki_str_of(path));
    if (file != NULL && absolute != NULL) {
        file->path = ki_str_copy(ki_str_of(path));
        file->dir = ki_str_copy(ki_path_dir(ki_str_of(absolute)));
    }
    ki_secret_free(absolute);
    if (file != NULL && (file->path == NULL || file->dir == NULL)) {
        free_file(file);
        file = NULL;
    }
    return file;
}

int ki_kubeconfig_add(ki_kubeconfig *kubeconfig, const char *path, ki_str text, ki_error *err)
{
    assert(kubeconfig != NULL);
    assert(text.ptr != NULL || text.len == 0);
    static const ki_yaml_rules rules = {.bytes_max = KI_KUBECONFIG_BYTES_MAX,
                                        .nodes_max = KI_KUBECONFIG_NODES_MAX,
                                        .depth_max = KI_KUBECONFIG_DEPTH_MAX,
                                        .members_max = KI_KUBECONFIG_MEMBERS_MAX};
    ki_kubeconfig_file *file = new_file(path);
    if (file == NULL)
        return ki_fail_no_memory(err);
    file->next = kubeconfig->files;
    kubeconfig->files = file;
    ki_yaml_mistake mistake = {0};
    int rc = ki_yaml_parse(text, &rules, &file->root, &mistake);
    if (rc == KI_ERR_CONFIG)
        return ki_kubeconfig_fail(err, file, mistake.line, "%s", mistake.error.message);
    if (rc < 0)
        return ki_fail_no_memory(err);
    return add_content(kubeconfig, file, err);
}
