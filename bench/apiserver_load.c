/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver_load.h"

#include <inttypes.h>
#include <jansson.h>
#include <kinformer/resources.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apiserver/serve/server.h"
#include "apiserver_socket.h"
#include "generate_pods.h"

enum {
    BATCH = 250,
    NAMESPACE_BYTES = 64,
    SMALL_BYTES = 512,
    SECONDS_MAX = 3,
    EXTRA_BYTES_MAX = 800,
    CONNECTIONS = 4
};

/* The target is the time for this many pods. */
#define PODS_A_LOAD 100000.0

/* ---- texts --------------------------------------------------------------------------------------------- */

/* Removes the list of that name, which follows another member. Its strings contain no brackets. */
static void strip_list(struct text *text, const char *opening)
{
    char *start = strstr(text->data, opening);
    size_t depth = 0;
    if (start == NULL) {
        return;
    }
    char *end = strchr(start, '[');
    do {
        depth += *end == '[';
        depth -= *end == ']';
        end++;
    } while (depth > 0);
    memmove(start, end, strlen(end) + 1);
    text->length = strlen(text->data);
}

const char *apiserver_pod_text(uint64_t index, unsigned revision)
{
    static const char opening[] = "\"object\":";
    static struct text text;
    const struct pod_collection pods = {GENERATE_PODS_SEED, 1U << 30};
    const struct pod_change change = {"MODIFIED", index, index, revision};
    text.length = 0;
    pods_append_change(&text, &pods, &change);
    text_append(&text, "", 1);
    char *object = strstr(text.data, opening) + sizeof(opening) - 1;
    size_t length = strlen(object) - sizeof("}\n") + 1;
    memmove(text.data, object, length);
    text.data[length] = '\0';
    strip_list(&text, ",\"managedFields\":[");
    return text.data;
}

/* A pod as a test writes it: fields that it leaves out get defaults. */
static const char *small_pod_text(uint64_t index)
{
    static char text[SMALL_BYTES];
    (void)snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"pod-%07" PRIu64
        "\",\"namespace\":\"small\",\"labels\":{\"app\":\"web\",\"tier\":\"t%u\"}},"
        "\"spec\":{\"nodeName\":\"node-%u\",\"containers\":[{\"name\":\"main\",\"image\":\"nginx:1.27\"}]},"
        "\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.%u.%u\"}}",
        index, (unsigned)(index % 7), (unsigned)(index % 100), (unsigned)(index / 250 % 250),
        (unsigned)(index % 250));
    return text;
}

static const char *real_pod_text(uint64_t index)
{
    return apiserver_pod_text(index, 0);
}

typedef const char *(*text_cb)(uint64_t index);

/* The texts of one batch, made outside the measured time. */
struct batch {
    char *texts[BATCH];
    size_t count;
    uint64_t bytes;
};

static void batch_init(struct batch *batch, text_cb text_of, uint64_t first, uint64_t end)
{
    *batch = (struct batch){0};
    while (batch->count < BATCH && first + batch->count < end) {
        char *text = strdup(text_of(first + batch->count));
        if (text == NULL) {
            fprintf(stderr, "out of memory\n");
            exit(EXIT_FAILURE);
        }
        batch->bytes += strlen(text);
        batch->texts[batch->count++] = text;
    }
}

static void batch_fini(struct batch *batch)
{
    while (batch->count > 0) {
        free(batch->texts[--batch->count]);
    }
}

/* ---- the two contenders -------------------------------------------------------------------------------- */

static bool make_namespace(ki_apiserver *server, const char *pod)
{
    static const char opening[] = "\"namespace\":\"";
    static char last[NAMESPACE_BYTES];
    char text[NAMESPACE_BYTES * 2];
    ki_error err = {0};
    const char *name = strstr(pod, opening) + sizeof(opening) - 1;
    size_t length = strcspn(name, "\"");
    if (strncmp(last, name, length) == 0 && last[length] == '\0') {
        return true;
    }
    (void)snprintf(last, sizeof(last), "%.*s", (int)length, name);
    (void)snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"%s\"}}", last);
    return ki_apiserver_put(server, &KI_CORE_V1_NAMESPACES, text, &err) == 0;
}

static bool put_batch(ki_apiserver *server, const struct batch *batch)
{
    ki_error err = {0};
    for (size_t i = 0; i < batch->count; i++) {
        if (ki_apiserver_put(server, &KI_CORE_V1_PODS, batch->texts[i], &err) < 0) {
            fprintf(stderr, "put: %s\n", err.message);
            return false;
        }
    }
    return true;
}

static bool parse_batch(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        json_t *tree = json_loads(batch->texts[i], 0, NULL);
        char *text = json_dumps(tree, JSON_COMPACT);
        free(text);
        json_decref(tree);
        if (text == NULL) {
            fprintf(stderr, "jansson failed\n");
            return false;
        }
    }
    return true;
}

static double thread_cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The costs of both for the same texts. */
struct load_times {
    double put_cpu;
    double put_wall;
    double parse_cpu;
    uint64_t bytes;
    double extra_bytes; /* memory beyond the text, per object */
};

static bool load_batch(ki_apiserver *server, const struct batch *batch, struct load_times *times)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!make_namespace(server, batch->texts[i])) {
            return false;
        }
    }
    double wall = bench_now_seconds();
    double cpu = thread_cpu_seconds();
    if (!put_batch(server, batch)) {
        return false;
    }
    double between = thread_cpu_seconds();
    times->put_wall += bench_now_seconds() - wall;
    times->put_cpu += between - cpu;
    if (!parse_batch(batch)) {
        return false;
    }
    times->parse_cpu += thread_cpu_seconds() - between;
    times->bytes += batch->bytes;
    return true;
}

