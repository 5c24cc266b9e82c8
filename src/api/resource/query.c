/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource/query.h"

#include <assert.h>
#include <stdio.h>

#include "util/text/byte.h"

/* Enough for the longest continue token (reflector/reflector.c) with each byte escaped as three. */
#define QUERY_BYTES_MAX ((size_t)4 * 1024 * 1024)

static void append(ki_query *query, ki_str text)
{
    if (query->rc == 0)
        query->rc = ki_buf_append_str(&query->text, text);
}

void ki_query_init(ki_query *query, ki_str path)
{
    assert(query != NULL);
    assert(path.ptr != NULL || path.len == 0);
    *query = (ki_query){.separator = '?'};
    ki_buf_init(&query->text, QUERY_BYTES_MAX);
    append(query, path);
}

void ki_query_fini(ki_query *query)
{
    assert(query != NULL);
    ki_buf_fini(&query->text);
}

static bool is_plain(char c)
{
    return ki_byte_is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void append_escaped(ki_query *query, ki_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len && query->rc == 0; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char escaped[] = {'%', digits[c >> 4], digits[c & 15]};
        append(query, is_plain((char)c) ? (ki_str){text.ptr + i, 1} : (ki_str){escaped, sizeof(escaped)});
    }
}

void ki_query_add(ki_query *query, const char *name, ki_str value)
{
    assert(query != NULL);
    assert(value.ptr != NULL || value.len == 0);
    if (value.len == 0)
        return;
    append(query, (ki_str){&query->separator, 1});
    query->separator = '&';
    append(query, ki_str_of(name));
    append(query, KI_STR("="));
    append_escaped(query, value);
}

void ki_query_add_number(ki_query *query, const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    if (value != 0)
        ki_query_add(query, name, ki_str_of(text));
}

void ki_query_add_flag(ki_query *query, const char *name, int is_set)
{
    if (is_set)
        ki_query_add(query, name, KI_STR("true"));
}

void ki_query_add_list_options(ki_query *query, const ki_list_options *options)
{
    ki_query_add(query, "labelSelector", options->label_selector);
    ki_query_add(query, "fieldSelector", options->field_selector);
    ki_query_add_number(query, "limit", options->limit);
    ki_query_add(query, "continue", options->continue_token);
    ki_query_add(query, "resourceVersion", options->resource_version);
    ki_query_add(query, "resourceVersionMatch", options->resource_version_match);
    ki_query_add_flag(query, "watch", options->watch);
    ki_query_add_flag(query, "allowWatchBookmarks", options->allow_bookmarks);
    ki_query_add_flag(query, "sendInitialEvents", options->send_initial_events);
    ki_query_add_number(query, "timeoutSeconds", options->timeout_seconds);
}
