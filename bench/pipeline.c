/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>

#include "informer/informer.h"

/* When pushing continues after a pause, the store may be this many updates behind. */
enum { PIECE = 8, BEHIND = 4000, TIMEOUT_MS = 600000 };

/* ---- the source ------------------------------------------------------------------------------------- */

static bool next_of_empty(struct pipeline_source *source, ki_str *out_piece)
{
    *out_piece =
        KI_STR("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},"
               "\"items\":[]}");
    return !source->is_watch && source->piece == 0;
}

/* Feeds until the informer asks for a pause, or the body has ended. */
static void feed(struct pipeline_source *source)
{
    ki_str piece = {0};
    while (source->answer != NULL && source->next(source, &piece)) {
        source->piece++;
        if (ki_answer_body(source->answer, piece.ptr, piece.len) != 0) {
            return;
        }
    }
    ki_answer *answer = source->answer;
    if (answer != NULL && !source->is_watch) {
        source->answer = NULL;
        ki_answer_end(answer, KI_REASON_NONE, NULL);
    }
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    struct pipeline_source *source = user;
    if (options->limit == 1) {
        return KI_ERR_SYSTEM; /* the check whether the history is the same; it is optional */
    }
    source->answer = answer;
    source->is_watch = options->watch;
    source->piece = 0;
    source->lists += !options->watch;
    feed(source);
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    struct pipeline_source *source = user;
    if (source->answer == answer) {
        source->answer = NULL;
    }
}

static void resume(ki_answer *answer, void *user)
{
    (void)answer;
    feed(user);
}

static void run_expire(ki_job *job)
{
    static const char gone[] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
                               "\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old\","
                               "\"reason\":\"Expired\",\"code\":410}}\n";
    struct pipeline *pipeline = KI_CONTAINER_OF(job, struct pipeline, expire);
    if (pipeline->source.answer != NULL && pipeline->source.is_watch) {
        (void)ki_answer_body(pipeline->source.answer, gone, sizeof(gone) - 1);
    }
}

void pipeline_expire(struct pipeline *pipeline)
{
    ki_job_wake(&pipeline->expire);
}

/* ---- the informer ----------------------------------------------------------------------------------- */

static bool fail(const char *what, const ki_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    return false;
}

bool pipeline_open(struct pipeline *pipeline, const ki_informer_options *options)
{
    ki_error err = {0};
    ki_list_watch source = {.begin = begin, .cancel = cancel, .resume = resume, .user = &pipeline->source};
    ki_informer_options all = {0};
    if (options != NULL) {
        all = *options;
    }
    all.list_watch = &source;
    all.watch_list = KI_WATCH_LIST_NEVER;
    all.page_size = -1;
    if (pipeline->source.next == NULL) {
        pipeline->source.next = next_of_empty;
    }
    ki_list_init(&pipeline->deferred);
    pipeline->client = ki_client_new(&(ki_client_options){.no_cluster = 1}, &err);
    if (pipeline->client == NULL) {
        return fail("client", &err);
    }
    pipeline->informer = ki_informer_new(pipeline->client, &KI_CORE_V1_PODS, &all, &err);
    if (pipeline->informer == NULL) {
        return fail("informer", &err);
    }
    return ki_job_init(&pipeline->expire, pipeline->client->io, run_expire) == 0;
}

void pipeline_close(struct pipeline *pipeline)
{
    ki_job_fini(&pipeline->expire);
    ki_list_remove(&pipeline->informer->end_of_changes.node);
    ki_informer_free(pipeline->informer);
    ki_client_free(pipeline->client);
}

bool pipeline_start(struct pipeline *pipeline)
{
    ki_error err = {0};
    if (ki_informer_start(pipeline->informer, &err) < 0 ||
        ki_informer_wait_for_sync(pipeline->informer, TIMEOUT_MS, &err) < 0) {
        return fail("start", &err);
    }
    return true;
}

/* These pushes happen outside any job, where each change would wake dispatch. So the wake-up is held in a
 * list of this benchmark until the end of the piece, as a job on io holds it. */
static void hold_waking(struct pipeline *pipeline)
{
    ki_list_node *node = &pipeline->informer->end_of_changes.node;
    if (!ki_list_node_is_linked(node)) {
        ki_list_push_back(&pipeline->deferred, node);
    }
}

void pipeline_end_pushes(struct pipeline *pipeline)
{
    ki_deferred *waking = &pipeline->informer->end_of_changes;
    ki_list_remove(&waking->node);
    if (waking->run != NULL) { /* set by the sync */
        waking->run(waking);
    }
}

bool pipeline_wait(struct pipeline *pipeline, uint64_t version)
{
    ki_error err = {0};
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRIu64, version);
    pipeline_end_pushes(pipeline);
    if (ki_informer_wait_for_version(pipeline->informer, (ki_str){text, (size_t)n}, TIMEOUT_MS, &err) < 0) {
        return fail("wait", &err);
    }
    return true;
}

bool pipeline_push(struct pipeline *pipeline, const ki_object *object, uint64_t version)
{
    ki_change change = {
        .change_type = KI_CHANGE_UPDATED, .object = object, .version = ki_object_resource_version(object)};
    hold_waking(pipeline);
    int rc = ki_informer_take_change(&change, pipeline->informer);
    if (version % PIECE == 0) { /* a piece of an answer has this many changes */
        pipeline_end_pushes(pipeline);
    }
    if (rc == 1 && version > BEHIND) {
        return pipeline_wait(pipeline, version - BEHIND);
    }
    return rc >= 0;
}

/* ---- a handler that counts -------------------------------------------------------------------------- */

void pipeline_counter_init(struct pipeline_counter *counter, uint64_t wanted)
{
    *counter = (struct pipeline_counter){.wanted = wanted};
    sem_init(&counter->is_done, 0, 0);
}

void pipeline_counter_fini(struct pipeline_counter *counter)
{
    sem_destroy(&counter->is_done);
}

void pipeline_counter_wait(struct pipeline_counter *counter)
{
    while (sem_wait(&counter->is_done) != 0 && errno == EINTR) {
    }
}

static uint64_t checksum_of(const ki_object *object)
{
    ki_str version = object == NULL ? (ki_str){0} : ki_object_resource_version(object);
    return version.len == 0 ? 0 : (uint64_t)version.len * 256 + (unsigned char)version.ptr[version.len - 1];
}

void pipeline_count(const ki_event *event, void *user)
{
    struct pipeline_counter *counter = user;
    counter->checksum +=
        checksum_of(event->object) + 3 * checksum_of(event->old) + (uint64_t)event->change_type;
    /* Only the handler's thread writes it. Release: a thread that sees the number also sees the checksum. */
    unsigned long long events = atomic_load_explicit(&counter->events, memory_order_relaxed) + 1;
    atomic_store_explicit(&counter->events, events, memory_order_release);
    if (events == counter->wanted) {
        sem_post(&counter->is_done);
    }
}

ki_handler pipeline_counting_handler(struct pipeline_counter *counter)
{
    return (ki_handler){
        .on_add = pipeline_count, .on_update = pipeline_count, .on_delete = pipeline_count, .user = counter};
}
