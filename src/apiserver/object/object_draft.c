/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/object_draft.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/value/encode.h"
#include "apiserver/value/tree.h"

/* TEXT_BYTES: the first size of the buffer, large enough for most objects. */
enum { TEXT_BYTES = 4096, VERSION_BYTES = 24 };

/* ---- metadata ------------------------------------------------------------------------------------------ */

/* In the order in which Kubernetes writes them. */
enum member {
    NAME,
    GENERATE_NAME,
    NAMESPACE,
    UID,
    RESOURCE_VERSION,
    GENERATION,
    CREATION_TIMESTAMP,
    DELETION_TIMESTAMP,
    DELETION_GRACE_PERIOD_SECONDS,
    LABELS,
    ANNOTATIONS,
    OWNER_REFERENCES,
    FINALIZERS,
    MANAGED_FIELDS,
    MEMBER_COUNT,
};

/* A comma, the name as a key, a colon. */
#define MEMBER(name)                                                                                         \
    {                                                                                                        \
        ",\"" name "\":", sizeof(name) + 3                                                                   \
    }

static const ki_str members[MEMBER_COUNT] = {
    [NAME] = MEMBER("name"),
    [GENERATE_NAME] = MEMBER("generateName"),
    [NAMESPACE] = MEMBER("namespace"),
    [UID] = MEMBER("uid"),
    [RESOURCE_VERSION] = MEMBER("resourceVersion"),
    [GENERATION] = MEMBER("generation"),
    [CREATION_TIMESTAMP] = MEMBER("creationTimestamp"),
    [DELETION_TIMESTAMP] = MEMBER("deletionTimestamp"),
    [DELETION_GRACE_PERIOD_SECONDS] = MEMBER("deletionGracePeriodSeconds"),
    [LABELS] = MEMBER("labels"),
    [ANNOTATIONS] = MEMBER("annotations"),
    [OWNER_REFERENCES] = MEMBER("ownerReferences"),
    [FINALIZERS] = MEMBER("finalizers"),
    [MANAGED_FIELDS] = MEMBER("managedFields"),
};

static size_t member_of(ki_str name)
{
    size_t at = 0;
    while (at < MEMBER_COUNT &&
           (members[at].len != name.len + 4 || memcmp(members[at].ptr + 2, name.ptr, name.len) != 0))
        at++;
    return at;
}

bool ki_as_metadata_is_known(ki_str name)
{
    return member_of(name) < MEMBER_COUNT;
}

bool ki_as_is_empty(const json_t *value)
{
    return value == NULL || json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* Appends a value and, if it is a string that needs no escapes, records its position. Otherwise *out is
 * unchanged, and append_missing() copies the string after the text. */
static int append_noted(struct ki_as_draft *draft, const json_t *value, struct ki_as_span *out)
{
    assert(value != NULL && out->len == 0);
    size_t at = draft->block->len;
    int rc = ki_as_encode(draft->block, value);
    if (rc == 0 && json_is_string(value) && draft->block->len - at == json_string_length(value) + 2)
        *out = (struct ki_as_span){at + 1, json_string_length(value)};
    return rc;
}

static int append_version(struct ki_as_draft *draft, const json_t *value)
{
    char digits[VERSION_BYTES];
    size_t at = sizeof(digits);
    uint64_t rest = draft->parts->version;
    if (rest == 0)
        return append_noted(draft, value, &draft->version);
    digits[--at] = '"';
    for (; rest > 0; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    digits[--at] = '"';
    assert(at < sizeof(digits) - 2);
    draft->version = (struct ki_as_span){draft->block->len + 1, sizeof(digits) - at - 2};
    return ki_as_encode_plain(draft->block, (ki_str){digits + at, sizeof(digits) - at});
}

static int append_labels(struct ki_as_draft *draft, const json_t *labels)
{
    assert(draft->labels == NULL);
    if (!json_is_object(labels))
        return ki_as_encode(draft->block, labels);
    draft->labels = labels;
    draft->labels_at = draft->block->len + 1;
    size_t plain_bytes = json_object_size(labels) == 0 ? 2 : 1;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)labels, key, value) plain_bytes +=
        strlen(key) + json_string_length(value) + 6;
    size_t at = draft->block->len;
    int rc = ki_as_encode(draft->block, labels);
    draft->is_label_escaped = draft->block->len - at != plain_bytes;
    return rc;
}

static int append_managed(struct ki_as_draft *draft, const json_t *value)
{
    assert(draft->parts->managed.len > 0 || value != NULL);
    return draft->parts->managed.len > 0 ? ki_as_encode_plain(draft->block, draft->parts->managed)
                                         : ki_as_encode(draft->block, value);
}

static int append_member(struct ki_as_draft *draft, enum member member, const json_t *value)
{
    switch (member) {
    case NAME:
        return append_noted(draft, value, &draft->name);
    case NAMESPACE:
        return append_noted(draft, value, &draft->ns);
    case UID:
        return append_noted(draft, value, &draft->uid);
    case RESOURCE_VERSION:
        return append_version(draft, value);
    case LABELS:
        return append_labels(draft, value);
    case MANAGED_FIELDS:
        return append_managed(draft, value);
    default:
        return ki_as_encode(draft->block, value);
    }
}

