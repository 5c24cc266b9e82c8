/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_followers.h"

#include <assert.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Short, because people are watching. */
enum { BACKOFF_MS = 100, BACKOFF_MAX_MS = 400 };

/* ---- pod status ---------------------------------------------------------------------------------------- */

/* The status as in kubectl's column STATUS. */
static ki_str state_of(const ki_object *pod)
{
    ki_str reason = ki_object_string(pod, "/status/containerStatuses/0/state/waiting/reason");
    return reason.len > 0 ? reason : ki_object_string(pod, "/status/phase");
}

static int index_by_state(const ki_object *pod, ki_index_emit *emit, void *user)
{
    (void)user;
    return ki_index_emit_value(emit, state_of(pod));
}

/* ---- handlers ------------------------------------------------------------------------------------------ */

static void note(cli_demo_follower *follower, char sign, const ki_object *object, const char *more)
{
    char line[CLI_DEMO_LINE_BYTES];
    snprintf(line, sizeof(line), "%c %s %s%s", sign, follower->name, ki_object_key(object), more);
    cli_demo_lines_add(follower->heard, line);
}

static void on_add(const ki_event *event, void *user)
{
    cli_demo_follower *follower = user;
    follower->objects++;
    if ((event->flags & KI_EVENT_INITIAL) == 0)
        note(follower, '+', event->object, "");
}

static void on_update(const ki_event *event, void *user)
{
    cli_demo_follower *follower = user;
    char more[96] = "";
    if (follower->resource == &KI_CORE_V1_PODS && event->old != NULL) {
        ki_str before = state_of(event->old);
        ki_str now = state_of(event->object);
        ki_str node = ki_object_string(event->object, "/spec/nodeName");
        snprintf(more, sizeof(more), " %.*s -> %.*s on %.*s", KI_STR_ARGS(before), KI_STR_ARGS(now),
                 KI_STR_ARGS(node));
    }
    note(follower, '~', event->object, more);
}

static void on_delete(const ki_event *event, void *user)
{
    assert(((cli_demo_follower *)user)->objects > 0);
    cli_demo_follower *follower = user;
    follower->objects--;
    note(follower, '-', event->object,
         (event->flags & KI_EVENT_FINAL_STATE_UNKNOWN) != 0 ? " (deletion not observed)" : "");
}

static void on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    cli_demo_follower *follower = user;
    if (error->reason == KI_REASON_EXPIRED)
        atomic_fetch_add(&follower->expired, 1);
}

/* ---- starting and ending ------------------------------------------------------------------------------- */

static int follow(cli_demo_follower *follower, ki_client *client, ki_error *err)
{
    assert(follower->informer == NULL && follower->resource != NULL);
    ki_informer_options options = {.backoff_ms = BACKOFF_MS, .backoff_max_ms = BACKOFF_MAX_MS};
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete, .user = follower};
    follower->informer = ki_informer_new(client, follower->resource, &options, err);
    if (follower->informer == NULL)
        return err->code;
    follower->registration = ki_informer_add_handler(follower->informer, &handler, NULL);
    (void)ki_informer_set_error_handler(follower->informer, on_error, follower);
    if (follower->resource == &KI_CORE_V1_PODS) {
        (void)ki_informer_add_index_path(follower->informer, CLI_DEMO_INDEX_NODE, KI_PATH_NODE);
        (void)ki_informer_add_index(follower->informer, CLI_DEMO_INDEX_STATE, index_by_state, NULL);
    }
    return ki_informer_start(follower->informer, err);
}

int cli_demo_followers_start(cli_demo_followers *followers, ki_client *client, cli_demo_lines *heard,
                             ki_error *err)
{
    static const ki_resource *const resources[CLI_DEMO_FOLLOWED] = {
        &KI_CORE_V1_PODS, &KI_CORE_V1_NODES, &KI_APPS_V1_DEPLOYMENTS, &KI_APPS_V1_REPLICASETS};
    int rc = 0;
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED && rc == 0; i++) {
        cli_demo_follower *follower = &followers->items[i];
        follower->name = resources[i]->plural;
        follower->resource = resources[i];
        follower->heard = heard;
        rc = follow(follower, client, err);
    }
    return rc;
}

