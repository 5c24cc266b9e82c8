/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_pods.h"

#include <stdbool.h>
#include <string.h>

#include "pod_shape.h"

enum { OLDEST_RESOURCE_VERSION = 184000000, VERSIONS_PER_POD = 7 };

uint64_t pods_list_resource_version(const struct pod_collection *pods)
{
    return OLDEST_RESOURCE_VERSION + (pods->pod_count + 1) * VERSIONS_PER_POD;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Maps the numbers below pod_count one to one to themselves, with neighbours far apart: a step that has no
 * common divisor with the count reaches every number once. */
static uint64_t scatter(const struct pod_collection *pods, uint64_t number, uint64_t step)
{
    while (greatest_common_divisor(step, pods->pod_count) != 1) {
        step++;
    }
    return number % pods->pod_count * step % pods->pod_count;
}

static void append_body(struct text *out, const struct pod_version *version)
{
    struct pod_shape pod;
    pod_shape_init(&pod, version);
    pod_write_metadata(out, &pod);
    text_put_literal(out, ",");
    pod_write_spec(out, &pod);
    text_put_literal(out, ",");
    pod_write_status(out, &pod);
    text_put_literal(out, "}");
}

void pods_append_item(struct text *out, const struct pod_collection *pods, uint64_t index)
{
    /* A list is ordered by name, versions are ordered by time. */
    uint64_t age = scatter(pods, index, 7919);
    struct pod_version version = {
        .seed = pods->seed,
        .index = index,
        .resource_version = OLDEST_RESOURCE_VERSION + age * VERSIONS_PER_POD + index % 7,
    };
    text_put_literal(out, "{");
    append_body(out, &version);
}

void pods_append_list_start(struct text *out, const struct pod_collection *pods, uint64_t end)
{
    text_put_literal(out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                          "\"resourceVersion\":\"");
    text_put_number(out, pods_list_resource_version(pods));
    text_put_literal(out, "\"");
    if (end < pods->pod_count) {
        text_put_literal(out, ",\"continue\":\"" PODS_CONTINUE);
        text_put_number(out, end);
        text_put_literal(out, "\",\"remainingItemCount\":");
        text_put_number(out, pods->pod_count - end);
    }
    text_put_literal(out, "},\"items\":[");
}

void pods_append_list_end(struct text *out)
{
    text_put_literal(out, "]}");
}

void pods_append_list(struct text *out, const struct pod_collection *pods, uint64_t first, uint64_t count)
{
    pods_append_list_start(out, pods, first + count);
    for (uint64_t i = 0; i < count; i++) {
        text_put(out, i == 0 ? "" : ",");
        pods_append_item(out, pods, first + i);
    }
    pods_append_list_end(out);
}

void pods_append_change(struct text *out, const struct pod_collection *pods, const struct pod_change *change)
{
    struct pod_version version = {
        .seed = pods->seed,
        .index = change->index,
        .revision = change->revision,
        .resource_version = pods_list_resource_version(pods) + 1 + change->number,
        .deleted = strcmp(change->type, "DELETED") == 0,
    };
    text_put(out, "{\"type\":\"", change->type, "\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
    append_body(out, &version);
    text_put_literal(out, "}\n");
}

void pods_append_event(struct text *out, const struct pod_collection *pods, uint64_t number)
{
    struct pod_change change = {.type = "MODIFIED", .number = number, .revision = 1};
    if (number % 10 == 9) {
        change.type = "ADDED";
        change.index = pods->pod_count + number;
        change.revision = 0;
    } else {
        change.index = scatter(pods, number, 1000003);
        change.type = number % 10 == 4 ? "DELETED" : change.type;
    }
    pods_append_change(out, pods, &change);
}
