/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer version */
#include <kinformer/common.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/flags.h"

int cli_cmd_version(int argc, char **argv)
{
    const cli_flag_set set = {.command = "version"};
    cli_arguments arguments;
    ki_error err = {0};
    if (cli_flags_parse(&set, argc, argv, &arguments, &err) < 0)
        return cli_end_with(&err);
    if (arguments.count > 0) {
        cli_say("version: takes no arguments");
        return CLI_EXIT_USAGE;
    }
    if (arguments.is_help)
        printf("usage: kinformer version\n\nWrites the version of the library that the program runs with.\n");
    else
        printf("kinformer %s\n", ki_version());
    return cli_finish_stdout();
}
