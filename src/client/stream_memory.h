/* SPDX-License-Identifier: Apache-2.0 */
/* stream_memory - remembers, for all reflectors of one server, that streamed lists do not work.
 *
 *   From:     reflector/reflector_stream.c
 *   Locks:    none; io's.
 *   Not here: what one reflector knows of its own resource.
 *
 * If streams fail for one resource, this proves nothing about the others: its definition may be missing, or
 * an aggregated API may be broken. Two resources that can be listed but not streamed prove that the server
 * cannot stream.
 */
#ifndef KI_CLIENT_STREAM_MEMORY_H
#define KI_CLIENT_STREAM_MEMORY_H

#include <kinformer/resource.h>

#include "util/units.h"

/* How long a failure of streams is remembered. */
#define KI_STREAM_AGAIN_NS (600 * KI_NS_PER_S)

/* Zeroed: nothing is known. */
typedef struct ki_stream_memory {
    uint64_t again_ns;        /* until then no list of this server is streamed */
    uint64_t listed_until_ns; /* until then the resource `listed` is not streamed */
    uint64_t listed;          /* the hash of the last resource that was listed instead */
} ki_stream_memory;

/* Whether lists of this resource may be streamed: nothing is known against it. */
int ki_stream_memory_may_stream(const ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns);

/* A LIST has succeeded where streams had failed. Namespace and selectors do not matter. */
void ki_stream_memory_note(ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns);

#endif