void cli_demo_followers_fini(cli_demo_followers *followers)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        ki_informer_free(followers->items[i].informer);
        followers->items[i].informer = NULL;
    }
}

/* ---- progress ------------------------------------------------------------------------------------------ */

int cli_demo_followers_have_synced(const cli_demo_followers *followers)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++)
        if (!ki_registration_has_synced(followers->items[i].registration))
            return 0;
    return 1;
}

int cli_demo_follower_is_at(const cli_demo_follower *follower, uint64_t version)
{
    char text[64] = "";
    ki_registration_stats stats = {0};
    (void)ki_informer_last_resource_version(follower->informer, text, sizeof(text));
    ki_registration_read_stats(follower->registration, &stats);
    return text[0] != 0 && strtoull(text, NULL, 10) >= version && stats.backlog == 0;
}

int cli_demo_followers_are_current(const cli_demo_followers *followers)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++)
        if (!cli_demo_follower_is_at(&followers->items[i], followers->items[i].version))
            return 0;
    return 1;
}

/* ---- display ------------------------------------------------------------------------------------------- */

void cli_demo_followers_measure(cli_demo_followers *followers, uint64_t elapsed_ms)
{
    assert(elapsed_ms > 0);
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        cli_demo_follower *follower = &followers->items[i];
        ki_registration_stats stats = {0};
        ki_registration_read_stats(follower->registration, &stats);
        follower->events_per_second =
            (double)(stats.delivered - follower->delivered) * 1000 / (double)elapsed_ms;
        follower->delivered = stats.delivered;
    }
}

static int count_one(const ki_object *object, void *user)
{
    (void)object;
    uint64_t *count = user;
    ++*count;
    return 0;
}

static uint64_t count(const cli_demo_follower *pods, const char *index, ki_str value)
{
    uint64_t found = 0;
    (void)ki_store_walk_index(ki_informer_store(pods->informer), index, value, count_one, &found);
    return found;
}

static void show_busiest(const cli_demo_follower *pods, cli_demo_view *out, char node[CLI_DEMO_NODE_BYTES])
{
    ki_str_list nodes = {0};
    out->busiest_pods = 0;
    snprintf(node, CLI_DEMO_NODE_BYTES, "none");
    if (ki_store_list_values(ki_informer_store(pods->informer), CLI_DEMO_INDEX_NODE, &nodes) == 0)
        for (size_t i = 0; i < nodes.count; i++) {
            uint64_t found = count(pods, CLI_DEMO_INDEX_NODE, nodes.texts[i]);
            if (found <= out->busiest_pods)
                continue;
            out->busiest_pods = found;
            snprintf(node, CLI_DEMO_NODE_BYTES, "%.*s", KI_STR_ARGS(nodes.texts[i]));
        }
    ki_str_list_fini(&nodes);
    out->busiest_node = node;
}

static void show_informer(const cli_demo_follower *follower, cli_demo_view_informer *out)
{
    ki_informer_status status = {0};
    ki_registration_stats stats = {0};
    ki_informer_read_status(follower->informer, &status);
    ki_registration_read_stats(follower->registration, &stats);
    *out = (cli_demo_view_informer){.name = follower->name,
                                    .phase = status.phase,
                                    .retry_ms = status.retry_ms,
                                    .objects = status.objects,
                                    .events_per_second = follower->events_per_second,
                                    .queued = status.queued,
                                    .backlog = stats.backlog,
                                    .watches = status.watches,
                                    .expired = atomic_load(&follower->expired)};
}

void cli_demo_followers_show(const cli_demo_followers *followers, cli_demo_view *out,
                             char out_node[CLI_DEMO_NODE_BYTES])
{
    const cli_demo_follower *pods = &followers->items[CLI_DEMO_PODS];
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++)
        show_informer(&followers->items[i], &out->informers[i]);
    out->running = count(pods, CLI_DEMO_INDEX_STATE, KI_STR("Running"));
    out->starting = count(pods, CLI_DEMO_INDEX_STATE, KI_STR("Pending")) +
                    count(pods, CLI_DEMO_INDEX_STATE, KI_STR("ContainerCreating"));
    out->crashing = count(pods, CLI_DEMO_INDEX_STATE, KI_STR("CrashLoopBackOff"));
    out->nodes = out->informers[CLI_DEMO_NODES].objects;
    show_busiest(pods, out, out_node);
}
