/* SPDX-License-Identifier: Apache-2.0 */
/* resource_lookup - asks the server for the resources whose names nobody here knows.
 *
 *   From:     cli/cmd_*.c, between the client and its informers
 *   To:       <kinformer/discovery.h>
 *   Locks:    none: everything runs inside ki_client_dispatch().
 *
 * A server that does not answer is asked again, as it is by everything else; one that has no such resource
 * ends the program.
 */
#ifndef KI_CLI_RESOURCE_LOOKUP_H
#define KI_CLI_RESOURCE_LOOKUP_H

#include <kinformer/client.h>

#include "cli/resource_list.h"

typedef struct cli_resource_lookup {
    ki_client *client; /* in KI_MODE_EVENT_LOOP */
    cli_resource_list *resources;
    int (*is_stopped)(void);
    int stop_fd; /* readable when it is */
} cli_resource_lookup;

/* Returns 0: all resources are known, or it was stopped; KI_ERR_INVALID with what to write instead, or what
 * the client said. */
KI_NODISCARD int cli_resource_lookup_run(const cli_resource_lookup *discovery, ki_error *err);

#endif
