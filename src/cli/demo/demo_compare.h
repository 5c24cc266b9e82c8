/* SPDX-License-Identifier: Apache-2.0 */
/* demo_compare - checks that a cache and the server have the same keys with the same versions.
 *
 *   From:     cli/demo/demo_end.c
 *   To:       the server's own lists, page by page
 *   Locks:    none.
 */
#ifndef KI_CLI_DEMO_DEMO_COMPARE_H
#define KI_CLI_DEMO_DEMO_COMPARE_H

#include <kinformer/client.h>
#include <kinformer/store.h>

/* Called for each object that differs, with a human-readable line. */
typedef void (*cli_demo_differ_cb)(const char *line, void *user);

/* Sorts both lists by key. Returns how many objects differ. */
size_t cli_demo_compare_lists(ki_object_list *cached, ki_object_list *served, cli_demo_differ_cb differ,
                              void *user);

/* Reads all objects of a resource from the server, without a cache. Returns 0, or as ki_rest_run(); in any
 * case free the list with cli_demo_served_fini(). */
KI_NODISCARD int cli_demo_served_read(ki_client *client, const ki_resource *resource, ki_object_list *served,
                                      ki_error *err);

/* A zeroed list is allowed. */
void cli_demo_served_fini(ki_object_list *served);

#endif
