/* SPDX-License-Identifier: Apache-2.0 */
#include "client/stream_memory.h"

#include "util/hash.h"

/* A resource may be freed with its informer, so a hash of it is stored. */
static uint64_t hash_of(const ki_resource *resource)
{
    const ki_hash_key key = {0};
    const ki_hash_key inner = {ki_hash(&key, ki_str_of(resource->group)), 0};
    return ki_hash(&inner, ki_str_of(resource->plural));
}

int ki_stream_memory_may_stream(const ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns)
{
    return now_ns >= memory->again_ns &&
           (now_ns >= memory->listed_until_ns || memory->listed != hash_of(resource));
}

void ki_stream_memory_note(ki_stream_memory *memory, const ki_resource *resource, uint64_t now_ns)
{
    uint64_t hash = hash_of(resource);
    if (now_ns < memory->listed_until_ns && memory->listed != hash)
        memory->again_ns = now_ns + KI_STREAM_AGAIN_NS;
    memory->listed = hash;
    memory->listed_until_ns = now_ns + KI_STREAM_AGAIN_NS;
}
