/* SPDX-License-Identifier: Apache-2.0 */
/* demo_flags - what `kinformer demo` takes.
 *
 *   From:     cli/demo/cmd_demo.c
 *   To:       cli/demo/demo.c
 *   Locks:    none.
 */
#ifndef KI_CLI_DEMO_DEMO_FLAGS_H
#define KI_CLI_DEMO_DEMO_FLAGS_H

#include "cli/flags.h"

enum { CLI_DEMO_GROUPS = 1 };

typedef struct cli_demo_flags {
    int64_t pods;
    const char *churn; /* "50/s" */
    int64_t seed;
    uint64_t for_ms; /* 0: until a signal */
    uint64_t trouble_ms;
    int64_t port;
    int is_plain;
    double writes_per_second; /* what `churn` says */
} cli_demo_flags;

void cli_demo_flags_init(cli_demo_flags *flags, cli_flag_group out_groups[CLI_DEMO_GROUPS]);

/* Whether they can be, and what they amount to. Where nobody can press Ctrl-C because stdout is no
 * terminal, the demonstration ends by itself unless told otherwise. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int cli_demo_flags_check(cli_demo_flags *flags, int is_terminal, ki_error *err);

#endif
