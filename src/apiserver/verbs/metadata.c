/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"
#include "util/text/byte.h"

/* The alphabet of Kubernetes' generated names: no vowels, and no characters that look alike. */
static const char name_alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

enum { NAME_DRAWN = 5, NAME_BASE_MAX = 58, UID_BYTES = 37 };

json_t *ki_as_metadata(const json_t *tree)
{
    return json_object_get(tree, "metadata");
}

ki_str ki_as_metadata_text(const json_t *tree, const char *name)
{
    return ki_as_json_str(json_object_get(ki_as_metadata(tree), name));
}

/* Takes the value. */
static int set(const struct ki_as_verb *verb, json_t *tree, const char *name, json_t *value)
{
    assert(json_is_object(ki_as_metadata(tree)));
    if (value == NULL || json_object_set_new(ki_as_metadata(tree), name, value) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

static json_t *new_uid(struct ki_as_storage *storage)
{
    static const char digits[] = "0123456789abcdef";
    char text[UID_BYTES];
    uint64_t high = (ki_as_storage_random(storage) & ~(uint64_t)0xf000) | 0x4000;
    uint64_t low = (ki_as_storage_random(storage) & ~((uint64_t)3 << 62)) | ((uint64_t)2 << 62);
    char *at = text + UID_BYTES - 1;
    *at = '\0';
    for (int i = 0; i < 32; i++) {
        uint64_t *half = i < 16 ? &low : &high;
        if (i == 12 || i == 16 || i == 20 || i == 24)
            *--at = '-';
        *--at = digits[*half & 15];
        *half >>= 4;
    }
    assert(at == text);
    return json_string_nocheck(text);
}

/* Removes fields that a new object must not have. */
static void forget(json_t *metadata)
{
    static const ki_str names[] = {
        {"generation", 10}, {"deletionTimestamp", 17}, {"deletionGracePeriodSeconds", 26}, {"selfLink", 8}};
    void *next = NULL;
    for (void *at = json_object_iter(metadata); at != NULL; at = next) {
        ki_str key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        next = json_object_iter_next(metadata, at);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (key.len == names[i].len && memcmp(key.ptr, names[i].ptr, key.len) == 0) {
                (void)json_object_deln(metadata, key.ptr, key.len);
                break;
            }
    }
}

int ki_as_metadata_set_new(const struct ki_as_verb *verb, json_t *tree)
{
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    forget(ki_as_metadata(tree));
    /* Loaded objects keep their uid, because ownerReferences contain it. */
    bool has_uid = verb->call->is_whole && ki_as_metadata_text(tree, "uid").len > 0;
    if (!has_uid && set(verb, tree, "uid", new_uid(verb->storage)) < 0)
        return -1;
    if (set(verb, tree, "creationTimestamp", json_string_nocheck(now)) < 0)
        return -1;
    return verb->resource->has_generation ? set(verb, tree, "generation", json_integer(1)) : 0;
}

int ki_as_metadata_carry(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    assert(json_is_object(ki_as_metadata(tree)) && before != NULL);
    static const char *const kept[] = {"uid", "creationTimestamp", "generation", "deletionTimestamp",
                                       "deletionGracePeriodSeconds"};
    json_t *metadata = ki_as_metadata(tree);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *value = json_object_get(ki_as_metadata(before), kept[i]);
        /* A different deletion time is kept, so that validation rejects it as immutable. */
        bool is_end = strncmp(kept[i], "deletion", 8) == 0;
        if (is_end && !verb->call->is_whole && !ki_as_is_empty(json_object_get(metadata, kept[i])))
            continue;
        if (value == NULL)
            (void)json_object_del(metadata, kept[i]);
        else if (json_object_set(metadata, kept[i], value) < 0)
            return ki_as_fail_no_memory(verb->failure);
    }
    (void)json_object_del(metadata, "selfLink");
    return 0;
}

/* Whether a change of the field increments the generation: the field is part of the desired state,
 * not of the observed state. */
static bool is_desired(const struct ki_as_resource *resource, const char *field)
{
    if (strcmp(field, "metadata") == 0 || strcmp(field, "kind") == 0 || strcmp(field, "apiVersion") == 0)
        return false;
    return strcmp(field, "status") != 0 || (resource->is_custom && !resource->has_status);
}

static size_t count_desired(const struct ki_as_resource *resource, const json_t *tree)
{
    size_t count = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)tree, key, value) count += is_desired(resource, key) ? 1 : 0;
    return count;
}

static bool has_same_desired(const struct ki_as_resource *resource, const json_t *tree, const json_t *before)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (count_desired(resource, tree) != count_desired(resource, before))
        return false;
    json_object_foreach((json_t *)tree, key, value)
    {
        if (is_desired(resource, key) && !ki_as_json_equal(value, json_object_get(before, key)))
            return false;
    }
    return true;
}

static int set_next_generation(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    json_int_t generation = json_integer_value(json_object_get(ki_as_metadata(before), "generation"));
    return set(verb, tree, "generation", json_integer(generation + 1));
}

/* The annotations of a Deployment count as desired state, because its ReplicaSets have copies of them. */
static bool has_same_annotations(const json_t *tree, const json_t *before)
{
    const json_t *now = json_object_get(ki_as_metadata(tree), "annotations");
    const json_t *then = json_object_get(ki_as_metadata(before), "annotations");
    return (ki_as_is_empty(now) && ki_as_is_empty(then)) || ki_as_json_equal(now, then);
}

int ki_as_metadata_increment_generation(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    if (!verb->resource->has_generation)
        return 0;
    bool is_same =
        !ki_as_resource_is(verb->resource, "apps", "deployments") || has_same_annotations(tree, before);
    if (is_same && has_same_desired(verb->resource, tree, before))
        return 0;
    return set_next_generation(verb, tree, before);
}

void ki_as_metadata_tidy(json_t *tree)
{
    void *next = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach_safe(ki_as_metadata(tree), next, key, value)
    {
        if (!ki_as_metadata_is_known(ki_str_of(key)) || ki_as_is_empty(value))
            (void)json_object_del(ki_as_metadata(tree), key);
    }
}

int ki_as_metadata_mark_deleted(const struct ki_as_verb *verb, json_t *tree)
{
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    if (set(verb, tree, "deletionTimestamp", json_string_nocheck(now)) < 0)
        return -1;
    if (!verb->resource->is_namespaced && strcmp(verb->resource->plural, "namespaces") == 0)
        return 0;
    if (set(verb, tree, "deletionGracePeriodSeconds", json_integer(0)) < 0)
        return -1;
    return verb->resource->has_generation ? set_next_generation(verb, tree, tree) : 0;
}

/* The base is cut between two characters, because JSON must not contain a part of a character. */
static size_t base_len(ki_str base)
{
    if (base.len <= NAME_BASE_MAX)
        return base.len;
    size_t len = NAME_BASE_MAX;
    while (len > 0 && ki_byte_is_continuation(base.ptr[len]))
        len--;
    return len;
}

int ki_as_metadata_generate_name(const struct ki_as_verb *verb, json_t *tree)
{
    assert(ki_as_metadata_text(tree, "generateName").len > 0);
    ki_str base = ki_as_metadata_text(tree, "generateName");
    char name[NAME_BASE_MAX + NAME_DRAWN];
    size_t len = base_len(base);
    memcpy(name, base.ptr, len);
    for (int i = 0; i < NAME_DRAWN; i++)
        name[len++] = name_alphabet[ki_as_storage_random(verb->storage) % (sizeof(name_alphabet) - 1)];
    assert(len <= sizeof(name));
    return set(verb, tree, "name", json_stringn(name, len));
}
