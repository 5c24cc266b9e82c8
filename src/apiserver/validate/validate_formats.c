/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of a JSON schema that Kubernetes checks. Other formats are ignored. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"

enum { TIME_BYTES = 64 };

/* Unlike in the times of built-in kinds, "t" and "z" may be in lower case. */
static bool is_time(ki_str text)
{
    char large[TIME_BYTES];
    if (text.len > sizeof(large))
        return false;
    for (size_t i = 0; i < text.len; i++)
        large[i] = (char)(text.ptr[i] == 't' || text.ptr[i] == 'z' ? text.ptr[i] - 32 : text.ptr[i]);
    return ki_as_time_check((ki_str){large, text.len}, false).wanted == NULL;
}

static bool is_address(const char *text, int family)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(family, text, address) == 1;
}

bool ki_as_is_of_format(const char *format, const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_is_integer(value) && strcmp(format, "int32") == 0)
        return json_integer_value(value) >= INT32_MIN && json_integer_value(value) <= INT32_MAX;
    if (text == NULL)
        return true;
    if (strcmp(format, "date-time") == 0)
        return is_time(ki_as_json_str(value));
    if (strcmp(format, "ipv4") == 0)
        return is_address(text, AF_INET);
    return strcmp(format, "ipv6") != 0 || is_address(text, AF_INET6);
}
