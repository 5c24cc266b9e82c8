/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/signals.h"

const cli_command cli_commands[] = {
    {"watch", "RESOURCE[,RESOURCE...]", "list objects, then follow every change", cli_cmd_watch},
    {"apiserver", "", "run an in-memory Kubernetes API server for tests", cli_cmd_apiserver},
    {"demo", "", "show informers at work on a simulated cluster with faults", cli_cmd_demo},
    {"version", "", "print the version", cli_cmd_version},
    {"help", "[COMMAND]", "print this text, or the help of a command", cli_cmd_help},
};

const int cli_command_count = sizeof(cli_commands) / sizeof(cli_commands[0]);

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; i < cli_command_count; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return cli_command_find("help");
    if (strcmp(name, "--version") == 0)
        return cli_command_find("version");
    return NULL;
}

/* A closed pipe is not an error. If an earlier write has failed, because there was more text than the buffer
 * holds, errno is lost. Another write fails for the same reason and sets it again. */
int cli_finish_stdout(void)
{
    int has_failed = ferror(stdout);
    errno = EIO;
    if (has_failed)
        (void)fputc('\n', stdout);
    if ((fflush(stdout) == 0 && !has_failed) || errno == EPIPE || errno == EBADF)
        return CLI_EXIT_OK;
    cli_say("stdout: %s", strerror(errno));
    return CLI_EXIT_FAILED;
}

int cli_print_help(const cli_flag_set *set, const char *head, const char *tail)
{
    printf("%s", head);
    cli_flags_print(set);
    printf("%s", tail);
    return cli_finish_stdout();
}

int cli_run(int argc, char **argv)
{
    cli_signals_guard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        cli_say("no command given; `kinformer --help` lists them");
        return CLI_EXIT_USAGE;
    }
    const cli_command *command = cli_command_find(argv[1]);
    if (command == NULL) {
        cli_say("unknown command \"%s\"; `kinformer --help` lists them", argv[1]);
        return CLI_EXIT_USAGE;
    }
    return command->run(argc - 2, argv + 2);
}
