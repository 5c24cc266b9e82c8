/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "cli/failure.h"
#include "cli/moment.h"
#include "cli/watch_notes.h"

/* SLICE_MS: how long the library runs before signals are checked. */
enum { SLICE_MS = 20, BACKLOG_ITEMS_MAX = 10000 };

/* ---- informer callbacks -------------------------------------------------------------------------------- */

static void on_add(const ki_event *event, void *user)
{
    cli_follower *follower = user;
    follower->objects++;
    cli_event_writer_event(&follower->watch->writer, follower->resource, event);
}

static void on_update(const ki_event *event, void *user)
{
    cli_follower *follower = user;
    cli_event_writer_event(&follower->watch->writer, follower->resource, event);
}

static void on_delete(const ki_event *event, void *user)
{
    cli_follower *follower = user;
    follower->objects--;
    cli_event_writer_event(&follower->watch->writer, follower->resource, event);
}

static void on_batch_end(void *user)
{
    cli_follower *follower = user;
    cli_event_writer_batch_end(&follower->watch->writer);
}

static void on_synced(void *user)
{
    cli_follower *follower = user;
    cli_watch *watch = follower->watch;
    uint64_t now_ms = cli_moment_now_ms();
    char version[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    (void)ki_informer_last_resource_version(follower->informer, version, sizeof(version));
    follower->is_synced = 1;
    watch->synced_count++;
    if (cli_watch_is_synced(watch))
        watch->sync_ms = now_ms - watch->began_ms;
    cli_event_writer_synced(&watch->writer, follower->resource, follower->objects, version);
    cli_watch_note_synced(follower, now_ms, version);
}

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    (void)informer;
    cli_follower *follower = user;
    if (status->phase == follower->phase && status->reason == follower->reason)
        return; /* on_synced reports the sync separately */
    follower->phase = status->phase;
    follower->reason = status->reason;
    cli_event_writer_status(&follower->watch->writer, follower->resource, status);
    cli_watch_note_status(follower, cli_moment_now_ms(), status);
}

static void on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    cli_watch_note_error(user, cli_moment_now_ms(), error, &status);
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* A slow reader makes the informer wait, so nothing is lost, and memory does not grow. */
static int follow(cli_follower *follower, const ki_informer_options *options, ki_error *err)
{
    const cli_watch *watch = follower->watch;
    ki_handler handler = {.on_add = on_add,
                          .on_update = on_update,
                          .on_delete = on_delete,
                          .on_synced = on_synced,
                          .on_batch_end = on_batch_end,
                          .user = follower,
                          .resync_ms = watch->flags->resync_ms,
                          .overflow = KI_OVERFLOW_BLOCK,
                          .backlog_items_max = BACKLOG_ITEMS_MAX};
    follower->informer = ki_informer_new(watch->client, follower->resource->resource, options, err);
    if (follower->informer == NULL)
        return err->code;
    (void)ki_informer_add_handler(follower->informer, &handler, NULL);
    (void)ki_informer_set_status_handler(follower->informer, on_status, follower);
    (void)ki_informer_set_error_handler(follower->informer, on_error, follower);
    return ki_informer_start(follower->informer, err);
}

static int follow_all(cli_watch *watch, ki_informer_options *options, ki_error *err)
{
    int rc = 0;
    const char *ns = watch->flags->all_namespaces ? "" : ki_client_namespace(watch->client);
    for (size_t i = 0; i < watch->resources->count && rc == 0; i++) {
        cli_follower *follower = &watch->followers[i];
        *follower = (cli_follower){.watch = watch, .resource = &watch->resources->items[i]};
        options->ns = follower->resource->resource->scope == KI_SCOPE_NAMESPACED ? ns : "";
        rc = follow(follower, options, err);
    }
    return rc;
}

int cli_watch_start(cli_watch *watch, ki_error *err)
{
    const char **keep = NULL;
    ki_informer_options options = cli_watch_flags_options(watch->flags);
    watch->synced_count = 0;
    watch->sync_ms = UINT64_MAX;
    watch->began_ms = cli_moment_now_ms();
    watch->writer = (cli_event_writer){.output = watch->output,
                                       .format = (cli_format)watch->flags->format,
                                       .shows_resource = watch->resources->count > 1,
                                       .shows_namespace = watch->flags->all_namespaces};
    watch->followers = calloc(watch->resources->count, sizeof(*watch->followers));
    if (watch->followers == NULL)
        return cli_fail_no_memory(err);
    int rc = cli_watch_flags_keep(watch->flags, &keep, err);
    options.keep = keep;
    if (rc == 0)
        rc = follow_all(watch, &options, err);
    free(keep);
    return rc;
}

/* ---- running ------------------------------------------------------------------------------------------- */

int cli_watch_is_synced(const cli_watch *watch)
{
    return watch->synced_count == watch->resources->count;
}

static int is_over(const cli_watch *watch)
{
    return (watch->is_stopped != NULL && watch->is_stopped()) || watch->output->state != CLI_OUTPUT_OPEN ||
           (watch->flags->until_synced && cli_watch_is_synced(watch));
}

static int timeout_ms(const cli_watch *watch)
{
    int timeout = ki_client_timeout_ms(watch->client);
    uint64_t now_ms = cli_moment_now_ms();
    for (size_t i = 0; i < watch->resources->count; i++) {
        uint64_t due_ms = cli_watch_note_due_ms(&watch->followers[i]);
        uint64_t wait_ms = due_ms > now_ms ? due_ms - now_ms : 0;
        if (due_ms != UINT64_MAX && (timeout < 0 || wait_ms < (uint64_t)timeout))
            timeout = wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
    }
    return timeout;
}

static void tick_notices(cli_watch *watch)
{
    uint64_t now_ms = cli_moment_now_ms();
    for (size_t i = 0; i < watch->resources->count; i++)
        cli_watch_note_tick(&watch->followers[i], now_ms);
}

/* The reader is polled as well: while there are no events, nothing is written, and the reader may have
 * gone. */
int cli_watch_run(cli_watch *watch)
{
    int is_written = watch->flags->format != CLI_FORMAT_NONE;
    while (!is_over(watch)) {
        struct pollfd fds[] = {{.fd = ki_client_fd(watch->client), .events = POLLIN},
                               {.fd = watch->stop_fd, .events = POLLIN},
                               {.fd = is_written ? watch->output->fd : -1}};
        int ready = poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms(watch));
        if (ready > 0 && fds[2].revents != 0 && cli_output_is_closed(watch->output))
            break;
        int rc = ki_client_dispatch(watch->client, SLICE_MS);
        if (rc < 0)
            return rc;
        tick_notices(watch);
    }
    return 0;
}

/* ---- ending -------------------------------------------------------------------------------------------- */

void cli_watch_stop(cli_watch *watch)
{
    for (size_t i = 0; watch->followers != NULL && i < watch->resources->count; i++)
        ki_informer_stop(watch->followers[i].informer);
    cli_output_flush(watch->output);
}

cli_stats cli_watch_stats(const cli_watch *watch)
{
    cli_stats stats = {.sync_ms = watch->sync_ms, .peak_rss_bytes = cli_stats_peak_rss_bytes()};
    for (size_t i = 0; i < watch->resources->count; i++) {
        ki_informer_status status = {0};
        ki_informer_read_status(watch->followers[i].informer, &status);
        cli_stats_add(&stats, &status);
    }
    return stats;
}

void cli_watch_fini(cli_watch *watch)
{
    for (size_t i = 0; watch->followers != NULL && i < watch->resources->count; i++)
        ki_informer_free(watch->followers[i].informer);
    free(watch->followers);
    watch->followers = NULL;
}
