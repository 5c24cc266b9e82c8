/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig - merges files of clusters, contexts and users; the first definition counts.
 *
 *   From:     config/load.c (which files); also config/kubeconfig_fields.c, config/select.c
 *   To:       config/kubeconfig_fields.c (what an entry means)
 *   Locks:    none; one owner.
 *   Not here: the environment; overrides (config/load.c).
 */
#ifndef KI_CONFIG_KUBECONFIG_H
#define KI_CONFIG_KUBECONFIG_H

#include "config/config.h"
#include "util/error.h"
#include "util/yaml/yaml_tree.h"

#define KI_KUBECONFIG_ENTRIES_MAX 10000
#define KI_KUBECONFIG_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define KI_KUBECONFIG_NODES_MAX 100000
#define KI_KUBECONFIG_DEPTH_MAX 32
#define KI_KUBECONFIG_MEMBERS_MAX 1000

typedef struct ki_kubeconfig_file {
    struct ki_kubeconfig_file *next;
    char *path; /* as given, for messages */
    char *dir;  /* absolute; the base of relative names in the file */
    ki_yaml_node *root;
} ki_kubeconfig_file;

typedef enum ki_kubeconfig_list {
    KI_KUBECONFIG_CLUSTERS,
    KI_KUBECONFIG_CONTEXTS,
    KI_KUBECONFIG_USERS,
    KI_KUBECONFIG_LISTS
} ki_kubeconfig_list;

/* One element of clusters, contexts or users. */
typedef struct ki_kubeconfig_entry {
    const char *name;
    const ki_kubeconfig_file *file;
    const ki_yaml_node *item;  /* the element, for its line */
    const ki_yaml_node *value; /* its member "cluster", "context" or "user", a mapping; NULL if none */
    ki_kubeconfig_list list;
    size_t index;
} ki_kubeconfig_entry;

/* A zeroed struct is empty. */
typedef struct ki_kubeconfig {
    ki_kubeconfig_file *files; /* the last file first */
    struct {
        ki_kubeconfig_entry *items;
        size_t count;
        size_t capacity;
    } lists[KI_KUBECONFIG_LISTS];
    const ki_yaml_node *current_context; /* a scalar that is not empty; NULL if not set */
    const ki_kubeconfig_file *current_context_file;
} ki_kubeconfig;

void ki_kubeconfig_fini(ki_kubeconfig *kubeconfig);

/* Adds the content of a file; earlier files take precedence. All fields of all entries must have the right
 * types. Returns 0, KI_ERR_CONFIG or KI_ERR_NO_MEMORY; after a failure the kubeconfig can only be freed. */
KI_NODISCARD int ki_kubeconfig_add(ki_kubeconfig *kubeconfig, const char *path, ki_str text, ki_error *err);

/* The first entry of that name; NULL if there is none. */
const ki_kubeconfig_entry *ki_kubeconfig_find(const ki_kubeconfig *kubeconfig, ki_kubeconfig_list list,
                                              const char *name);

/* Whether no file has a cluster, a context or a user. */
bool ki_kubeconfig_is_empty(const ki_kubeconfig *kubeconfig);

/* The name of the list, "clusters", and of its entries, "cluster". */
const char *ki_kubeconfig_list_name(ki_kubeconfig_list list);
const char *ki_kubeconfig_entry_kind(ki_kubeconfig_list list);

/* Sets KI_ERR_CONFIG with "file:line: " before the message; a long file name is truncated at its
 * beginning. */
#define ki_kubeconfig_fail(err, file, line, ...)                                                             \
    (ki_error_set((err), KI_ERR_CONFIG, 0, __VA_ARGS__), ki_kubeconfig_fail_at((err), (file), (line)))

/* Puts "file:line: " before the message of `err`, which may be NULL. Returns KI_ERR_CONFIG. */
int ki_kubeconfig_fail_at(ki_error *err, const ki_kubeconfig_file *file, size_t line);

#endif