/* Finds all members in one pass, so that no member needs a lookup. */
static void find_members(json_t *metadata, const json_t *out[MEMBER_COUNT])
{
    for (void *at = json_object_iter(metadata); at != NULL; at = json_object_iter_next(metadata, at)) {
        size_t place = member_of((ki_str){json_object_iter_key(at), json_object_iter_key_len(at)});
        if (place < MEMBER_COUNT)
            out[place] = json_object_iter_value(at);
    }
}

static int append_metadata(struct ki_as_draft *draft, const json_t *metadata)
{
    const json_t *values[MEMBER_COUNT] = {0};
    find_members((json_t *)metadata, values);
    draft->is_deleting = json_is_string(values[DELETION_TIMESTAMP]);
    draft->has_finalizers = json_array_size(values[FINALIZERS]) > 0;
    int rc = ki_as_encode_plain(draft->block, KI_STR("\"metadata\":{"));
    bool is_first = true;
    for (size_t i = 0; rc == 0 && i < MEMBER_COUNT; i++) {
        bool is_given = (i == MANAGED_FIELDS && draft->parts->managed.len > 0) ||
                        (i == RESOURCE_VERSION && draft->parts->version > 0);
        if (!is_given && ki_as_is_empty(values[i]))
            continue;
        rc = ki_as_encode_plain(draft->block, (ki_str){members[i].ptr + is_first, members[i].len - is_first});
        if (rc == 0)
            rc = append_member(draft, (enum member)i, values[i]);
        is_first = false;
    }
    return rc < 0 ? rc : ki_as_encode_byte(draft->block, '}');
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

static bool stands_before(ki_str key)
{
    return ki_str_equal(key, KI_STR("kind")) || ki_str_equal(key, KI_STR("apiVersion")) ||
           ki_str_equal(key, KI_STR("metadata"));
}

static int append_rest_member(ki_buf *out, ki_str key, const json_t *value)
{
    if (stands_before(key))
        return 0;
    int rc = ki_as_encode_byte(out, ',');
    if (rc == 0)
        rc = ki_as_encode_string(out, key);
    if (rc == 0)
        rc = ki_as_encode_byte(out, ':');
    return rc < 0 ? rc : ki_as_encode(out, value);
}

static int append_rest(struct ki_as_draft *draft)
{
    json_t *tree = (json_t *)draft->parts->tree;
    int rc = 0;
    for (void *at = json_object_iter(tree); rc == 0 && at != NULL; at = json_object_iter_next(tree, at)) {
        ki_str key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        rc = append_rest_member(draft->block, key, json_object_iter_value(at));
    }
    return rc;
}

static int append_text(struct ki_as_draft *draft)
{
    assert(draft->block->len == 0);
    int rc = ki_buf_reserve(draft->block, TEXT_BYTES);
    if (rc == 0)
        rc = ki_as_encode_byte(draft->block, '{');
    if (rc == 0)
        rc = append_metadata(draft, json_object_get(draft->parts->tree, "metadata"));
    if (rc == 0)
        rc = append_rest(draft);
    if (rc == 0)
        rc = ki_as_encode_byte(draft->block, '}');
    draft->text_len = draft->block->len - 1;
    return rc < 0 ? rc : ki_as_encode_byte(draft->block, '\0');
}

/* A string that the text contains only in escaped form is appended after the text. */
static int append_missing(struct ki_as_draft *draft, const char *name, struct ki_as_span *span)
{
    assert(draft->block->len > draft->text_len);
    if (span->len > 0)
        return 0;
    ki_str text = ki_as_json_str(json_object_get(json_object_get(draft->parts->tree, "metadata"), name));
    *span = (struct ki_as_span){draft->block->len, text.len};
    return ki_as_encode_plain(draft->block, text);
}

static int append_copies(struct ki_as_draft *draft)
{
    const struct ki_as_object_parts *parts = draft->parts;
    int rc = append_missing(draft, "name", &draft->name);
    if (rc == 0)
        rc = append_missing(draft, "namespace", &draft->ns);
    if (rc == 0)
        rc = append_missing(draft, "uid", &draft->uid);
    for (size_t i = 0; rc == 0 && i < parts->field_count; i++) {
        if (parts->has_own_names)
            rc = ki_as_encode_plain(draft->block, parts->fields[i].name);
        if (rc == 0)
            rc = ki_as_encode_plain(draft->block, parts->fields[i].value);
    }
    if (!draft->is_label_escaped)
        return rc;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)draft->labels, key, value)
    {
        if (rc == 0)
            rc = ki_as_encode_plain(draft->block, ki_str_of(key));
        if (rc == 0)
            rc = ki_as_encode_plain(draft->block, ki_as_json_str(value));
    }
    return rc;
}

int ki_as_draft_write(struct ki_as_draft *draft)
{
    assert(draft->parts != NULL && draft->block != NULL);
    int rc = append_text(draft);
    return rc < 0 ? rc : append_copies(draft);
}
