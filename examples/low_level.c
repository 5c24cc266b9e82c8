/* SPDX-License-Identifier: Apache-2.0 */
/* low_level - an informer built by hand: a feed, a delta queue, a store, and a source that is not an API
 * server.
 *
 * Prints what happens to a few pods that exist only in this file. Everything runs on the program's thread.
 */
#include <kinformer.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list[] = "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
                           "{\"metadata\":{\"name\":\"web\",\"resourceVersion\":\"3\"}},"
                           "{\"metadata\":{\"name\":\"db\",\"resourceVersion\":\"5\"}}]}";
static const char events[] =
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"cache\",\"resourceVersion\":\"8\"}}}\n"
    "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"web\",\"resourceVersion\":\"9\"}}}\n"
    "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"db\",\"resourceVersion\":\"10\"}}}\n";

/* A list is answered at once; a watch sends its events and stays open. */
static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)user;
    if (options->watch)
        (void)ki_answer_body(answer, events, strlen(events));
    else if (ki_answer_body(answer, list, strlen(list)) >= 0)
        ki_answer_end(answer, KI_REASON_NONE, NULL);
    return 0;
}

static void nothing(ki_answer *answer, void *user)
{
    (void)answer;
    (void)user;
}

/* Keeps the store up to date, so that the queue can compare the next list with it. */
static int process(const ki_deltas *deltas, void *user)
{
    static const char *const names[] = {"", "added", "updated", "deleted", "listed", "once more"};
    ki_store *store = user;
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = &deltas->items[i];
        printf("%-8s %s\n", names[delta->change_type], ki_object_key(delta->object));
        int rc = delta->change_type == KI_CHANGE_DELETED ? ki_store_remove(store, deltas->key)
                                                         : ki_store_put(store, delta->object);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int main(void)
{
    ki_error err = {0};
    ki_list_watch source = {.begin = begin, .cancel = nothing, .resume = nothing, .no_watch_list = 1};
    ki_client *client =
        ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, &err);
    ki_store *store = ki_store_new(NULL, &err);
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = store}, &err);
    ki_feed_options options = {
        .informer = {.list_watch = &source}, .queue = queue, .process = process, .user = store};
    ki_feed *feed = queue == NULL ? NULL : ki_feed_new(client, &KI_CORE_V1_PODS, &options, &err);
    char version[16] = "";
    int rc = feed == NULL ? -1 : ki_feed_start(feed, &err);
    while (rc >= 0 && (strcmp(version, "10") != 0 || ki_delta_queue_len(queue) > 0)) {
        (void)poll(&(struct pollfd){.fd = ki_client_fd(client), .events = POLLIN}, 1, -1);
        rc = ki_client_dispatch(client, KI_BUDGET_NONE);
        (void)ki_feed_last_resource_version(feed, version, sizeof(version));
    }
    printf("%zu pods at version %s\n%s", ki_store_count(store), version, err.message);
    ki_feed_free(feed);
    ki_delta_queue_free(queue);
    ki_store_free(store);
    ki_client_free(client);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
