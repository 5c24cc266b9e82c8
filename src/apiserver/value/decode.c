/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/decode.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>

json_t *ki_as_decode(ki_str text, json_error_t *error)
{
    assert(text.ptr != NULL || text.len == 0);
    return json_loadb(text.len == 0 ? "" : text.ptr, text.len, 0, error);
}

/* jansson's own depth limit is a compile-time constant. */
static bool is_too_deep(ki_str text)
{
    size_t depth = 0;
    bool is_string = false;
    for (size_t i = 0; text.len >= 2 * (size_t)KI_AS_LEVELS_MAX && i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"')
            is_string = !is_string;
        else if (is_string)
            i += c == '\\' ? 1 : 0;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > KI_AS_LEVELS_MAX)
            return true;
    }
    return false;
}

json_t *ki_as_decode_body(ki_str text, json_error_t *error)
{
    assert(error != NULL);
    if (!is_too_deep(text))
        return ki_as_decode(text, error);
    *error = (json_error_t){0};
    (void)snprintf(error->text, sizeof(error->text), "nested deeper than %d levels", KI_AS_LEVELS_MAX);
    return NULL;
}
