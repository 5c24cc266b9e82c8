/* SPDX-License-Identifier: Apache-2.0 */
#include "client/wire_memory.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/hash.h"

enum { NOTES_AT_FIRST = 16, NOTES_MAX = 4096 };

void ki_wire_memory_fini(ki_wire_memory *memory)
{
    assert(memory != NULL);
    ki_free(memory->notes);
    *memory = (ki_wire_memory){0};
}

/* A resource may be freed with its informer, so a hash of it is stored. */
static uint64_t key_of(const ki_resource *resource, ki_wire_cause cause)
{
    const ki_hash_key key = {0, (uint64_t)cause};
    const ki_hash_key inner = {ki_hash(&key, ki_str_of(resource->group)),
                               ki_hash(&key, ki_str_of(resource->version))};
    return ki_hash(&inner, ki_str_of(resource->plural));
}

static uint64_t key_of_field(ki_str message, uint32_t number)
{
    const ki_hash_key key = {number, UINT64_MAX};
    return ki_hash(&key, message);
}

static ki_wire_note *find(const ki_wire_memory *memory, uint64_t key)
{
    for (size_t i = 0; i < memory->count; i++)
        if (memory->notes[i].key == key)
            return &memory->notes[i];
    return NULL;
}

/* Returns whether the key was not there before. */
static int put(ki_wire_memory *memory, uint64_t key, uint64_t until_ns)
{
    ki_wire_note *note = find(memory, key);
    if (note != NULL) {
        note->until_ns = until_ns;
        return 0;
    }
    if (memory->count == memory->cap) {
        size_t cap = memory->cap == 0 ? NOTES_AT_FIRST : memory->cap * 2;
        ki_wire_note *notes = cap > NOTES_MAX ? NULL : ki_realloc(memory->notes, cap * sizeof(*notes));
        if (notes == NULL)
            return 1;
        memory->notes = notes;
        memory->cap = cap;
    }
    memory->notes[memory->count++] = (ki_wire_note){key, until_ns};
    return 1;
}

void ki_wire_memory_note(ki_wire_memory *memory, const ki_resource *resource, ki_wire_cause cause,
                         uint64_t now_ns)
{
    assert(memory != NULL);
    (void)put(memory, key_of(resource, cause), now_ns + KI_WIRE_AGAIN_NS);
}

int ki_wire_memory_has(const ki_wire_memory *memory, const ki_resource *resource, ki_wire_cause cause,
                       uint64_t now_ns)
{
    assert(memory != NULL);
    const ki_wire_note *note = find(memory, key_of(resource, cause));
    return note != NULL && now_ns < note->until_ns;
}

int ki_wire_memory_is_new_field(ki_wire_memory *memory, ki_str message, uint32_t number)
{
    assert(memory != NULL);
    return put(memory, key_of_field(message, number), UINT64_MAX);
}
