/* SPDX-License-Identifier: Apache-2.0 */
/* resource_list - "pods,deployments.apps,widgets.v1.example.com" as resources.
 *
 *   From:     cli/cmd_*.c
 *   To:       ki_resource_find(), ki_resource_parse(); cli/resource_lookup.h for what these do not know
 *   Locks:    none.
 */
#ifndef KI_CLI_RESOURCE_LIST_H
#define KI_CLI_RESOURCE_LIST_H

#include <kinformer/resource.h>

enum { CLI_RESOURCES_MAX = 256, CLI_RESOURCE_NAME_BYTES = 320 };

typedef struct cli_resource {
    const ki_resource *resource; /* built in, or `made`; NULL: `wanted` has to be asked for first */
    ki_resource *made;
    char *wanted;                       /* neither built in nor named in full; NULL once it is known */
    char name[CLI_RESOURCE_NAME_BYTES]; /* the plural; with the group when another has the same plural */
} cli_resource;

typedef struct cli_resource_list {
    cli_resource *items;
    size_t count;
} cli_resource_list;

/* Each collection once, however often and by whatever name it was asked for. Returns 0; KI_ERR_INVALID
 * with what is wrong and what to write instead; KI_ERR_NO_MEMORY. The list is to be freed with
 * cli_resource_list_fini(); `err` is not NULL. */
KI_NODISCARD int cli_resource_list_parse(const char *text, cli_resource_list *out_list, ki_error *err);

/* What to say of a name that nobody knows, and `why` its server could not tell or does not know either. */
int cli_resource_list_fail_unknown(const cli_resource *item, const char *why, ki_error *err);

/* The first that has to be asked for; NULL: none. */
cli_resource *cli_resource_list_wanted(const cli_resource_list *list);

/* It is `made`, which the list takes; unless the list has it already, then the item is gone. */
void cli_resource_list_resolve(cli_resource_list *list, cli_resource *item, ki_resource *made);

/* Takes a zeroed list. */
void cli_resource_list_fini(cli_resource_list *list);

#endif
