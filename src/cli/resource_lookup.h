/* SPDX-License-Identifier: Apache-2.0 */
/* resource_lookup - looks up unknown resource names on the server.
 *
 *   From:     cli/cmd_*.c, between the client and its informers
 *   To:       <kinformer/discovery.h>
 *   Locks:    none: everything runs inside ki_client_dispatch().
 *
 * If the server does not respond, it is asked again, as everywhere else; if it has no such resource, the
 * program ends.
 */
#ifndef KI_CLI_RESOURCE_LOOKUP_H
#define KI_CLI_RESOURCE_LOOKUP_H

#include <kinformer/client.h>

#include "cli/output.h"
#include "cli/resource_list.h"

typedef struct cli_resource_lookup {
    ki_client *client; /* in KI_MODE_EVENT_LOOP */
    cli_resource_list *resources;
    int (*is_stopped)(void);
    int stop_fd;        /* readable when the program is stopped */
    cli_output *output; /* the lookup also stops when its reader is gone; NULL if there is none */
    ki_error last;      /* why the server could not be asked the last time; initially zeroed */
} cli_resource_lookup;

/* Returns 0 if all resources are known, or if the program was stopped; KI_ERR_INVALID with what to write
 * instead; or the client's error. */
KI_NODISCARD int cli_resource_lookup_run(cli_resource_lookup *lookup, ki_error *err);

#endif
