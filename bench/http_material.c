/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "http_material.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apiserver/kind/proto_write.h"
#include "generate_pods.h"
#include "store_pods.h"

enum { FRAME_BYTES_MAX = 1 << 20 };

static bool write_text(int fd, struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t n = write(fd, text->data + done, text->length - done);
        if (n <= 0) {
            perror("write");
            return false;
        }
        done += (size_t)n;
    }
    text->length = 0;
    return true;
}

static bool make_pages(struct http_pages *pages, uint64_t pods)
{
    const struct pod_collection collection = {GENERATE_PODS_SEED, pods};
    struct text page = {0};
    bool is_done = true;
    pages->pods = pods;
    pages->count = (pods + HTTP_PAGE_PODS - 1) / HTTP_PAGE_PODS;
    pages->fd = memfd_create("pages", MFD_CLOEXEC);
    pages->starts = calloc(pages->count + 1, sizeof(uint64_t));
    if (pages->fd < 0 || pages->starts == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < pages->count && is_done; i++) {
        uint64_t first = i * HTTP_PAGE_PODS;
        uint64_t count = pods - first < HTTP_PAGE_PODS ? pods - first : HTTP_PAGE_PODS;
        pods_append_list(&page, &collection, first, count);
        pages->starts[i + 1] = pages->starts[i] + page.length;
        is_done = write_text(pages->fd, &page);
    }
    text_fini(&page);
    return is_done;
}

/* An existing pod is deleted in one of ten cases; a deleted one is added again. */
static const char *type_of(bool *is_there, uint64_t random)
{
    const char *type = *is_there ? "MODIFIED" : "ADDED";
    if (*is_there && random % 10 == 0) {
        type = "DELETED";
    }
    *is_there = type[0] != 'D';
    return type;
}

static void append_chunk(struct text *out, const struct text *event)
{
    char head[24];
    int n = snprintf(head, sizeof(head), "%zx\r\n", event->length);
    text_append(out, head, (size_t)n);
    text_append(out, event->data, event->length);
    text_put_literal(out, "\r\n");
}

/* Replaces an event in JSON by the same event in protobuf. */
static void encode_event(struct text *event)
{
    ki_buf frame;
    ki_buf_init(&frame, FRAME_BYTES_MAX);
    json_t *tree = json_loadb(event->data, event->length, 0, NULL);
    event->length = 0;
    if (tree != NULL && ki_as_proto_event(&frame, tree) == 0) {
        text_append(event, frame.data, frame.len);
    }
    json_decref(tree);
    ki_buf_fini(&frame);
}

static bool write_burst(struct http_burst *burst, bool *is_there, bool is_proto)
{
    const struct pod_collection collection = {GENERATE_PODS_SEED, burst->keys};
    struct text event = {0};
    struct text chunks = {0};
    uint64_t random = 4711;
    bool is_done = true;
    for (uint64_t i = 0; i < burst->events && is_done; i++) {
        uint64_t key = store_pods_next(&random) % burst->keys;
        const struct pod_change change = {.type = type_of(&is_there[key], store_pods_next(&random)),
                                          .index = key,
                                          .number = i,
                                          .revision = (unsigned)i};
        event.length = 0;
        pods_append_change(&event, &collection, &change);
        if (is_proto) {
            encode_event(&event);
        }
        append_chunk(&chunks, &event);
        burst->bytes += chunks.length;
        is_done = write_text(burst->fd, &chunks);
    }
    burst->last_version = pods_list_resource_version(&collection) + burst->events;
    text_fini(&event);
    text_fini(&chunks);
    return is_done;
}

static bool make_burst(struct http_burst *burst, uint64_t events, bool is_proto)
{
    burst->events = events;
    burst->keys = events / 10 + 1;
    burst->fd = memfd_create("burst", MFD_CLOEXEC);
    bool *is_there = calloc(burst->keys, sizeof(bool));
    bool is_done = burst->fd >= 0 && is_there != NULL && write_burst(burst, is_there, is_proto);
    free(is_there);
    return is_done;
}

bool http_material_init(struct http_material *material, uint64_t pods)
{
    *material = (struct http_material){.pages.fd = -1, .burst.fd = -1, .proto_burst.fd = -1};
    return make_pages(&material->pages, pods) && make_burst(&material->burst, pods, false) &&
           make_burst(&material->proto_burst, pods / 2, true);
}

void http_material_fini(struct http_material *material)
{
    if (material->pages.fd >= 0) {
        close(material->pages.fd);
    }
    if (material->burst.fd >= 0) {
        close(material->burst.fd);
    }
    if (material->proto_burst.fd >= 0) {
        close(material->proto_burst.fd);
    }
    free(material->pages.starts);
}
