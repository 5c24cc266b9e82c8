/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_keys - many keys like those of controllers, all of the same length. */
#ifndef BENCH_WORKQUEUE_KEYS_H
#define BENCH_WORKQUEUE_KEYS_H

#include <stddef.h>

/* "namespace-012/object-0345678" and a NUL. */
enum { WORKQUEUE_KEY_LEN = 28, WORKQUEUE_KEY_BYTES = 29 };

struct workqueue_keys {
    char *bytes;
    size_t count;
};

struct workqueue_keys workqueue_keys_new(size_t count);
void workqueue_keys_free(struct workqueue_keys *keys);

static inline const char *workqueue_key(const struct workqueue_keys *keys, size_t i)
{
    return keys->bytes + i * WORKQUEUE_KEY_BYTES;
}

#endif
