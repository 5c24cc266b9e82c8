/* SPDX-License-Identifier: Apache-2.0 */
/* demo_trouble - injects faults at intervals, and measures how long the informers take to recover.
 *
 *   From:     cli/demo/demo.c, cli/demo/demo_end.c, cli/demo/demo_show.c
 *   To:       the embedded API server
 *   Locks:    none.
 *   Not here: the recovery itself, which is the library's work.
 *
 * The faults take turns: connections are cut, the server restarts, or it restarts without its history. The
 * cluster keeps changing meanwhile. The informers have recovered when each of them watches again and has
 * everything that was written until the fault was over.
 */
#ifndef KI_CLI_DEMO_DEMO_TROUBLE_H
#define KI_CLI_DEMO_DEMO_TROUBLE_H

#include <kinformer/apiserver.h>

#include "cli/demo/demo_followers.h"

typedef enum cli_demo_trouble_kind {
    CLI_DEMO_CUT,
    CLI_DEMO_RESTART,
    CLI_DEMO_COMPACTION,
    CLI_DEMO_TROUBLES
} cli_demo_trouble_kind;

typedef struct cli_demo_trouble {
    ki_apiserver *server; /* borrowed, like the next */
    cli_demo_followers *followers;
    uint64_t period_ms; /* 0 disables faults */
    void (*say)(const char *line, void *user);
    void *user;

    uint64_t next_ms;
    uint64_t count; /* of all faults; the kinds take turns */
    int is_down;
    uint64_t up_ms; /* when the server comes back */
    int is_recovering;
    uint64_t over_ms; /* when the recovery began */
    uint64_t versions[CLI_DEMO_FOLLOWED];
    uint64_t watches[CLI_DEMO_FOLLOWED]; /* requested before the fault and cut by it; later ones recover */
    uint64_t expired;
} cli_demo_trouble;

/* The members before the empty line must be set. */
void cli_demo_trouble_begin(cli_demo_trouble *trouble, uint64_t now_ms);

/* Does what is due. Returns 0, or an error if the server does not come back. */
KI_NODISCARD int cli_demo_trouble_tick(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err);

/* When cli_demo_trouble_tick() has something to do; UINT64_MAX for never. */
uint64_t cli_demo_trouble_due_ms(const cli_demo_trouble *trouble, uint64_t now_ms);

/* Ends the current fault, after which there are no more. Returns the same as cli_demo_trouble_tick(). */
KI_NODISCARD int cli_demo_trouble_end(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err);

/* Writes the next fault and its time, "restart in 4 s"; "" if there is none. */
void cli_demo_trouble_describe_next(const cli_demo_trouble *trouble, uint64_t now_ms, char *out,
                                    size_t bytes);

#endif
