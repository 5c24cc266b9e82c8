/* SPDX-License-Identifier: Apache-2.0 */
/* watch_flags - the flags of `kinformer watch`.
 *
 *   From:     cli/cmd_watch.c, cli/watch.c
 *   To:       cli/watch.c
 *   Locks:    none.
 */
#ifndef KI_CLI_WATCH_FLAGS_H
#define KI_CLI_WATCH_FLAGS_H

#include <kinformer/informer.h>

#include "cli/connection_flags.h"
#include "cli/event_writer.h"
#include "cli/flags.h"

enum { CLI_WATCH_GROUPS = 3, CLI_OBJECT_NAME_BYTES_MAX = 253 };

typedef struct cli_watch_flags {
    cli_connection connection;
    const char *ns;
    int all_namespaces;
    const char *label_selector;
    const char *field_selector;
    int format; /* a cli_format */
    uint64_t resync_ms;
    int64_t page_size; /* -1 if not set */
    int watch_list;    /* a ki_watch_list */
    int wire;          /* a ki_wire */
    const char *keep;  /* paths separated by commas */
    int keep_managed_fields;
    int until_synced;
    uint64_t timeout_ms; /* 0 for no limit; UINT64_MAX if not set */
    int quiet;
    int stats;
    char name_selector[2 * CLI_OBJECT_NAME_BYTES_MAX + 16]; /* the field selector for one object */
} cli_watch_flags;

/* Sets the defaults, and returns the groups of flags that fill it in. */
void cli_watch_flags_init(cli_watch_flags *flags, cli_flag_group out_groups[CLI_WATCH_GROUPS]);

/* Restricts the watch to the object of this name; cannot be combined with selectors or all namespaces.
 * Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int cli_watch_flags_set_name(cli_watch_flags *flags, const char *name, ki_error *err);

/* Checks everything that can be checked without a server. Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_watch_flags_check(const cli_watch_flags *flags, ki_error *err);

/* The corresponding client options; they borrow from the flags. */
ki_client_options cli_watch_flags_client_options(const cli_watch_flags *flags);

/* The corresponding informer options; the caller sets `keep` and `ns`. */
ki_informer_options cli_watch_flags_options(const cli_watch_flags *flags);

/* Returns the paths of --keep, and those that identify an object, terminated by NULL: 0 with a block to
 * free(), or with NULL if the flag was not given; KI_ERR_INVALID; KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_watch_flags_keep(const cli_watch_flags *flags, const char ***out_paths, ki_error *err);

#endif
