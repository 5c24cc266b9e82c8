/* SPDX-License-Identifier: Apache-2.0 */
/* commands - what `kinformer` can do: one file cmd_<name>.c for each.
 *
 *   From:     cli/main.c
 *   To:       cli/cmd_*.c
 *   Locks:    none.
 */
#ifndef KI_CLI_COMMANDS_H
#define KI_CLI_COMMANDS_H

typedef struct cli_command {
    const char *name;
    const char *arguments; /* in the list of commands */
    const char *summary;
    int (*run)(int argc, char **argv); /* what follows the name; returns what the program ends with */
} cli_command;

extern const cli_command cli_commands[];
extern const int cli_command_count;

/* NULL: there is none of this name. */
const cli_command *cli_command_find(const char *name);

/* The whole program: `argv` as main() gets it. */
int cli_run(int argc, char **argv);

/* Writes all that stdio holds of stdout. Returns what the program ends with. */
int cli_finish_stdout(void);

int cli_cmd_apiserver(int argc, char **argv);
int cli_cmd_demo(int argc, char **argv);
int cli_cmd_help(int argc, char **argv);
int cli_cmd_version(int argc, char **argv);
int cli_cmd_watch(int argc, char **argv);

#endif
