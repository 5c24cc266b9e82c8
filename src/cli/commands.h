/* SPDX-License-Identifier: Apache-2.0 */
/* commands - the commands of `kinformer`: one file cmd_<name>.c for each.
 *
 *   From:     cli/main.c, cli/demo/
 *   To:       cli/cmd_*.c
 *   Locks:    none.
 */
#ifndef KI_CLI_COMMANDS_H
#define KI_CLI_COMMANDS_H

#include "cli/flags.h"

typedef struct cli_command {
    const char *name;
    const char *arguments; /* shown in the list of commands */
    const char *summary;
    int (*run)(int argc, char **argv); /* gets the arguments after the name; returns the exit status */
} cli_command;

extern const cli_command cli_commands[];
extern const int cli_command_count;

/* NULL if there is no such command. */
const cli_command *cli_command_find(const char *name);

/* The whole program: `argv` as passed to main(). */
int cli_run(int argc, char **argv);

/* Flushes stdio's buffer of stdout. Returns the exit status. */
int cli_finish_stdout(void);

/* Writes the help of a command to stdout: `head`, the flags, `tail`. Returns the exit status. */
int cli_print_help(const cli_flag_set *set, const char *head, const char *tail);

int cli_cmd_apiserver(int argc, char **argv);
int cli_cmd_demo(int argc, char **argv);
int cli_cmd_help(int argc, char **argv);
int cli_cmd_version(int argc, char **argv);
int cli_cmd_watch(int argc, char **argv);

#endif
