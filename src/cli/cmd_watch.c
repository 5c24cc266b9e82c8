/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer watch RESOURCE[,RESOURCE...] */
#include <kinformer/log.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/resource_lookup.h"
#include "cli/signals.h"
#include "cli/watch.h"

static const char help_head[] =
    "usage: kinformer watch RESOURCE[,RESOURCE...] [flags]\n"
    "\n"
    "Lists objects, then writes every change as it happens. Reconnects and recovers from server errors\n"
    "for as long as it runs, and reports problems on stderr. Exits with 0 on SIGINT or SIGTERM, and\n"
    "when the reader of its output closes the pipe.\n"
    "\n"
    "Resources are named as with kubectl: pods, po, deployments.apps, widgets.example.com. Those that\n"
    "are not built in are looked up on the server, unless named in full: widgets.v1.example.com.\n"
    "\n"
    "  kinformer watch pods -A\n"
    "  kinformer watch pods,services -n web -l app=api -o events\n"
    "  kinformer watch nodes --server http://127.0.0.1:8001 -o none --until-synced --stats\n";

static const char help_tail[] =
    "\n"
    "Formats for -o:\n"
    "  lines    one line per event (default)\n"
    "  events   JSON Lines: every event, and the state of each resource\n"
    "  json     objects only, one per line\n"
    "  name     names, as in pod/web\n"
    "  none     nothing\n"
    "\n"
    "Tokens and passwords given on the command line are overwritten as soon as they are read. Other\n"
    "users of the machine never see those given in a file or in the environment.\n"
    "A DURATION is written as 100ms, 2s or 1m30s. Exit status: 0 success, 1 a system call failed,\n"
    "2 wrong usage or an unusable configuration.\n";

static int print_help(const cli_flag_set *set)
{
    printf("%s", help_head);
    cli_flags_print(set);
    printf("%s", help_tail);
    return cli_finish_stdout();
}

/* ---- one run ------------------------------------------------------------------------------------------- */

/* The remaining output comes before the statistics, and these before memory is freed, which may take a
 * moment. */
static int run_client(cli_watch *watch, ki_error *err)
{
    int rc = cli_watch_start(watch, err);
    if (rc < 0)
        return rc;
    rc = cli_watch_run(watch);
    if (rc < 0) {
        (void)cli_fail(err, "the client failed: %s", ki_error_text(rc));
        err->code = KI_ERR_SYSTEM;
    }
    cli_watch_stop(watch);
    if (watch->flags->stats) {
        static cli_output numbers;
        cli_stats stats = cli_watch_stats(watch);
        cli_output_init(&numbers, STDERR_FILENO, cli_signals_is_stopped);
        cli_stats_write(&stats, &numbers);
    }
    return rc;
}

/* An unknown resource name is mentioned first: it may be the mistake. */
static int end_without_client(const cli_resource_list *resources, ki_error *err)
{
    const cli_resource *item = cli_resource_list_wanted(resources);
    ki_error both = {0};
    char short_reason[120];
    char why[sizeof(short_reason) + 32];
    if (item == NULL || err->code == KI_ERR_NO_MEMORY)
        return cli_end_with(err);
    cli_shorten(short_reason, sizeof(short_reason), ki_str_of(err->message));
    snprintf(why, sizeof(why), "No server is configured (%s)", short_reason);
    (void)cli_resource_list_fail_unknown(item, why, &both);
    return cli_end_with(&both);
}

/* Problems with the connection and credentials are only reported this way; everything else is in errors
 * and states. */
static void say_record(const ki_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->component, "credentials") == 0 || strcmp(record->component, "config") == 0)
        cli_say("%s", record->message);
}

static int run(const cli_watch_flags *flags, cli_resource_list *resources, ki_error *err)
{
    static cli_output output;
    ki_client_options options = cli_connection_options(&flags->connection);
    options.mode = KI_MODE_EVENT_LOOP;
    options.ns = flags->ns == NULL || flags->ns[0] == 0 ? NULL : flags->ns;
    int stop_fd = cli_signals_install(err);
    if (stop_fd < 0)
        return cli_end_with(err);
    ki_set_log(say_record, KI_LOG_WARNING, NULL);
    ki_client *client = ki_client_new(&options, err);
    if (client == NULL)
        return end_without_client(resources, err);
    cli_output_init(&output, STDOUT_FILENO, cli_signals_is_stopped);
    cli_watch watch = {.flags = flags,
                       .resources = resources,
                       .client = client,
                       .output = &output,
                       .is_stopped = cli_signals_is_stopped,
                       .stop_fd = stop_fd};
    int rc = cli_resource_lookup_run(
        &(cli_resource_lookup){client, resources, cli_signals_is_stopped, stop_fd}, err);
    if (rc == 0 && cli_resource_list_wanted(resources) == NULL)
        rc = run_client(&watch, err);
    cli_watch_fini(&watch);
    ki_client_free(client);
    if (rc < 0)
        return cli_end_with(err);
    if (output.state != CLI_OUTPUT_FAILED)
        return CLI_EXIT_OK;
    cli_say("stdout: %s", strerror(output.error));
    return CLI_EXIT_FAILED;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int fail_second(const char *word, ki_error *err)
{
    char shown[100];
    cli_shorten(shown, sizeof(shown), ki_str_of(word));
    return cli_fail(err,
                    "watch: what is \"%s\"? Several resources are written as pods,services; one object is "
                    "chosen by --field-selector metadata.name=%s",
                    shown, shown);
}

static int check_arguments(const cli_arguments *arguments, ki_error *err)
{
    if (arguments->count == 0)
        return cli_fail(err, "watch: no resource given; for example `kinformer watch pods,services`");
    if (arguments->count > 1)
        return fail_second(arguments->items[1], err);
    return 0;
}

int cli_cmd_watch(int argc, char **argv)
{
    cli_watch_flags flags;
    cli_flag_group groups[CLI_WATCH_GROUPS];
    cli_flag_set set = {"watch", groups, CLI_WATCH_GROUPS};
    cli_arguments arguments = {0};
    cli_resource_list resources = {0};
    ki_error err = {0};
    cli_watch_flags_init(&flags, groups);
    int rc = cli_flags_parse(&set, argc, argv, &arguments, &err);
    if (rc == 0 && arguments.is_help)
        return print_help(&set);
    if (rc == 0)
        rc = check_arguments(&arguments, &err);
    if (rc == 0)
        rc = cli_connection_read_secrets(&flags.connection, &err);
    if (rc == 0)
        rc = cli_watch_flags_check(&flags, &err);
    if (rc == 0)
        rc = cli_resource_list_parse(arguments.items[0], &resources, &err);
    if (rc < 0)
        return cli_end_with(&err);
    int code = run(&flags, &resources, &err);
    cli_resource_list_fini(&resources);
    return code;
}
