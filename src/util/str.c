/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/common.h>
#include <string.h>

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
