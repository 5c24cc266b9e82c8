/* SPDX-License-Identifier: Apache-2.0 */
/* wire_memory - remembers, for all reflectors of one server, which resources are read as JSON.
 *
 *   From:     reflector/reflector_wire.c, client/client.c
 *   Locks:    none; io's.
 *   Not here: what one reflector knows of its own resource.
 */
#ifndef KI_CLIENT_WIRE_MEMORY_H
#define KI_CLIENT_WIRE_MEMORY_H

#include <kinformer/resource.h>

#include "util/units.h"

/* How long a note is valid. Not forever, since the server may be replaced by another version. */
#define KI_WIRE_AGAIN_NS (3600 * KI_NS_PER_S)

/* Why a resource is read as JSON. */
typedef enum ki_wire_cause {
    KI_WIRE_NOT_OFFERED = 0, /* the server does not send protobuf, or none that can be read */
    KI_WIRE_LOSES_FIELDS     /* objects have fields that the tables do not have; only matters if whole objects
                              * are kept */
} ki_wire_cause;

typedef struct ki_wire_note {
    uint64_t key;
    uint64_t until_ns;
} ki_wire_note;

/* Zeroed: nothing is known. */
typedef struct ki_wire_memory {
    ki_wire_note *notes;
    size_t count;
    size_t cap;
} ki_wire_memory;

void ki_wire_memory_fini(ki_wire_memory *memory);

/* When out of memory, nothing is remembered. */
void ki_wire_memory_note(ki_wire_memory *memory, const ki_resource *resource, ki_wire_cause cause,
                         uint64_t now_ns);
int ki_wire_memory_has(const ki_wire_memory *memory, const ki_resource *resource, ki_wire_cause cause,
                       uint64_t now_ns);

/* Whether this unknown field is seen for the first time. Remembers the field. */
int ki_wire_memory_is_new_field(ki_wire_memory *memory, ki_str message, uint32_t number);

#endif
