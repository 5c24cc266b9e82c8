/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer demo */
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/demo/demo.h"
#include "cli/demo/demo_terminal.h"
#include "cli/failure.h"
#include "cli/signals.h"

static const char help_head[] =
    "usage: kinformer demo [flags]\n"
    "\n"
    "Starts an API server in this process, a simulated cluster (deployments that scale and roll out, pods\n"
    "that start, crash and disappear), and informers that follow it over HTTP. Every few seconds it cuts\n"
    "the connections, restarts the server, or drops the server's history; the informers recover.\n"
    "\n"
    "Runs until Ctrl-C, SIGTERM, or the end of --for. Then the writes stop, and the informers' caches are\n"
    "compared with the server's lists. Exits with 0 when they are equal; otherwise it lists the\n"
    "differences and exits with 1. A second Ctrl-C exits at once.\n"
    "\n"
    "On a terminal it draws a live view and honours NO_COLOR. Otherwise it writes lines, and stops after\n"
    "20 s unless --for is given.\n"
    "\n"
    "  kinformer demo\n"
    "  kinformer demo --pods 20000 --churn 2000/s --trouble 3s\n"
    "  kinformer demo --seed 7 --for 1m | tee demo.txt\n";

static int run(const cli_demo_flags *flags, int is_screen, ki_error *err)
{
    static cli_output output;
    static cli_demo demo;
    int stop_fd = cli_signals_install(err);
    if (stop_fd < 0)
        return cli_end_with(err);
    cli_signals_be_patient(cli_demo_terminal_abandon);
    cli_output_init(&output, STDOUT_FILENO, cli_signals_is_stopped);
    demo = (cli_demo){.flags = flags, .output = &output, .stop_fd = stop_fd, .is_screen = is_screen};
    return cli_demo_run(&demo);
}

int cli_cmd_demo(int argc, char **argv)
{
    cli_demo_flags flags;
    cli_flag_group groups[CLI_DEMO_GROUPS];
    cli_flag_set set = {"demo", groups, CLI_DEMO_GROUPS};
    cli_arguments arguments = {0};
    ki_error err = {0};
    cli_demo_flags_init(&flags, groups);
    int rc = cli_flags_parse(&set, argc, argv, &arguments, &err);
    if (rc == 0 && arguments.is_help)
        return cli_print_help(&set, help_head, "");
    if (rc == 0 && arguments.count > 0)
        rc = cli_fail(&err, "demo: unexpected argument \"%s\"", arguments.items[0]);
    if (rc == 0)
        rc = cli_demo_flags_check(&flags, isatty(STDOUT_FILENO), &err);
    if (rc < 0)
        return cli_end_with(&err);
    return run(&flags, !flags.is_plain && cli_demo_terminal_can(STDOUT_FILENO), &err);
}
