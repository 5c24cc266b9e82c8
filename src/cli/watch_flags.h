/* SPDX-License-Identifier: Apache-2.0 */
/* watch_flags - what `kinformer watch` was asked for.
 *
 *   From:     cli/cmd_watch.c
 *   To:       cli/watch.c
 *   Locks:    none.
 */
#ifndef KI_CLI_WATCH_FLAGS_H
#define KI_CLI_WATCH_FLAGS_H

#include <kinformer/informer.h>

#include "cli/connection_flags.h"
#include "cli/event_writer.h"
#include "cli/flags.h"

enum { CLI_WATCH_GROUPS = 3 };

typedef struct cli_watch_flags {
    cli_connection connection;
    const char *ns;
    int all_namespaces;
    const char *label_selector;
    const char *field_selector;
    int format; /* a cli_format */
    uint64_t resync_ms;
    int64_t page_size; /* -1: not said */
    int watch_list;    /* a ki_watch_list */
    const char *keep;  /* paths with commas between them */
    int keep_managed_fields;
    int until_synced;
    int stats;
} cli_watch_flags;

/* Sets the defaults, and the groups of flags that fill it in. */
void cli_watch_flags_init(cli_watch_flags *flags, cli_flag_group out_groups[CLI_WATCH_GROUPS]);

/* What can be seen to be wrong before anything is asked of a server. Returns 0, KI_ERR_INVALID,
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_watch_flags_check(const cli_watch_flags *flags, ki_error *err);

/* Options of an informer that say the same; `keep` and `ns` are left to the caller. */
ki_informer_options cli_watch_flags_options(const cli_watch_flags *flags);

/* The paths of --keep, and those without which nobody knows what an object is; ended by NULL. Returns 0
 * with a block to free(), or with NULL when nothing was said; KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_watch_flags_keep(const cli_watch_flags *flags, const char ***out_paths, ki_error *err);

#endif
