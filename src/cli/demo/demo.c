/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo.h"

#include <assert.h>
#include <kinformer/resources.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_terminal.h"
#include "cli/failure.h"
#include "cli/moment.h"
#include "cli/signals.h"

/* The server sends bookmarks every BOOKMARK_MS. Due writes are made for SLICE_MS at a time; the thread sleeps
 * REST_MS in between, so that fast churn arrives in small bursts. */
enum {
    BOOKMARK_MS = 1000,
    SLICE_MS = 10,
    REST_MS = 10,
    PACE_LAG_MS = 1000,
    SAID_MAX = 2,
    FIRST_STATUS_MS = 1000
};

static int is_over(const cli_demo *demo)
{
    return cli_signals_is_stopped() || demo->output->state != CLI_OUTPUT_OPEN;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static int write_change(cli_demo *demo, const cli_demo_change *change, ki_error *err)
{
    assert(change->is_delete || change->json != NULL);
    static const ki_resource *const resources[] = {&KI_CORE_V1_PODS, &KI_CORE_V1_NODES,
                                                   &KI_APPS_V1_DEPLOYMENTS, &KI_APPS_V1_REPLICASETS,
                                                   &KI_CORE_V1_NAMESPACES};
    assert((size_t)change->kind < sizeof(resources) / sizeof(resources[0]));
    const ki_resource *resource = resources[change->kind];
    int rc = change->is_delete ? ki_apiserver_delete(demo->server, resource, change->ns, change->name, err)
                               : ki_apiserver_put(demo->server, resource, change->json, err);
    if (rc == 0 && (size_t)change->kind < CLI_DEMO_FOLLOWED)
        demo->followers.items[change->kind].version = ki_apiserver_version(demo->server);
    return rc;
}

static int write_next(cli_demo *demo, ki_error *err)
{
    cli_demo_change change = {0};
    int rc = cli_demo_cluster_next(demo->cluster, cli_moment_wall_s(), &change, err);
    if (rc == 0)
        rc = write_change(demo, &change, err);
    if (rc < 0)
        return rc;
    if (change.happening[0] != 0 && (demo->is_screen || demo->said++ < SAID_MAX))
        cli_demo_say(demo, &demo->view.happenings, change.happening);
    return 0;
}

static int load(cli_demo *demo, ki_error *err)
{
    int rc = 0;
    while (rc == 0 && cli_demo_cluster_to_load(demo->cluster) > 0 && !is_over(demo))
        rc = write_next(demo, err);
    return rc;
}

/* When the next write is due. */
static uint64_t write_due_ms(const cli_demo *demo)
{
    double rate = demo->flags->writes_per_second;
    if (rate <= 0)
        return UINT64_MAX;
    return demo->pace_ms + (uint64_t)((double)(demo->paced + 1) * 1000 / rate);
}

/* Writes that a slow machine cannot catch up with are dropped. */
static int churn(cli_demo *demo, ki_error *err)
{
    uint64_t begun_ms = cli_moment_now_ms();
    int rc = 0;
    while (rc == 0 && write_due_ms(demo) <= begun_ms && cli_moment_now_ms() - begun_ms < SLICE_MS) {
        rc = write_next(demo, err);
        demo->paced++;
        demo->view.writes++;
    }
    if (write_due_ms(demo) + PACE_LAG_MS < begun_ms) {
        demo->pace_ms = begun_ms;
        demo->paced = 0;
    }
    return rc;
}

/* ---- starting and ending ------------------------------------------------------------------------------- */

static void on_trouble(const char *line, void *user)
{
    cli_demo *demo = user;
    cli_demo_say(demo, &demo->view.troubles, line);
}

static int start_cluster(cli_demo *demo, ki_error *err)
{
    cli_demo_cluster_options cluster = {(uint64_t)demo->flags->seed, (uint32_t)demo->flags->pods};
    ki_apiserver_options server = {.port = (uint16_t)demo->flags->port,
                                   .seed = (uint64_t)demo->flags->seed + 1,
                                   .bookmark_ms = BOOKMARK_MS};
    demo->server = ki_apiserver_start(&server, err);
    if (demo->server == NULL)
        return err->code;
    demo->cluster = cli_demo_cluster_new(&cluster, err);
    return demo->cluster == NULL ? err->code : load(demo, err);
}

static int start(cli_demo *demo, ki_error *err)
{
    assert(demo->server == NULL && demo->client == NULL);
    char line[64];
    snprintf(line, sizeof(line), "creating a cluster of %lld pods", (long long)demo->flags->pods);
    cli_demo_write(demo, line);
    int rc = start_cluster(demo, err);
    if (rc < 0)
        return rc;
    ki_client_options client = {.mode = KI_MODE_HANDLERS_ON_LOOP, .server = ki_apiserver_url(demo->server)};
    demo->client = ki_client_new(&client, err);
    if (demo->client == NULL)
        return err->code;
    demo->trouble = (cli_demo_trouble){.server = demo->server,
                                       .followers = &demo->followers,
                                       .period_ms = demo->flags->trouble_ms,
                                       .say = on_trouble,
                                       .user = demo};
    return cli_demo_followers_start(&demo->followers, demo->client, &demo->view.events, err);
}

static void fini(cli_demo *demo)
{
    cli_demo_followers_fini(&demo->followers);
    ki_client_free(demo->client);
    cli_demo_cluster_free(demo->cluster);
    ki_apiserver_free(demo->server);
}

/* ---- running ------------------------------------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int timeout_ms(const cli_demo *demo, uint64_t now_ms)
{
    uint64_t write_ms = write_due_ms(demo);
    uint64_t due_ms = earlier(demo->frame_ms, cli_demo_trouble_due_ms(&demo->trouble, now_ms));
    due_ms = earlier(due_ms, demo->ends_ms);
    due_ms = earlier(due_ms, write_ms < now_ms + REST_MS ? now_ms + REST_MS : write_ms);
    uint64_t wait_ms = due_ms > now_ms ? due_ms - now_ms : 0;
    int client_ms = ki_client_timeout_ms(demo->client);
    int wait = wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
    assert(wait >= 0);
    return client_ms >= 0 && client_ms < wait ? client_ms : wait;
}

/* Waits until something is due, and lets handlers run. */
static int rest(cli_demo *demo, ki_error *err)
{
    struct pollfd fds[] = {{.fd = ki_client_fd(demo->client), .events = POLLIN},
                           {.fd = demo->stop_fd, .events = POLLIN},
                           {.fd = demo->resize_fd, .events = POLLIN}};
    if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms(demo, cli_moment_now_ms())) > 0 &&
        fds[2].revents != 0)
        demo->frame_ms = 0;
    int rc = ki_client_dispatch(demo->client, SLICE_MS);
    return rc < 0 ? cli_fail(err, "the client failed: %s", ki_error_text(rc)) : 0;
}

