/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer watch RESOURCE[,RESOURCE...] [NAME] */
#include <kinformer/log.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/connection_flags.h"
#include "cli/duration.h"
#include "cli/failure.h"
#include "cli/resource_lookup.h"
#include "cli/signals.h"
#include "cli/watch.h"
#include "cli/watch_notes.h"

static const char help_head[] =
    "usage: kinformer watch RESOURCE[,RESOURCE...] [flags]\n"
    "       kinformer watch RESOURCE NAME [flags]\n"
    "\n"
    "Lists objects, then writes every change as it happens. Reconnects and recovers from server errors\n"
    "for as long as it runs, and reports problems on stderr. Exits with 0 on SIGINT or SIGTERM, and\n"
    "when the reader of its output closes the pipe.\n"
    "\n"
    "Resources are named as with kubectl: pods, po, deployments.apps, widgets.example.com. Those that\n"
    "are not built in are looked up on the server, unless named in full: widgets.v1.example.com.\n"
    "\n"
    "  kinformer watch pods -A\n"
    "  kinformer watch deployments web -n shop\n"
    "  kinformer watch pods,services -n web -l app=api -o events\n"
    "  kinformer watch nodes --server http://127.0.0.1:8001 -o none --until-synced --timeout 30s --stats\n";

static const char help_tail[] =
    "\n"
    "Formats for -o:\n"
    "  lines    one line per event (default)\n"
    "  events   JSON Lines: every event, and the state of each resource\n"
    "  json     objects only, one per line\n"
    "  name     names, as in pod/web\n"
    "  none     nothing\n"
    "\n"
    "Paths for --keep are JSON Pointers in which * is every element of an array or value of a map:\n"
    "/spec/containers/*/name. A number is the name of a member; single elements cannot be selected.\n"
    "Tokens and passwords given on the command line are overwritten as soon as they are read. Those\n"
    "given in a file or in the environment are not visible to other users.\n"
    "--request-timeout limits the time until the response to a list begins; it never ends a watch. With\n"
    "--timeout, its default is a third of that, from 10s to 60s.\n"
    "A DURATION is written as 100ms, 2s or 1m30s. Exit status: 0 success, 1 a system call failed,\n"
    "2 wrong usage or an unusable configuration, 3 not synced within --timeout, 4 not synced because the\n"
    "server refused permission (HTTP status 403).\n";

/* ---- one run ------------------------------------------------------------------------------------------- */

static void write_stats(const cli_watch *watch)
{
    static cli_output numbers;
    cli_stats stats = cli_watch_stats(watch);
    cli_output_init(&numbers, STDERR_FILENO, cli_signals_is_stopped);
    cli_stats_write(&stats, &numbers);
}

/* After the timeout. The reason is reported first, because a reader that does not read may delay the rest. */
static int end_unsynced(const cli_watch *watch)
{
    return cli_watch_note_unsynced(watch) ? CLI_EXIT_FORBIDDEN : CLI_EXIT_TIMEOUT;
}

/* The remaining output is written before the statistics, and these before memory is freed, which may take a
 * moment. Returns the exit status. */
static int run_client(cli_watch *watch, ki_error *err)
{
    int code = CLI_EXIT_OK;
    if (cli_watch_start(watch, err) < 0)
        return cli_end_with(err);
    int rc = cli_watch_run(watch);
    if (rc < 0) {
        cli_say("the client failed: %s", ki_error_text(rc));
        code = CLI_EXIT_FAILED;
    } else if (cli_signals_has_expired() && !cli_watch_is_synced(watch)) {
        code = end_unsynced(watch);
    }
    cli_watch_stop(watch);
    if (watch->flags->stats)
        write_stats(watch);
    if (code != CLI_EXIT_OK || watch->output->state != CLI_OUTPUT_FAILED)
        return code;
    cli_say("stdout: %s", strerror(watch->output->error));
    return CLI_EXIT_FAILED;
}

