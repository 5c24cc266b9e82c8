/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue_keys.h"

#include <stdio.h>
#include <stdlib.h>

struct workqueue_keys workqueue_keys_new(size_t count)
{
    struct workqueue_keys keys = {malloc(count * WORKQUEUE_KEY_BYTES), count};
    for (size_t i = 0; keys.bytes != NULL && i < count; i++) {
        snprintf(keys.bytes + i * WORKQUEUE_KEY_BYTES, WORKQUEUE_KEY_BYTES, "namespace-%03zu/object-%07zu",
                 i % 1000, i % 10000000);
    }
    if (keys.bytes == NULL) {
        abort();
    }
    return keys;
}

void workqueue_keys_free(struct workqueue_keys *keys)
{
    free(keys->bytes);
    *keys = (struct workqueue_keys){0};
}
