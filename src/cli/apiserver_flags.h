/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_flags - the flags of `kinformer apiserver`.
 *
 *   From:     cli/cmd_apiserver.c
 *   To:       ki_apiserver_options, ki_fault
 *   Locks:    none.
 */
#ifndef KI_CLI_APISERVER_FLAGS_H
#define KI_CLI_APISERVER_FLAGS_H

#include <kinformer/apiserver.h>

#include "cli/flags.h"

enum { CLI_APISERVER_GROUPS = 3, CLI_FAULT_BYTES = 1024 };

typedef struct cli_apiserver_flags {
    int64_t port;
    const char *bind;
    int tls;
    const char *certificate;
    const char *key;
    cli_texts tokens;
    cli_texts token_files;
    cli_texts hosts;
    cli_texts load;
    const char *kubeconfig_out;
    const char *simulate;
    int64_t history;
    int64_t objects_max;
    int64_t watches_max;
    int64_t body_max;
    int64_t object_max;
    int64_t history_bytes;
    int64_t in_flight_max;
    uint64_t bookmark_ms;
    cli_texts faults;
    int debug;
    int64_t seed;
} cli_apiserver_flags;

void cli_apiserver_flags_init(cli_apiserver_flags *flags, cli_flag_group out_groups[CLI_APISERVER_GROUPS]);

/* Adds the tokens from files and the environment. Returns 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_apiserver_flags_read_secrets(cli_apiserver_flags *flags, ki_error *err);

/* Checks whether the flags can be combined. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int cli_apiserver_flags_check(const cli_apiserver_flags *flags, ki_error *err);

/* A warning to print before the server listens on an address that others can reach; NULL if there is none. */
const char *cli_apiserver_flags_warning(const cli_apiserver_flags *flags);

/* Borrows from the flags. */
ki_apiserver_options cli_apiserver_options(const cli_apiserver_flags *flags);

/* "reset,on=watch,after-bytes=1000,times=3". `out_texts` holds the strings of the fault. */
KI_NODISCARD int cli_fault_parse(const char *text, ki_fault *out, char out_texts[CLI_FAULT_BYTES],
                                 ki_error *err);

#endif