static void tell_sync(cli_demo *demo)
{
    char line[CLI_DEMO_LINE_BYTES];
    if (demo->has_synced || !cli_demo_followers_have_synced(&demo->followers))
        return;
    demo->has_synced = 1;
    snprintf(line, sizeof(line), "synced: %d informers in %llu ms", CLI_DEMO_FOLLOWED,
             (unsigned long long)(cli_moment_now_ms() - demo->began_ms));
    cli_demo_say(demo, &demo->view.troubles, line);
}

static int step(cli_demo *demo, ki_error *err)
{
    int rc = churn(demo, err);
    if (rc == 0)
        rc = cli_demo_trouble_tick(&demo->trouble, cli_moment_now_ms(), err);
    if (rc < 0)
        return rc;
    tell_sync(demo);
    cli_demo_show(demo, cli_moment_now_ms());
    return rest(demo, err);
}

static void begin(cli_demo *demo)
{
    uint64_t now_ms = cli_moment_now_ms();
    char line[CLI_DEMO_LINE_BYTES];
    snprintf(line, sizeof(line), "API server at %s with %llu pods, seed %lld", ki_apiserver_url(demo->server),
             (unsigned long long)ki_apiserver_count(demo->server, &KI_CORE_V1_PODS),
             (long long)demo->flags->seed);
    demo->resize_fd = demo->is_screen ? cli_demo_terminal_enter(demo->output) : -1;
    demo->began_ms = demo->pace_ms = demo->measured_ms = now_ms;
    demo->ends_ms = demo->flags->for_ms == 0 ? UINT64_MAX : now_ms + demo->flags->for_ms;
    demo->frame_ms = now_ms + (demo->is_screen ? 0 : FIRST_STATUS_MS);
    cli_demo_say(demo, NULL, line);
    cli_demo_trouble_begin(&demo->trouble, now_ms);
}

static int run(cli_demo *demo, ki_error *err)
{
    int rc = 0;
    begin(demo);
    while (rc == 0 && !is_over(demo) && cli_moment_now_ms() < demo->ends_ms)
        rc = step(demo, err);
    return rc;
}

int cli_demo_run(cli_demo *demo)
{
    ki_error err = {0};
    int code = CLI_EXIT_OK;
    int rc = start(demo, &err);
    if (rc == 0 && !is_over(demo))
        rc = run(demo, &err);
    if (rc == 0 && demo->output->state == CLI_OUTPUT_OPEN && demo->measured_ms > 0)
        code = cli_demo_finish(demo);
    cli_demo_terminal_leave(demo->output);
    fini(demo);
    if (rc < 0) {
        cli_say("%s", err.message);
        return CLI_EXIT_FAILED;
    }
    if (demo->output->state != CLI_OUTPUT_FAILED)
        return code;
    cli_say("stdout: %s", strerror(demo->output->error));
    return CLI_EXIT_FAILED;
}
