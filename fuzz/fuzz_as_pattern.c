/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_pattern - regular expressions of schemas, from any bytes: a pattern, a NUL, a text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/value/pattern.h"

enum { STEPS = 100000 };

static enum ki_as_pattern_result match(const char *pattern, ki_str text, size_t *steps)
{
    struct ki_as_pattern *compiled = NULL;
    enum ki_as_pattern_result result = ki_as_pattern_new(pattern, steps, &compiled);
    if (result == KI_AS_PATTERN_GOOD)
        result = ki_as_pattern_match(compiled, text, steps);
    ki_as_pattern_free(compiled);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Matching ends within its limits, with the same result each time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *pattern = malloc(size + 1);
    if (pattern == NULL)
        return 0;
    memcpy(pattern, data, size);
    pattern[size] = '\0';
    size_t len = strlen(pattern);
    size_t rest = len < size ? len + 1 : size;
    ki_str text = {(const char *)data + rest, size - rest};
    size_t steps = STEPS;
    size_t again = STEPS;
    enum ki_as_pattern_result result = match(pattern, text, &steps);
    if (result != match(pattern, text, &again) || steps != again || steps > STEPS)
        abort();
    free(pattern);
    return 0;
}
