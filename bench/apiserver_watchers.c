/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "apiserver_watchers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <kinformer/resources.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apiserver_load.h"
#include "apiserver_socket.h"
#include "http_child.h"

enum { WATCHERS_MAX = 1000, READ_BYTES = 1 << 18, READY_AT_ONCE = 64, DELIVERED = 200000, EVENTS_MAX = 5000 };

/* The total event rate of a thousand watchers must be at least this share of that of ten. */
#define SHARE_MIN 0.5

/* ---- the readers' process ------------------------------------------------------------------------------ */

struct reader {
    int fd;
    char last; /* the last byte read */
    bool is_answered;
};

struct readers {
    struct reader each[WATCHERS_MAX];
    size_t count;
    size_t answered;
    uint64_t events; /* of all readers */
    int epoll_fd;
};

static bool open_one(struct readers *readers, uint16_t port, uint64_t version)
{
    struct reader *reader = &readers->each[readers->count];
    char path[96];
    (void)snprintf(path, sizeof(path), "/api/v1/pods?watch=1&resourceVersion=%" PRIu64, version);
    *reader = (struct reader){.fd = apiserver_connect(port)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = reader};
    if (reader->fd < 0 || !apiserver_ask(reader->fd, path) ||
        epoll_ctl(readers->epoll_fd, EPOLL_CTL_ADD, reader->fd, &event) < 0) {
        return false;
    }
    readers->count++;
    return true;
}

/* An event ends with a newline; the newlines of HTTP follow a carriage return. */
static uint64_t count_events(struct reader *reader, const char *bytes, size_t length)
{
    uint64_t count = 0;
    const char *end = bytes + length;
    for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        count += (at == bytes ? reader->last : at[-1]) != '\r';
    }
    reader->last = end[-1];
    return count;
}

static bool read_one(struct readers *readers, struct reader *reader)
{
    static char bytes[READ_BYTES];
    ssize_t n = recv(reader->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n <= 0) {
        return false;
    }
    readers->answered += !reader->is_answered;
    reader->is_answered = true;
    readers->events += count_events(reader, bytes, (size_t)n);
    return true;
}

/* Reads until all watches have been answered and this many events have arrived. */
static bool drain(struct readers *readers, uint64_t events)
{
    while (readers->answered < readers->count || readers->events < events) {
        struct epoll_event ready[READY_AT_ONCE];
        int count = epoll_wait(readers->epoll_fd, ready, READY_AT_ONCE, -1);
        for (int i = 0; i < count; i++) {
            if (!read_one(readers, ready[i].data.ptr)) {
                fprintf(stderr, "a watch has ended\n");
                return false;
            }
        }
    }
    return true;
}

/* One run: the number of watchers, and the number of events for each of them. */
struct run {
    uint16_t port;
    uint64_t version;
    size_t watchers;
    uint64_t events;
    int control; /* a socket: the readers report that they watch, and that they have received all */
};

static void read_all(const struct run *run)
{
    static struct readers readers;
    struct http_report report = {0};
    bool is_good = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    readers.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < run->watchers && is_good; i++) {
        is_good = open_one(&readers, run->port, run->version);
    }
    is_good = is_good && drain(&readers, 0) && write(run->control, &report, sizeof(report)) > 0;
    double cpu = http_cpu_seconds();
    is_good = is_good && drain(&readers, run->events * run->watchers);
    report.finished = bench_now_seconds();
    report.cpu_seconds = http_cpu_seconds() - cpu;
    report.events = readers.events;
    is_good = is_good && write(run->control, &report, sizeof(report)) > 0;
    _exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- the server's process ------------------------------------------------------------------------------ */

/* The new texts of the pods, made outside the measured time. */
static void make_texts(char *texts[EVENTS_MAX], uint64_t count)
{
    static unsigned revision;
    revision++;
    for (uint64_t i = 0; i < count; i++) {
        texts[i] = strdup(apiserver_pod_text(i, revision));
        if (texts[i] == NULL) {
            fprintf(stderr, "out of memory\n");
            exit(EXIT_FAILURE);
        }
    }
}

static void free_texts(char *texts[EVENTS_MAX], uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        free(texts[i]);
    }
}

static bool change_pods(ki_apiserver *server, char *texts[EVENTS_MAX], uint64_t count)
{
    ki_error err = {0};
    for (uint64_t i = 0; i < count; i++) {
        if (ki_apiserver_put(server, &KI_CORE_V1_PODS, texts[i], &err) < 0) {
            fprintf(stderr, "put: %s\n", err.message);
            return false;
        }
    }
    return true;
}

static void print_run(const struct run *run, double start, double cpu, const struct http_report *report)
{
    double seconds = report->finished - start;
    double delivered = (double)report->events;
    printf("%10zu %10" PRIu64 " %14.0f %14.0f %16.2f %16.2f\n", run->watchers, run->events,
           delivered / seconds, (double)run->events / seconds, cpu / delivered * 1e6,
           report->cpu_seconds / delivered * 1e6);
}

/* Returns the events per second that arrive at all watchers together; 0 on failure. */
static double measure(ki_apiserver *server, struct run *run)
{
    static char *texts[EVENTS_MAX];
    struct http_report report = {0};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        return 0;
    }
    run->version = ki_apiserver_version(server);
    run->control = ends[1];
    pid_t pid = fork();
    if (pid == 0) {
        read_all(run);
    }
    close(ends[1]);
    make_texts(texts, run->events);
    bool is_done = pid > 0 && read(ends[0], &report, sizeof(report)) == (ssize_t)sizeof(report);
    double start = bench_now_seconds();
    double cpu = http_cpu_seconds();
    is_done = is_done && change_pods(server, texts, run->events) &&
              read(ends[0], &report, sizeof(report)) == (ssize_t)sizeof(report);
    cpu = http_cpu_seconds() - cpu;
    close(ends[0]);
    free_texts(texts, run->events);
    int status = 0;
    is_done = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && is_done;
    if (is_done) {
        print_run(run, start, cpu, &report);
    }
    return is_done ? (double)report.events / (report.finished - start) : 0;
}

void apiserver_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool apiserver_watchers_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met)
{
    static const size_t watchers[] = {1, 10, 100, 1000};
    double rates[sizeof(watchers) / sizeof(watchers[0])];
    uint64_t events_max = options->pods < EVENTS_MAX ? options->pods : EVENTS_MAX;
    printf("\nevents to watchers over HTTP, while pods are changed one by one\n");
    printf("%10s %10s %14s %14s %16s %16s\n", "watchers", "changes", "delivered/s", "changes/s",
           "us of CPU each", "reader's");
    for (size_t i = 0; i < sizeof(watchers) / sizeof(watchers[0]); i++) {
        uint64_t share = DELIVERED / watchers[i];
        struct run run = {.port = apiserver_port_of(ki_apiserver_url(server)),
                          .watchers = watchers[i],
                          .events = share < events_max ? share : events_max};
        rates[i] = measure(server, &run);
        if (rates[i] == 0) {
            return false;
        }
    }
    *out_met &= bench_target("watch: events/s to 1,000 watchers, times those to 10", rates[3] / rates[1],
                             ">=", SHARE_MIN);
    return true;
}
