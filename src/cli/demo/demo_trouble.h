/* SPDX-License-Identifier: Apache-2.0 */
/* demo_trouble - what goes wrong, every so often, and how long the informers take to get over it.
 *
 *   From:     cli/demo/demo.c
 *   To:       the embedded API server
 *   Locks:    none.
 *   Not here: what the informers do about it: that is the library.
 *
 * Connections are cut, the server goes and comes back, it comes back without its history: in turn. The
 * cluster lives on meanwhile. Healed means: every informer watches again, and has all that was written
 * until the trouble was over.
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
    ki_apiserver *server; /* borrowed, as the next */
    cli_demo_followers *followers;
    uint64_t period_ms; /* 0: nothing goes wrong */
    void (*say)(const char *line, void *user);
    void *user;

    uint64_t next_ms;
    uint64_t count; /* of all; the kinds take turns */
    int is_down;
    uint64_t up_ms; /* when it comes back */
    int is_healing;
    uint64_t over_ms; /* since when it heals */
    uint64_t versions[CLI_DEMO_FOLLOWED];
    uint64_t watches[CLI_DEMO_FOLLOWED];
    uint64_t expired;
} cli_demo_trouble;

/* The borrowed members have been set. */
void cli_demo_trouble_begin(cli_demo_trouble *trouble, uint64_t now_ms);

/* Does what is due. Returns 0, or that the server does not come back. */
KI_NODISCARD int cli_demo_trouble_tick(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err);

/* When cli_demo_trouble_tick() has something to do; UINT64_MAX: never. */
uint64_t cli_demo_trouble_due_ms(const cli_demo_trouble *trouble, uint64_t now_ms);

/* Ends what is going on; nothing more goes wrong. Returns as cli_demo_trouble_tick(). */
KI_NODISCARD int cli_demo_trouble_end(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err);

/* What comes next, and when: "restart in 4 s"; "" when nothing does. */
void cli_demo_trouble_describe_next(const cli_demo_trouble *trouble, uint64_t now_ms, char *out,
                                    size_t bytes);

#endif
