/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reference.h"

/* The upper limit: the cost of only touching the bytes. */
bool reference_memcpy(const char *data, size_t length, struct reference_result *result)
{
    static char *target = NULL;
    static size_t capacity = 0;
    if (target == NULL || capacity < length) {
        char *larger = realloc(target, length + 1);
        if (larger == NULL) {
            return false;
        }
        target = larger;
        capacity = length;
    }
    memcpy(target, data, length);
    /* Keeps the compiler from removing the copy. */
    reference_mix(result, target + length / 2, length / 2 < 8 ? 0 : 8);
    return true;
}
