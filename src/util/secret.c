/* SPDX-License-Identifier: Apache-2.0 */
#include "util/secret.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

char *ki_secret_copy(ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    char *copy = ki_malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

void ki_secret_free(char *text)
{
    if (text != NULL)
        ki_secret_free_bytes(text, strlen(text));
}

void ki_secret_free_bytes(void *memory, size_t bytes)
{
    if (memory == NULL)
        return;
    explicit_bzero(memory, bytes);
    ki_free(memory);
}