/* The two take turns after each batch, so that a change of the machine's speed affects both. */
static bool load(ki_apiserver *server, text_cb text_of, uint64_t pods, struct load_times *times)
{
    bool is_done = true;
    for (uint64_t first = 0; first < pods && is_done; first += BATCH) {
        struct batch batch;
        batch_init(&batch, text_of, first, pods);
        is_done = load_batch(server, &batch, times);
        batch_fini(&batch);
    }
    return is_done;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static uint64_t stored_text_bytes(ki_apiserver *server)
{
    uint64_t bytes = 0;
    ki_as_storage_lock(server->storage);
    struct ki_as_resource *resource = ki_as_resources_find(ki_as_storage_resources(server->storage),
                                                           KI_STR(""), KI_STR("v1"), KI_STR("pods"));
    const struct ki_as_collection *pods = ki_as_storage_collection(server->storage, resource);
    for (const struct ki_as_object *object = ki_as_collection_next(pods, KI_STR(""), NULL); object != NULL;
         object = ki_as_collection_next(pods, KI_STR(""), object)) {
        bytes += object->text.len;
    }
    ki_as_storage_unlock(server->storage);
    return bytes;
}

/* ---- over HTTP ----------------------------------------------------------------------------------------- */

/* Sends a request on each connection, then reads the responses. */
static bool post_batch(const int *fds, const struct batch *batch)
{
    bool is_good = true;
    for (size_t first = 0; first < batch->count && is_good; first += CONNECTIONS) {
        size_t count = batch->count - first < CONNECTIONS ? batch->count - first : CONNECTIONS;
        for (size_t i = 0; i < count && is_good; i++) {
            is_good = apiserver_post(fds[i], "/api/v1/namespaces/small/pods", batch->texts[first + i]);
        }
        for (size_t i = 0; i < count && is_good; i++) {
            is_good = apiserver_read_status(fds[i]) == 201;
        }
    }
    return is_good;
}

/* Posts the same small pods again, as another process would create them. */
static bool post_and_print(ki_apiserver *server, uint64_t pods, double put_wall)
{
    int fds[CONNECTIONS];
    double wall = 0;
    ki_error err = {0};
    bool is_good =
        ki_apiserver_put(server, &KI_CORE_V1_NAMESPACES, "{\"metadata\":{\"name\":\"small\"}}", &err) == 0;
    for (size_t i = 0; i < CONNECTIONS; i++) {
        fds[i] = apiserver_connect(apiserver_port_of(ki_apiserver_url(server)));
        is_good = is_good && fds[i] >= 0;
    }
    for (uint64_t first = 0; first < pods && is_good; first += BATCH) {
        struct batch batch;
        batch_init(&batch, small_pod_text, first, pods);
        double start = bench_now_seconds();
        is_good = post_batch(fds, &batch);
        wall += bench_now_seconds() - start;
        batch_fini(&batch);
    }
    for (size_t i = 0; i < CONNECTIONS; i++) {
        close(fds[i]);
    }
    if (!is_good) {
        fprintf(stderr, "the pods could not be posted\n");
        return false;
    }
    printf("%-42s %7.2f s wall time, %.1f us each, %.1f times ki_apiserver_put\n",
           "POST of the same, 4 connections kept alive", wall, wall / (double)pods * 1e6, wall / put_wall);
    return true;
}

/* Removes them, also from the history. */
static bool forget_small(ki_apiserver *server)
{
    ki_error err = {0};
    int rc = ki_apiserver_delete(server, &KI_CORE_V1_NAMESPACES, "", "small", &err);
    ki_apiserver_compact(server);
    return rc == 0;
}

/* ---- the benchmark ------------------------------------------------------------------------------------- */

/* The kind of pods that are loaded. */
struct kind {
    const char *name;
    text_cb text_of;
};

static bool load_and_print(ki_apiserver *server, const struct kind *kind, uint64_t pods,
                           struct load_times *times)
{
    double count = (double)pods;
    size_t before = allocated_bytes();
    uint64_t text_before = stored_text_bytes(server);
    if (!load(server, kind->text_of, pods, times)) {
        return false;
    }
    double text_bytes = (double)(stored_text_bytes(server) - text_before);
    times->extra_bytes = ((double)(allocated_bytes() - before) - text_bytes) / count;
    printf("\n%.0f %s of %.0f bytes put one by one, stored with %.0f bytes of text each\n", count, kind->name,
           (double)times->bytes / count, text_bytes / count);
    printf("%-42s %7.2f s of CPU, %.1f us each, %.2f s wall time\n", "ki_apiserver_put", times->put_cpu,
           times->put_cpu / count * 1e6, times->put_wall);
    printf("%-42s %7.2f s of CPU, %.1f us each\n", "jansson parses and writes the same texts",
           times->parse_cpu, times->parse_cpu / count * 1e6);
    return true;
}

bool apiserver_load_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met)
{
    static const struct kind small_pods = {"small pods", small_pod_text};
    static const struct kind real_pods = {"production pods", real_pod_text};
    struct load_times small = {0};
    struct load_times real = {0};
    double count = (double)options->pods;
    if (!load_and_print(server, &small_pods, options->pods, &small) || !forget_small(server) ||
        !post_and_print(server, options->pods, small.put_wall) || !forget_small(server)) {
        return false;
    }
    if (!load_and_print(server, &real_pods, options->pods, &real)) {
        return false;
    }
    *out_met &= bench_target("load: seconds for 100,000 small pods", small.put_wall / count * PODS_A_LOAD,
                             "<=", SECONDS_MAX);
    *out_met &=
        bench_target("memory: bytes per object beyond its text", real.extra_bytes, "<=", EXTRA_BYTES_MAX);
    return true;
}
