/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "http_keep.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "generate_pods.h"
#include "http_material.h"
#include "reference.h"

enum { BUFFER_BYTES = 128 << 10, PAGE_BYTES_MAX = 16 << 20 };

/* All pods of a page are taken to have their average length, because their real lengths are not known without
 * reading them. */
struct page {
    size_t left;      /* bytes of its body that have not arrived */
    size_t pod_bytes; /* including a comma */
    size_t pod_left;  /* bytes of the pod that have not arrived */
    size_t kept_bytes;
    char *kept; /* the kept part of the pod */
    size_t kept_length;
};

static int open_connection(unsigned port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("keep");
        return -1;
    }
    return fd;
}

static bool ask(int fd, uint64_t first)
{
    char request[256];
    char next[96] = "";
    if (first > 0) {
        (void)snprintf(next, sizeof(next), "&continue=%s%" PRIu64, PODS_CONTINUE, first);
    }
    int n = snprintf(request, sizeof(request), "GET /api/v1/pods?limit=%d%s HTTP/1.1\r\nHost: a\r\n\r\n",
                     HTTP_PAGE_PODS, next);
    return write(fd, request, (size_t)n) == n;
}

static bool keep(struct page *page, const char *bytes, size_t n)
{
    page->left -= n;
    while (n > 0) {
        if (page->pod_left == 0) {
            page->pod_left = page->pod_bytes;
            page->kept_length = 0;
            page->kept = malloc(page->kept_bytes);
            if (page->kept == NULL) {
                return false;
            }
        }
        size_t part = n < page->pod_left ? n : page->pod_left;
        size_t space = page->kept_bytes - page->kept_length;
        size_t copied = part < space ? part : space;
        memcpy(page->kept + page->kept_length, bytes, copied);
        page->kept_length += copied;
        page->pod_left -= part;
        bytes += part;
        n -= part;
    }
    return true;
}

/* Reads the head. Returns the beginning of the body, of which *out_n bytes have arrived with the head,
 * or NULL. */
static char *begin_page(int fd, char *buffer, struct page *page, size_t *out_n)
{
    static const char name[] = "Content-Length: ";
    ssize_t n = recv(fd, buffer, BUFFER_BYTES, 0);
    char *body = n <= 0 ? NULL : memmem(buffer, (size_t)n, "\r\n\r\n", 4);
    const char *length = n <= 0 ? NULL : memmem(buffer, (size_t)n, name, sizeof(name) - 1);
    if (body == NULL || length == NULL) {
        return NULL;
    }
    body += 4;
    page->left = strtoull(length + sizeof(name) - 1, NULL, 10);
    page->pod_bytes = page->left / HTTP_PAGE_PODS + 1;
    *out_n = (size_t)(buffer + n - body);
    return body;
}

static bool take_page(int fd, char *buffer, size_t kept_bytes)
{
    struct page page = {.kept_bytes = kept_bytes};
    size_t part = 0;
    const char *body = begin_page(fd, buffer, &page, &part);
    bool is_kept = body != NULL && keep(&page, body, part);
    while (is_kept && page.left > 0) {
        ssize_t n = recv(fd, buffer, BUFFER_BYTES, 0);
        is_kept = n > 0 && keep(&page, buffer, (size_t)n);
    }
    return is_kept;
}

/* simdjson needs the whole document. */
static bool read_page(int fd, char *buffer, size_t kept_bytes)
{
    struct page page = {.kept_bytes = kept_bytes};
    struct reference_result result = {0};
    size_t length = 0;
    char *body = begin_page(fd, buffer, &page, &length);
    size_t all = page.left;
    if (body == NULL || all > PAGE_BYTES_MAX) {
        return false;
    }
    while (length < all) {
        ssize_t n = recv(fd, body + length, all - length, 0);
        if (n <= 0) {
            return false;
        }
        length += (size_t)n;
    }
    return reference_simdjson_list(body, all, &result) && result.objects == HTTP_PAGE_PODS &&
           keep(&page, body, all);
}

typedef bool (*page_cb)(int fd, char *buffer, size_t kept_bytes);

/* Kept bytes are not freed before the process ends, like those of a store. */
static bool take_all(const struct http_task *task, page_cb take, struct http_report *out_report)
{
    static char buffer[BUFFER_BYTES + PAGE_BYTES_MAX + REFERENCE_PADDING];
    int fd = open_connection(task->port);
    bool is_kept = fd >= 0;
    for (uint64_t pod = 0; is_kept && pod < task->numbers[0]; pod += HTTP_PAGE_PODS) {
        is_kept = ask(fd, pod) && take(fd, buffer, task->numbers[1]);
    }
    http_report_fill(out_report);
    return is_kept;
}

bool http_keep_role(const struct http_task *task, struct http_report *out_report)
{
    return take_all(task, take_page, out_report);
}

bool http_keep_read_role(const struct http_task *task, struct http_report *out_report)
{
    return take_all(task, read_page, out_report);
}
