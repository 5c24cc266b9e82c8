/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/table.h"

static int compare(const ki_proto_kind *entry, ki_str api_version, ki_str kind)
{
    int order =
        ki_str_compare((ki_str){ki_proto_words + entry->api_version, entry->api_version_len}, api_version);
    return order != 0 ? order : ki_str_compare((ki_str){ki_proto_words + entry->kind, entry->kind_len}, kind);
}

const ki_proto_message *ki_proto_find(ki_str api_version, ki_str kind)
{
    size_t low = 0;
    size_t high = ki_proto_kind_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&ki_proto_kinds[middle], api_version, kind);
        if (order == 0)
            return &ki_proto_messages[ki_proto_kinds[middle].message];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
