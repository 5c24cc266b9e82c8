/* SPDX-License-Identifier: Apache-2.0 */
/* http_material - the bytes that bench_http's server sends, made once.
 *
 *   From:     bench_http.c
 *   To:       http_server.c   (sends them by sendfile, so that sending costs almost nothing)
 *   Not here: sockets; the properties of a pod (generate_pods.h).
 *
 * They are in anonymous files (memfd), which do not count as memory of the measured processes.
 */
#ifndef BENCH_HTTP_MATERIAL_H
#define BENCH_HTTP_MATERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The page size that informers ask for. */
enum { HTTP_PAGE_PODS = 500 };

struct http_pages {
    int fd;
    uint64_t pods;
    uint64_t count;
    uint64_t *starts; /* the start of each page, and the end of the last one */
};

/* A watch: each event is its own chunk, as API servers write them. There are `keys` different keys. */
struct http_burst {
    int fd;
    uint64_t keys;
    uint64_t events;
    uint64_t bytes;
    uint64_t last_version; /* of the last event */
};

struct http_material {
    struct http_pages pages;
    struct http_burst burst;
    struct http_burst proto_burst; /* in protobuf */
};

/* The second number of the burst role; if set, it receives the burst in protobuf. */
enum { HTTP_BURST_PROTOBUF = 1 };

/* Returns false if out of memory. */
bool http_material_init(struct http_material *material, uint64_t pods);
void http_material_fini(struct http_material *material);

#endif
