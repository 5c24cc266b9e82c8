/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/str.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "util/text/byte.h"

ki_str ki_str_of(const char *text)
{
    return text == NULL ? (ki_str){0} : (ki_str){text, strlen(text)};
}

ki_str ki_str_from(const char *ptr, size_t len)
{
    return ptr == NULL ? (ki_str){0} : (ki_str){ptr, len};
}

int ki_str_equal(ki_str a, ki_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int ki_str_compare(ki_str a, ki_str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool ki_str_equal_any_case(ki_str a, ki_str b)
{
    assert((a.ptr != NULL || a.len == 0) && (b.ptr != NULL || b.len == 0));
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

bool ki_str_is_word(ki_str text, const char *word)
{
    assert(word != NULL);
    return ki_str_equal_any_case(text, ki_str_of(word));
}

bool ki_str_is_number(ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    for (size_t i = 0; i < text.len; i++)
        if (!ki_byte_is_digit(text.ptr[i]))
            return false;
    return text.len > 0;
}

ki_str ki_str_trim(ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    while (text.len > 0 && ki_byte_is_space(text.ptr[0]))
        text = (ki_str){text.ptr + 1, text.len - 1};
    while (text.len > 0 && ki_byte_is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

size_t ki_str_count(const char *const *texts)
{
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL)
        count++;
    return count;
}
