/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector/selector_error.h"

#include <assert.h>
#include <stdio.h>

#include "util/error.h"
#include "util/text/byte.h"
#include "util/text/one_line.h"

enum {
    CONTEXT_BYTES = 32,  /* shown on either side of the position */
    CHARACTER_BYTES = 4, /* of the longest character in UTF-8 */
    FOUND_BYTES = 16,    /* "the end", or a character in quotes */
};

/* The UTF-8 character that begins at `at`. */
static ki_str character_at(ki_str text, size_t at)
{
    assert(at < text.len);
    size_t end = at + 1;
    while (end < text.len && end - at < CHARACTER_BYTES && ki_byte_is_continuation(text.ptr[end]))
        end++;
    return (ki_str){text.ptr + at, end - at};
}

/* Positions are reported as people count: in characters, not bytes, beginning with 1. */
static size_t character_number(ki_str text, size_t at)
{
    size_t number = 1;
    for (size_t i = 0; i < at; i++)
        number += !ki_byte_is_continuation(text.ptr[i]);
    return number;
}

/* The end of the text before the position, cut between two characters. */
static ki_str context_before(ki_str text, size_t at)
{
    assert(at <= text.len);
    size_t start = at > CONTEXT_BYTES ? at - CONTEXT_BYTES : 0;
    while (start > 0 && start < at && ki_byte_is_continuation(text.ptr[start]))
        start++;
    return (ki_str){text.ptr + start, at - start};
}

int ki_selector_fail(ki_error *err, ki_str text, size_t at, const char *expected)
{
    assert(at <= text.len);
    char found[FOUND_BYTES] = "the end";
    if (at < text.len) {
        ki_str character = character_at(text, at);
        snprintf(found, sizeof(found), "'%.*s'", KI_STR_ARGS(character));
    }
    char behind[CONTEXT_BYTES + 1] = "";
    if (at < text.len)
        ki_one_line(behind, sizeof(behind), (ki_str){text.ptr + at, text.len - at});
    ki_str before = context_before(text, at);
    return ki_fail_at(err, KI_ERR_SELECTOR, at, "expected %s, found %s at character %zu: \"%.*s^%s\"",
                      expected, found, character_number(text, at), KI_STR_ARGS(before), behind);
}
