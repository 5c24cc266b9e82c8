/* SPDX-License-Identifier: Apache-2.0 */
/* resource_list - "pods,deployments.apps,widgets.v1.example.com" as resources.
 *
 *   From:     cli/cmd_*.c, cli/resource_lookup.c
 *   To:       ki_resource_find(), ki_resource_parse(); cli/resource_lookup.h for unknown ones
 *   Locks:    none.
 */
#ifndef KI_CLI_RESOURCE_LIST_H
#define KI_CLI_RESOURCE_LIST_H

#include <kinformer/resource.h>

enum { CLI_RESOURCES_MAX = 256, CLI_RESOURCE_NAME_BYTES = 320 };

typedef struct cli_resource {
    const ki_resource *resource; /* built in, or `made`; NULL if `wanted` must be looked up first */
    ki_resource *made;
    char *wanted; /* a name neither built in nor given in full; NULL once it is resolved */
    /* As kubectl writes it: "pods", "deployments.apps"; with the version if the list has the resource in
     * several versions. */
    char name[CLI_RESOURCE_NAME_BYTES];
} cli_resource;

typedef struct cli_resource_list {
    cli_resource *items;
    size_t count;
} cli_resource_list;

/* Parses the list. Each collection occurs once, however often and by whatever name it was given. Returns 0;
 * KI_ERR_INVALID with the mistake and what to write instead; KI_ERR_NO_MEMORY. Free the list with
 * cli_resource_list_fini(). `err` must not be NULL. */
KI_NODISCARD int cli_resource_list_parse(const char *text, cli_resource_list *out_list, ki_error *err);

/* The error for an unknown name; `why` says why the server could not resolve it. */
int cli_resource_list_fail_unknown(const cli_resource *item, const char *why, ki_error *err);

/* The first resource that must be looked up; NULL if there is none. */
cli_resource *cli_resource_list_wanted(const cli_resource_list *list);

/* Resolves the item to `made`, which the list takes. If the list has that resource already, the item is
 * removed. */
void cli_resource_list_resolve(cli_resource_list *list, cli_resource *item, ki_resource *made);

/* A zeroed list is allowed. */
void cli_resource_list_fini(cli_resource_list *list);

#endif
