/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "apiserver/request/request.h"

/* As in Kubernetes: a parameter that is present is true, unless its value is "0" or "false". */
static bool read_flag(ki_str value)
{
    static const char no[] = "false";
    if (ki_str_equal(value, KI_STR("0")))
        return false;
    if (value.len != sizeof(no) - 1)
        return true;
    for (size_t i = 0; i < value.len; i++)
        if ((value.ptr[i] | 0x20) != no[i])
            return true;
    return false;
}

int ki_as_number_parse(ki_str value, uint64_t *out, struct ki_as_failure *failure)
{
    assert(out != NULL);
    ki_str digits = value;
    uint64_t number = 0;
    bool is_negative = value.len > 0 && value.ptr[0] == '-';
    if (value.len > 0 && (is_negative || value.ptr[0] == '+'))
        digits = (ki_str){value.ptr + 1, value.len - 1};
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (c < '0' || c > '9')
            return ki_as_fail_bad_request(failure, "strconv.ParseInt: parsing \"%.*s\": invalid syntax",
                                          KI_STR_ARGS(value));
        uint64_t digit = (uint64_t)(c - '0');
        if (number > ((uint64_t)INT64_MAX - digit) / 10)
            return ki_as_fail_bad_request(failure, "strconv.ParseInt: parsing \"%.*s\": value out of range",
                                          KI_STR_ARGS(value));
        number = number * 10 + digit;
    }
    if (digits.len == 0 && value.len > 0)
        return ki_as_fail_bad_request(failure, "strconv.ParseInt: parsing \"%.*s\": invalid syntax",
                                      KI_STR_ARGS(value));
    *out = is_negative ? 0 : number;
    return 0;
}

struct text_option {
    const char *name;
    size_t offset;
};

#define AT(member) offsetof(struct ki_as_query, member)

static const struct text_option texts[] = {
    {"labelSelector", AT(label_selector)},
    {"fieldSelector", AT(field_selector)},
    {"resourceVersion", AT(resource_version)},
    {"resourceVersionMatch", AT(resource_version_match)},
    {"continue", AT(continue_token)},
    {"fieldManager", AT(field_manager)},
    {"fieldValidation", AT(field_validation)},
    {"dryRun", AT(dry_run)},
    {"propagationPolicy", AT(propagation_policy)},
    {"gracePeriodSeconds", AT(grace_period_seconds)},
    {"includeObject", AT(include_object)},
    {"by", AT(by)},
    {"ms", AT(ms)},
    {"since", AT(since)},
};

static const struct text_option flags[] = {
    {"watch", AT(is_watch)},
    {"allowWatchBookmarks", AT(allows_bookmarks)},
    {"sendInitialEvents", AT(send_initial_events)},
    {"force", AT(is_forced)},
    {"pretty", AT(is_pretty)},
    {"reset", AT(is_reset)},
};

static int take_pair(ki_str name, ki_str value, struct ki_as_query *out, struct ki_as_failure *failure)
{
    char *base = (char *)out;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (ki_str_equal(name, ki_str_of(texts[i].name))) {
            *(ki_str *)(void *)(base + texts[i].offset) = value;
            return 0;
        }
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (ki_str_equal(name, ki_str_of(flags[i].name)))
            *(bool *)(void *)(base + flags[i].offset) = read_flag(value);
    if (ki_str_equal(name, KI_STR("sendInitialEvents")))
        out->has_send_initial_events = true;
    if (ki_str_equal(name, KI_STR("pretty")))
        out->has_pretty = true;
    if (ki_str_equal(name, KI_STR("force")))
        out->has_force = true;
    if (ki_str_equal(name, KI_STR("limit")))
        return ki_as_number_parse(value, &out->limit, failure);
    if (ki_str_equal(name, KI_STR("timeoutSeconds")))
        return ki_as_number_parse(value, &out->timeout_seconds, failure);
    return 0;
}

static int take_part(char *part, size_t len, struct ki_as_query *out, struct ki_as_failure *failure)
{
    assert(len > 0);
    char *equals = memchr(part, '=', len);
    size_t name_len = equals == NULL ? len : (size_t)(equals - part);
    char *value = equals == NULL ? part + len : equals + 1;
    ptrdiff_t name_bytes = ki_as_percent_decode(part, name_len, true);
    ptrdiff_t value_bytes = ki_as_percent_decode(value, (size_t)(part + len - value), true);
    if (name_bytes < 0 || value_bytes < 0)
        return ki_as_fail_bad_request(failure, "the query of the request is not URL-encoded UTF-8");
    return take_pair((ki_str){part, (size_t)name_bytes}, (ki_str){value, (size_t)value_bytes}, out, failure);
}

int ki_as_query_parse(char *text, size_t len, struct ki_as_query *out, struct ki_as_failure *failure)
{
    char *end = text + len;
    while (text < end) {
        char *next = memchr(text, '&', (size_t)(end - text));
        if (next == NULL)
            next = end;
        if (next > text && take_part(text, (size_t)(next - text), out, failure) < 0)
            return -1;
        text = next + 1;
    }
    return 0;
}
