/* SPDX-License-Identifier: Apache-2.0 */
#include "util/secret.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

void ki_secret_free(char *text)
{
    if (text != NULL)
        ki_secret_free_bytes(text, strlen(text));
}

void ki_secret_free_list(char **texts)
{
    for (char **text = texts; text != NULL && *text != NULL; text++)
        ki_secret_free(*text);
    ki_free(texts);
}

void ki_secret_free_bytes(void *memory, size_t bytes)
{
    if (memory == NULL)
        return;
    explicit_bzero(memory, bytes);
    ki_free(memory);
}
