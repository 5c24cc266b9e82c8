/* SPDX-License-Identifier: Apache-2.0 */
/* demo_compare - whether a cache holds what the server has: each key, with the same version, both ways.
 *
 *   From:     cli/demo/demo_end.c
 *   To:       the server's own lists, page by page
 *   Locks:    none.
 */
#ifndef KI_CLI_DEMO_DEMO_COMPARE_H
#define KI_CLI_DEMO_DEMO_COMPARE_H

#include <kinformer/client.h>
#include <kinformer/store.h>

/* Told of each object that differs: a line for people. */
typedef void (*cli_demo_differ_cb)(const char *line, void *user);

/* Sorts both lists by key. Returns how many objects differ. */
size_t cli_demo_compare_lists(ki_object_list *cached, ki_object_list *served, cli_demo_differ_cb differ,
                              void *user);

/* Reads all of a resource from the server, with nothing of a cache in between. Returns 0, or what
 * ki_rest_run() does; the list is ended with cli_demo_served_fini() in any case. */
KI_NODISCARD int cli_demo_served_read(ki_client *client, const ki_resource *resource, ki_object_list *served,
                                      ki_error *err);

/* Takes a zeroed list as well. */
void cli_demo_served_fini(ki_object_list *served);

#endif
