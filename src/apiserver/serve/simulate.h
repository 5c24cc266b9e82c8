/* SPDX-License-Identifier: Apache-2.0 */
/* simulate - updates statuses as controllers would, for programs that wait for them.
 *
 *   From:     apiserver/serve/apiserver.c, for `simulate` of ki_apiserver_options
 *   To:       apiserver/verbs/verbs.h: it watches and writes as a client does, without HTTP
 *   Locks:    none; runs as a job of the server's loop
 *   Not here: pods, ReplicaSets
 *
 * The position of its watch in the history is its only state. A change wakes it; simulate_ms later it takes
 * all changes, and writes each status that is out of date, with the resourceVersion that it saw. If another
 * writer was faster, the write fails, and the change of that writer is handled next.
 */
#ifndef KI_APISERVER_SERVE_SIMULATE_H
#define KI_APISERVER_SERVE_SIMULATE_H

#include "apiserver/serve/server.h"

struct ki_as_simulation;

/* Sets server->simulation if the options ask for a simulation.
 * Returns 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_simulation_start(struct ki_apiserver *server, const ki_apiserver_options *options,
                                        ki_error *err);
/* NULL is allowed. */
void ki_as_simulation_stop(struct ki_as_simulation *simulation);

#endif
