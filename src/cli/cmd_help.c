/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer help [COMMAND] */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/failure.h"

static void print_commands(void)
{
    printf("kinformer - follow the objects of a Kubernetes cluster\n\nusage: kinformer COMMAND ...\n\n");
    for (int i = 0; i < cli_command_count; i++) {
        char left[64];
        snprintf(left, sizeof(left), "%s %s", cli_commands[i].name, cli_commands[i].arguments);
        printf("  %-32s %s\n", left, cli_commands[i].summary);
    }
    printf("\nFor the flags of a command: kinformer COMMAND --help\n");
}

int cli_cmd_help(int argc, char **argv)
{
    static char help[] = "--help";
    char *ask_for_help[] = {help, NULL};
    if (argc == 0) {
        print_commands();
        return cli_finish_stdout();
    }
    const cli_command *command = cli_command_find(argv[0]);
    if (argc > 1 || command == NULL) {
        cli_say("help: unknown command \"%s\"; `kinformer --help` lists them", argv[argc > 1]);
        return CLI_EXIT_USAGE;
    }
    if (command->run == cli_cmd_help)
        return cli_cmd_help(0, NULL);
    return command->run(1, ask_for_help);
}
