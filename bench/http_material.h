/* SPDX-License-Identifier: Apache-2.0 */
/* http_material - the bytes that the server of bench_http sends, made once.
 *
 *   From:     bench_http.c
 *   To:       http_server.c   (sends them by sendfile, so that sending costs next to nothing)
 *   Not here: sockets; what a pod is like (generate_pods.h).
 *
 * They are in files that are nowhere but in memory, and in the memory of no process that is measured.
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
    uint64_t *starts; /* of each page, and the end of the last */
};

/* A watch: each event a chunk of its own, as API servers write them. All keys are of the same `keys`. */
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

/* The second number of the role that takes a burst, if it is to be the one in protobuf. */
enum { HTTP_BURST_PROTOBUF = 1 };

/* Returns false when there is no memory for it. */
bool http_material_init(struct http_material *material, uint64_t pods);
void http_material_fini(struct http_material *material);

#endif
