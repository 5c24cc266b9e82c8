/* SPDX-License-Identifier: Apache-2.0 */
/* How long an event takes from the server's write to the call of the handler, compared with a thread that
 * only waits in read() on the same kind of connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_informer.h"
#include "http_server.h"
#include "http_watch.h"

enum { FEW_TICKS = 200, TICKS = 1000, ROUNDS = 3, EVENT_BYTES_MAX = 1 << 16 };

struct latencies {
    uint64_t *ns;
    uint64_t count;
    uint64_t wanted;
};

static bool latencies_init(struct latencies *latencies, uint64_t wanted)
{
    *latencies = (struct latencies){.ns = calloc(wanted, sizeof(uint64_t)), .wanted = wanted};
    return latencies->ns != NULL;
}

/* Returns whether there are enough samples. */
static bool note(struct latencies *latencies, const char *digits)
{
    uint64_t now = http_now_ns();
    if (latencies->count < latencies->wanted) {
        latencies->ns[latencies->count++] = now - strtoull(digits, NULL, 10);
    }
    return latencies->count == latencies->wanted;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void report(struct latencies *latencies, struct http_report *out_report)
{
    http_report_fill(out_report);
    qsort(latencies->ns, latencies->count, sizeof(uint64_t), compare);
    out_report->events = latencies->count;
    out_report->p50_us = (double)latencies->ns[latencies->count / 2] * 1e-3;
    out_report->p99_us = (double)latencies->ns[latencies->count * 99 / 100] * 1e-3;
}

/* ---- ours ------------------------------------------------------------------------------------------- */

struct ticks {
    struct latencies latencies;
    sem_t is_done;
};

static void take_tick(const ki_event *event, void *user)
{
    struct ticks *ticks = user;
    ki_str digits = {0};
    ki_json written = ki_object_find(event->object, "/" HTTP_TICK_MEMBER);
    if (ki_json_string(written, &digits) == 0 && digits.len == HTTP_TICK_DIGITS &&
        note(&ticks->latencies, digits.ptr)) {
        sem_post(&ticks->is_done);
    }
}

bool http_ticks_role(const struct http_task *task, struct http_report *out_report)
{
    static struct ticks ticks;
    const ki_handler handler = {.on_add = take_tick, .on_update = take_tick, .user = &ticks};
    sem_init(&ticks.is_done, 0, 0);
    ki_client *client = http_client_new(task->port, 0);
    ki_informer *informer = client == NULL ? NULL : http_informer_new(client, "ticks");
    if (informer == NULL || !latencies_init(&ticks.latencies, task->numbers[0]) ||
        ki_informer_add_handler(informer, &handler, NULL) == NULL || !http_informer_sync(informer)) {
        return false;
    }
    while (sem_wait(&ticks.is_done) != 0) {
    }
    report(&ticks.latencies, out_report);
    return true;
}

/* ---- a thread in read() ----------------------------------------------------------------------------- */

static int open_plain(unsigned port)
{
    static const char request[] = "GET /api/v1/namespaces/ticks/pods?watch=true HTTP/1.1\r\nHost: a\r\n\r\n";
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        write(fd, request, sizeof(request) - 1) != (ssize_t)sizeof(request) - 1) {
        perror("plain");
        return -1;
    }
    return fd;
}

struct plain {
    int fd;
    size_t length;
    size_t event_length; /* length of the event at the beginning of the buffer */
    char buffer[EVENT_BYTES_MAX];
};

/* Reads until there is a whole event. Several may have arrived by then. */
static bool read_tick(struct plain *plain)
{
    static const char end[] = "}\n\r\n";
    plain->length -= plain->event_length;
    memmove(plain->buffer, plain->buffer + plain->event_length, plain->length);
    for (;;) {
        const char *place = memmem(plain->buffer, plain->length, end, sizeof(end) - 1);
        if (place != NULL) {
            plain->event_length = (size_t)(place - plain->buffer) + sizeof(end) - 1;
            return true;
        }
        ssize_t n = read(plain->fd, plain->buffer + plain->length, EVENT_BYTES_MAX - plain->length);
        if (n <= 0) {
            return false;
        }
        plain->length += (size_t)n;
    }
}

bool http_ticks_plain_role(const struct http_task *task, struct http_report *out_report)
{
    static struct plain plain;
    static const char before[] = "\"" HTTP_TICK_MEMBER "\":\"";
    struct latencies latencies;
    plain.fd = open_plain(task->port);
    if (plain.fd < 0 || !latencies_init(&latencies, task->numbers[0])) {
        return false;
    }
    bool is_done = false;
    while (!is_done && read_tick(&plain)) {
        const char *place = memmem(plain.buffer, plain.event_length, before, sizeof(before) - 1);
        is_done = place != NULL && note(&latencies, place + sizeof(before) - 1);
    }
    report(&latencies, out_report);
    free(latencies.ns);
    return is_done;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

static void keep_best(struct http_report *best, const struct http_report *report)
{
    best->p50_us = best->p50_us == 0 || report->p50_us < best->p50_us ? report->p50_us : best->p50_us;
    best->p99_us = best->p99_us == 0 || report->p99_us < best->p99_us ? report->p99_us : best->p99_us;
}

bool http_ticks_bench(unsigned port, const struct bench_options *options)
{
    uint64_t ticks = options->pods < 100000 ? FEW_TICKS : TICKS;
    const struct http_task ours = {.role = "ticks", .port = port, .numbers = {ticks}};
    const struct http_task plain = {.role = "ticks_plain", .port = port, .numbers = {ticks}};
    struct http_report best[2] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        struct http_report report[2] = {0};
        if (!http_child_run(&ours, &report[0]) || !http_child_run(&plain, &report[1])) {
            return false;
        }
        keep_best(&best[0], &report[0]);
        keep_best(&best[1], &report[1]);
    }
    printf("\nfrom the server's write to the handler, an event every %d ms: %" PRIu64
           " of them, best of %d\n",
           HTTP_TICK_MS, ticks, ROUNDS);
    printf("%-34s p50 %7.1f us, p99 %7.1f us\n", "kinformer", best[0].p50_us, best[0].p99_us);
    printf("%-34s p50 %7.1f us, p99 %7.1f us\n", "a thread in read()", best[1].p50_us, best[1].p99_us);
    printf("p50 %.2f times, p99 %.2f times that of the thread\n", best[0].p50_us / best[1].p50_us,
           best[0].p99_us / best[1].p99_us);
    fflush(stdout);
    return true;
}