/* The resources must be known before the watch starts. Returns the exit status. */
static int look_up_and_run(cli_watch *watch, cli_resource_list *resources, ki_error *err)
{
    cli_resource_lookup lookup = {.client = watch->client,
                                  .resources = resources,
                                  .is_stopped = watch->is_stopped,
                                  .stop_fd = watch->stop_fd,
                                  .output = watch->flags->format == CLI_FORMAT_NONE ? NULL : watch->output};
    if (lookup.output != NULL && cli_output_is_closed(lookup.output))
        return CLI_EXIT_OK;
    if (cli_resource_lookup_run(&lookup, err) < 0)
        return cli_end_with(err);
    const cli_resource *unknown = cli_resource_list_wanted(resources);
    if (unknown == NULL)
        return run_client(watch, err);
    if (!cli_signals_has_expired())
        return CLI_EXIT_OK;
    char length[CLI_DURATION_BYTES];
    cli_duration_format(watch->flags->timeout_ms, length);
    cli_say("%s: not synced after %s: not a built-in resource, and the server could not be asked: %s",
            unknown->name, length, lookup.last.code == 0 ? "it has not responded" : lookup.last.message);
    return lookup.last.code == KI_ERR_FORBIDDEN ? CLI_EXIT_FORBIDDEN : CLI_EXIT_TIMEOUT;
}

/* A signal may have interrupted the reading of a file, which is not an error then. */
static int is_interrupted(void)
{
    return cli_signals_is_stopped() && !cli_signals_has_expired();
}

/* An unknown resource name is mentioned first, since it may be the actual mistake. */
static int end_without_client(const cli_resource_list *resources, ki_error *err)
{
    const cli_resource *item = cli_resource_list_wanted(resources);
    ki_error both = {0};
    char short_reason[120];
    char why[sizeof(short_reason) + 32];
    if (is_interrupted())
        return CLI_EXIT_OK;
    if (item == NULL || err->code == KI_ERR_NO_MEMORY)
        return cli_end_with(err);
    cli_shorten(short_reason, sizeof(short_reason), ki_str_of(err->message));
    snprintf(why, sizeof(why), "No server is configured (%s)", short_reason);
    (void)cli_resource_list_fail_unknown(item, why, &both);
    return cli_end_with(&both);
}

/* Some problems with the configuration and the credentials are only logged; all others are reported as errors
 * and status changes. */
static void say_record(const ki_log_record *record, void *user)
{
    (void)user;
    const char *flag = cli_connection_advice(record->message);
    if (strcmp(record->component, "credentials") == 0 || strcmp(record->component, "config") == 0)
        cli_say("%s%s%s", record->message, flag == NULL ? "" : "; ", flag == NULL ? "" : flag);
}

static int run(const cli_watch_flags *flags, cli_resource_list *resources, int stop_fd, ki_error *err)
{
    static cli_output output;
    ki_client_options options = cli_watch_flags_client_options(flags);
    ki_set_log(say_record, flags->quiet ? KI_LOG_ERROR : KI_LOG_WARNING, NULL);
    if (flags->timeout_ms != UINT64_MAX)
        cli_signals_set_deadline(flags->timeout_ms);
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
    int code = look_up_and_run(&watch, resources, err);
    cli_watch_fini(&watch);
    ki_client_free(client);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int fail_third(const char *word, ki_error *err)
{
    char shown[100];
    cli_shorten(shown, sizeof(shown), ki_str_of(word));
    return cli_fail(err,
                    "watch: unexpected argument \"%s\": one object can be named, as in `watch pods web`; "
                    "several resources are written as pods,services",
                    shown);
}

/* RESOURCE[,RESOURCE...], or RESOURCE NAME. */
static int read_arguments(const cli_arguments *arguments, cli_watch_flags *flags,
                          cli_resource_list *out_resources, ki_error *err)
{
    if (arguments->count == 0)
        return cli_fail(err, "watch: no resource given; for example `kinformer watch pods,services`");
    if (arguments->count > 2)
        return fail_third(arguments->items[2], err);
    if (arguments->count == 2 && strchr(arguments->items[0], ',') != NULL)
        return cli_fail(err, "watch: a name needs a single resource, as in `kinformer watch pods web`");
    int rc = arguments->count < 2 ? 0 : cli_watch_flags_set_name(flags, arguments->items[1], err);
    return rc < 0 ? rc : cli_resource_list_parse(arguments->items[0], out_resources, err);
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
        return cli_print_help(&set, help_head, help_tail);
    int stop_fd = rc < 0 ? -1 : cli_signals_install(&err); /* reading a file may take long */
    if (rc == 0 && stop_fd < 0)
        rc = stop_fd;
    if (rc == 0)
        rc = cli_watch_flags_check(&flags, &err);
    if (rc == 0)
        rc = read_arguments(&arguments, &flags, &resources, &err);
    if (rc == 0)
        rc = cli_connection_read_secrets(&flags.connection, &err);
    int code = CLI_EXIT_OK;
    if (rc == 0)
        code = run(&flags, &resources, stop_fd, &err);
    else if (!is_interrupted())
        code = cli_end_with(&err);
    cli_resource_list_fini(&resources);
    return code;
}
