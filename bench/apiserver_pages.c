/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apiserver_socket.h"
#include "text.h"

enum { PAGE_PODS = 500, PAGES_MAX = 4096, PIECE_BYTES = 1 << 18, ROUNDS = 3, PATH_BYTES = 1024 };

/* A page at the end of the list may take this many times as long as one at its start. */
#define GROWTH_MAX 1.5

struct pages {
    double seconds[PAGES_MAX]; /* of each page in its best round */
    size_t count;
    uint64_t bytes;
};

/* Returns the body of a complete answer, or NULL if the answer is not complete. */
static const char *body_of(const struct text *answer)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *end = strstr(answer->data, "\r\n\r\n");
    const char *length = strstr(answer->data, name);
    if (end == NULL || length == NULL) {
        return NULL;
    }
    size_t whole = (size_t)(end + 4 - answer->data) + strtoull(length + sizeof(name) - 1, NULL, 10);
    return answer->length >= whole ? end + 4 : NULL;
}

static const char *read_answer(int fd, struct text *answer)
{
    const char *body = NULL;
    answer->length = 0;
    while (body == NULL) {
        text_reserve(answer, PIECE_BYTES);
        ssize_t n = recv(fd, answer->data + answer->length, PIECE_BYTES - 1, 0);
        if (n <= 0) {
            fprintf(stderr, "the answer ends early\n");
            return NULL;
        }
        answer->length += (size_t)n;
        answer->data[answer->length] = '\0';
        body = body_of(answer);
    }
    return body;
}

/* Writes the path of the next page; returns false if this was the last one. */
static bool next_path(const char *body, char path[PATH_BYTES])
{
    static const char opening[] = "\"continue\":\"";
    const char *token = strstr(body, opening);
    /* The token is in the list's own metadata, which comes first. */
    if (token == NULL || token - body > PATH_BYTES) {
        return false;
    }
    token += sizeof(opening) - 1;
    (void)snprintf(path, PATH_BYTES, "/api/v1/pods?limit=%d&continue=%.*s", PAGE_PODS,
                   (int)strcspn(token, "\""), token);
    return true;
}

static bool read_pages(int fd, struct pages *pages)
{
    struct text answer = {0};
    char path[PATH_BYTES];
    const char *body = NULL;
    (void)snprintf(path, sizeof(path), "/api/v1/pods?limit=%d", PAGE_PODS);
    pages->count = 0;
    pages->bytes = 0;
    do {
        double start = bench_now_seconds();
        body = apiserver_ask(fd, path) ? read_answer(fd, &answer) : NULL;
        double seconds = bench_now_seconds() - start;
        double *best = &pages->seconds[pages->count++];
        *best = *best == 0 || seconds < *best ? seconds : *best;
        pages->bytes += answer.length;
    } while (body != NULL && pages->count < PAGES_MAX && next_path(body, path));
    text_fini(&answer);
    return body != NULL;
}

static int compare_seconds(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const double *seconds, size_t count)
{
    double sorted[PAGES_MAX];
    memcpy(sorted, seconds, count * sizeof(double));
    qsort(sorted, count, sizeof(double), compare_seconds);
    return sorted[count / 2];
}

bool apiserver_pages_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met)
{
    static struct pages pages;
    int fd = apiserver_connect(apiserver_port_of(ki_apiserver_url(server)));
    bool is_done = fd >= 0;
    for (int i = 0; i < ROUNDS && is_done; i++) {
        is_done = read_pages(fd, &pages);
    }
    if (fd >= 0) {
        close(fd);
    }
    /* The last page may be shorter. */
    if (!is_done || pages.count != (options->pods + PAGE_PODS - 1) / PAGE_PODS || pages.count < 3) {
        fprintf(stderr, "the list has %zu pages\n", pages.count);
        return false;
    }
    size_t some = (pages.count - 1) / 10 + 1;
    double first = median_of(pages.seconds, some);
    double last = median_of(pages.seconds + pages.count - 1 - some, some);
    double total = 0;
    for (size_t i = 0; i < pages.count; i++) {
        total += pages.seconds[i];
    }
    printf("\n%zu pages of %d pods over HTTP, the best of %d rounds\n", pages.count, PAGE_PODS, ROUNDS);
    printf("first %.2f ms, last %.2f ms; all %.0f ms, %.2f GB/s\n", first * 1e3, last * 1e3, total * 1e3,
           (double)pages.bytes / total / 1e9);
    *out_met &= bench_target("pages: time of the last ones, times that of the first ones", last / first,
                             "<=", GROWTH_MAX);
    return true;
}
