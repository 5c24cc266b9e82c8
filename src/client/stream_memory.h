/* SPDX-License-Identifier: Apache-2.0 */
/* stream_memory - what the reflectors of one server have found out about lists that are streamed.
 *
 *   From:     reflector/reflector_stream.c
 *   Locks:    none; io's.
 *   Not here: what one reflector knows of its own resource.
 *
 * One resource without streams says nothing about the others: its definition may be missing, or an API behind
 * the server be broken. Two that can be listed and not streamed speak for the server.
 */
#ifndef KI_CLIENT_STREAM_MEMORY_H
#define KI_CLIENT_STREAM_MEMORY_H

#include <kinformer/resource.h>

#include "util/units.h"

/* How long it is remembered that a list cannot be streamed. */
#define KI_STREAM_AGAIN_NS (600 * KI_NS_PER_S)

/* A zeroed one knows nothing. */
typedef struct ki_stream_memory {
    uint64_t again_ns;        /* until then no list of this server is streamed */
    uint64_t listed_until_ns; /* until then it counts that this resource was listed instead: */
    uint64_t listed;          /* its hash */
} ki_stream_memory;

/* Whether nobody has found out that lists of this resource cannot be streamed. */
int ki_stream_memory_may_stream(const ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns);

/* A LIST has succeeded where streams had failed. Namespaces and selectors make no other resource of it. */
void ki_stream_memory_note(ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns);

#endif
