/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/failures.h"

#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"
#include "util/list.h"

enum { KEY_BYTES_MAX = UINT16_MAX };

typedef struct failure {
    ki_map_node by_key;
    uint32_t count;
    uint16_t key_len;
    char key[];
} failure;

int ki_failures_init(ki_failures *failures)
{
    ki_map_init(&failures->keys);
    return ki_hash_key_init(&failures->secret);
}

void ki_failures_fini(ki_failures *failures)
{
    for (size_t i = 0; i < failures->keys.bucket_count; i++)
        for (ki_map_node *node = failures->keys.buckets[i], *next = NULL; node != NULL; node = next) {
            next = node->next;
            ki_free(KI_CONTAINER_OF(node, failure, by_key));
        }
    ki_map_fini(&failures->keys);
}

static int has_key(const ki_map_node *node, const void *key)
{
    const failure *f = KI_CONTAINER_OF(node, failure, by_key);
    return ki_str_equal((ki_str){f->key, f->key_len}, *(const ki_str *)key);
}

static failure *find(const ki_failures *failures, ki_str key)
{
    ki_map_node *node = ki_map_find(&failures->keys, ki_hash(&failures->secret, key), has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, failure, by_key);
}

static failure *insert(ki_failures *failures, ki_str key)
{
    failure *f = ki_malloc(sizeof(failure) + key.len);
    if (f == NULL)
        return NULL;
    *f = (failure){.key_len = (uint16_t)key.len};
    memcpy(f->key, key.ptr, key.len);
    if (ki_map_insert(&failures->keys, &f->by_key, ki_hash(&failures->secret, key)) == 0)
        return f;
    ki_free(f);
    return NULL;
}

int ki_failures_add(ki_failures *failures, ki_str key, uint32_t *out_before)
{
    if (key.len > KEY_BYTES_MAX)
        return KI_ERR_TOO_LARGE;
    failure *f = find(failures, key);
    if (f == NULL)
        f = insert(failures, key);
    if (f == NULL)
        return KI_ERR_NO_MEMORY;
    *out_before = f->count;
    f->count += f->count < UINT32_MAX ? 1 : 0;
    return 0;
}

uint32_t ki_failures_count(const ki_failures *failures, ki_str key)
{
    const failure *f = find(failures, key);
    return f == NULL ? 0 : f->count;
}

void ki_failures_forget(ki_failures *failures, ki_str key)
{
    failure *f = find(failures, key);
    if (f == NULL)
        return;
    ki_map_remove(&failures->keys, &f->by_key);
    ki_free(f);
}
