/* SPDX-License-Identifier: Apache-2.0 */
/* demo_flags - the flags of `kinformer demo`.
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
    double writes_per_second; /* the parsed `churn` */
} cli_demo_flags;

void cli_demo_flags_init(cli_demo_flags *flags, cli_flag_group out_groups[CLI_DEMO_GROUPS]);

/* Checks the flags and fills in derived values. If stdout is not a terminal, the demo ends by itself
 * unless --for is given. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int cli_demo_flags_check(cli_demo_flags *flags, int is_terminal, ki_error *err);

#endif
