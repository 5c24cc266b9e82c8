/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the rows of defaults.txt. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "apiserver/kind/defaults_parts.h"
#include "apiserver/value/tree.h"

enum { NODE_PORT_FIRST = 30000, NODE_PORT_COUNT = 2768 };

/* Truncates a text that is too long for a name. */
static json_t *lower_case(const char *text)
{
    char lower[128] = "";
    for (size_t i = 0; text[i] != 0 && i < sizeof(lower) - 1; i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    return json_string(lower);
}

/* "nginx" and "nginx:latest" are always pulled; "nginx:1.27" and digests are pulled if not present. */
static json_t *pull_policy(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *name = slash == NULL ? image : slash + 1;
    const char *tag = strchr(name, ':');
    bool is_latest = strchr(name, '@') == NULL && (tag == NULL || strcmp(tag, ":latest") == 0);
    return json_string_nocheck(is_latest ? "Always" : "IfNotPresent");
}

/* Addresses and ports of services are derived from the name of the service, so that they are the same in
 * every run. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

static json_t *address(const char *name)
{
    uint32_t hash = hash_of(name);
    return json_sprintf("10.96.%d.%d", (int)(hash >> 8 & 255), (int)(hash % 254 + 1));
}

static json_t *node_port(const char *name, size_t index)
{
    return json_integer(NODE_PORT_FIRST + (hash_of(name) + (uint32_t)index) % NODE_PORT_COUNT);
}

json_t *ki_as_default_value(const struct ki_as_default *row, const json_t *source, size_t index)
{
    assert(row->kind <= KI_AS_DEFAULT_NODE_PORT);
    assert(row->kind < KI_AS_DEFAULT_COPY || source != NULL);
    const char *text = json_is_string(source) ? json_string_value(source) : "";
    switch (row->kind) {
    case KI_AS_DEFAULT_FALSE:
        return json_false();
    case KI_AS_DEFAULT_TRUE:
        return json_true();
    case KI_AS_DEFAULT_NUMBER:
        return json_integer(row->number);
    case KI_AS_DEFAULT_TEXT:
        return json_string_nocheck(row->text);
    case KI_AS_DEFAULT_OBJECT:
        return json_object();
    case KI_AS_DEFAULT_JSON:
        return json_loads(row->text, 0, NULL);
    case KI_AS_DEFAULT_COPY:
    case KI_AS_DEFAULT_MERGE:
        return ki_as_json_copy(source);
    case KI_AS_DEFAULT_SINGLE:
        return json_pack("[o]", ki_as_json_copy(source));
    case KI_AS_DEFAULT_LOWER:
        return lower_case(text);
    case KI_AS_DEFAULT_LIST_KIND:
        return json_sprintf("%sList", text);
    case KI_AS_DEFAULT_PULL_POLICY:
        return pull_policy(text);
    case KI_AS_DEFAULT_ADDRESS:
        return address(text);
    case KI_AS_DEFAULT_NODE_PORT:
        return node_port(text, index);
    default:
        return json_null();
    }
}
