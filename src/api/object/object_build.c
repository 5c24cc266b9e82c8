/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/object_build.h"

#include <assert.h>
#include <string.h>

#include "json/canonical.h"
#include "json/skip.h"
#include "json/text.h"
#include "util/alloc.h"
#include "util/error.h"

/* A string field to be stored in the object. */
typedef struct source {
    ki_str raw;       /* the text between the quotes; empty if the field is missing */
    size_t len;       /* of the unescaped string */
    uint32_t text_at; /* its offset in the sink's text; if is_inserted, in the object's text */
    int in_text;      /* it can be read in the object's text, so it is not stored beside it */
    int is_inserted;  /* the server omitted it: it is a part of draft.inserted */
} source;

/* Everything known about an object before it is allocated. */
typedef struct draft {
    source strings[KI_FIELD_STRINGS];
    source name;
    source ns;
    ki_str text;
    ki_str inserted; /* kind and apiVersion, if the server omitted them; inserted after the first brace */
} draft;

static const char *const field_names[KI_FIELDS] = {
    [KI_FIELD_API_VERSION] = "apiVersion",
    [KI_FIELD_KIND] = "kind",
    [KI_FIELD_UID] = "metadata.uid",
    [KI_FIELD_RESOURCE_VERSION] = "metadata.resourceVersion",
    [KI_FIELD_CREATION_TIME] = "metadata.creationTimestamp",
    [KI_FIELD_DELETION_TIME] = "metadata.deletionTimestamp",
    [KI_FIELD_NAME] = "metadata.name",
    [KI_FIELD_NAMESPACE] = "metadata.namespace",
    [KI_FIELD_GENERATION] = "metadata.generation",
    [KI_FIELD_LABELS] = "metadata.labels",
    [KI_FIELD_ANNOTATIONS] = "metadata.annotations",
    [KI_FIELD_OWNERS] = "metadata.ownerReferences",
    [KI_FIELD_FINALIZERS] = "metadata.finalizers",
};

/* The JSON of a captured field; none if it is missing or null. */
static ki_json captured(const ki_json_sink *sink, int field)
{
    assert(field >= 0 && field < KI_FIELDS);
    const ki_capture *c = &sink->captures[field];
    if (c->place == KI_CAPTURE_NONE)
        return (ki_json){0};
    const ki_buf *buf = c->place == KI_CAPTURE_TEXT ? &sink->text : &sink->side;
    assert(c->start <= c->end && c->end <= buf->len);
    ki_json value = {{buf->data + c->start, c->end - c->start}};
    return ki_json_type_of(value) == KI_JSON_NULL ? (ki_json){0} : value;
}

static int bad_field(int field, const char *why, ki_error *err)
{
    assert(field >= 0 && field < KI_FIELDS && field_names[field] != NULL);
    return ki_fail(err, KI_ERR_METADATA, "%s %s", field_names[field], why);
}

static int read_string(const ki_json_sink *sink, int field, source *out, ki_error *err)
{
    ki_json value = captured(sink, field);
    *out = (source){0};
    if (ki_json_type_of(value) == KI_JSON_NONE)
        return 0;
    if (ki_json_type_of(value) != KI_JSON_STRING)
        return bad_field(field, "is not a string", err);
    assert(value.raw.ptr != NULL && value.raw.len >= 2);
    out->raw = (ki_str){value.raw.ptr + 1, value.raw.len - 2};
    int escaped = memchr(out->raw.ptr, '\\', out->raw.len) != NULL;
    out->len = escaped ? ki_json_unescaped_len(out->raw.ptr, out->raw.len) : out->raw.len;
    if (out->len > KI_OBJECT_STRING_BYTES_MAX)
        return bad_field(field, "is too long", err);
    out->in_text = !escaped && sink->captures[field].place == KI_CAPTURE_TEXT;
    out->text_at = sink->captures[field].start + 1;
    return 0;
}

/* A key is "namespace/name". Neither part may contain a slash or a control character, because these would
 * end or garble the key. Control characters that are not escaped were refused by the scanner. Other
 * characters may be escaped: a server writes & as \u0026, and names of roles may contain quotes. */
static int is_name_part(ki_str raw)
{
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL)
        return raw.len == 0 || memchr(raw.ptr, '/', raw.len) == NULL;
    for (size_t i = 0; i < raw.len;) {
        uint32_t c = (unsigned char)raw.ptr[i];
        size_t n = c == '\\' ? ki_json_escape_read(raw.ptr + i, raw.ptr + raw.len, &c) : 1;
        if (n == 0 || c < 0x20 || c == '/')
            return 0;
        i += n;
    }
    return 1;
}

static int check_name_part(const source *part, int field, ki_error *err)
{
    return is_name_part(part->raw) ? 0 : bad_field(field, "contains an invalid character", err);
}

static int read_names(const ki_json_sink *sink, draft *d, ki_error *err)
{
    int rc = read_string(sink, KI_FIELD_NAME, &d->name, err);
    if (rc == 0)
        rc = read_string(sink, KI_FIELD_NAMESPACE, &d->ns, err);
    if (rc == 0 && d->name.len == 0)
        rc = bad_field(KI_FIELD_NAME, "is missing", err);
    if (rc == 0)
        rc = check_name_part(&d->name, KI_FIELD_NAME, err);
    return rc < 0 ? rc : check_name_part(&d->ns, KI_FIELD_NAMESPACE, err);
}

/* Whether all values of a map or list begin with `first`. The text is minified and valid, so the first byte
 * tells the type of a value. */
static int holds_only(ki_str container, char first)
{
    assert(container.len >= 2 && (container.ptr[0] == '{' || container.ptr[0] == '['));
    const char *at = container.ptr + 1;
    const char *end = container.ptr + container.len - 1;
    while (at < end) {
        if (container.ptr[0] == '{')
            at += ki_json_skip_string(at, (size_t)(end - at)) + 1; /* the name and its colon */
        if (*at != first)
            return 0;
        at += ki_json_skip_value(at, (size_t)(end - at)) + 1; /* and its comma */
    }
    return 1;
}

/* Checks that the field, if it is in the text, is a map or list (`type`) whose values begin with `first`. */
static int check_container(const ki_json_sink *sink, int field, ki_json_type type, char first, ki_error *err)
{
    if (sink->captures[field].place != KI_CAPTURE_TEXT)
        return 0;
    ki_json value = captured(sink, field);
    if (ki_json_type_of(value) == KI_JSON_NONE)
        return 0;
    if (ki_json_type_of(value) != type)
        return bad_field(field, type == KI_JSON_OBJECT ? "is not a map" : "is not a list", err);
    return holds_only(value.raw, first) ? 0 : bad_field(field, "holds a value of a wrong type", err);
}

static int check_containers(const ki_json_sink *sink, ki_error *err)
{
    int rc = check_container(sink, KI_FIELD_LABELS, KI_JSON_OBJECT, '"', err);
    if (rc == 0)
        rc = check_container(sink, KI_FIELD_ANNOTATIONS, KI_JSON_OBJECT, '"', err);
    if (rc == 0)
        rc = check_container(sink, KI_FIELD_OWNERS, KI_JSON_ARRAY, '{', err);
    return rc < 0 ? rc : check_container(sink, KI_FIELD_FINALIZERS, KI_JSON_ARRAY, '"', err);
}

static int check_scalars(const ki_json_sink *sink, ki_error *err)
{
    int64_t number = 0;
    for (int field = KI_FIELD_CREATION_TIME; field <= KI_FIELD_DELETION_TIME; field++) {
        ki_json_type type = ki_json_type_of(captured(sink, field));
        if (type != KI_JSON_NONE && type != KI_JSON_STRING)
            return bad_field(field, "is not a string", err);
    }
    ki_json generation = captured(sink, KI_FIELD_GENERATION);
    if (ki_json_type_of(generation) != KI_JSON_NONE && ki_json_int64(generation, &number) < 0)
        return bad_field(KI_FIELD_GENERATION, "is not an integer", err);
    return 0;
}

static int read_metadata(const ki_json_sink *sink, draft *d, ki_error *err)
{
    int rc = read_names(sink, d, err);
    for (int field = 0; rc == 0 && field < KI_FIELD_STRINGS; field++)
        rc = read_string(sink, field, &d->strings[field], err);
    if (rc < 0 || sink->is_typed)
        return rc;
    rc = check_scalars(sink, err);
    return rc < 0 ? rc : check_containers(sink, err);
}

/* Supplies a kind or apiVersion that the object omitted. It is part of the inserted text if the projection
 * keeps it; otherwise it is stored beside the text. */
static source supplied(const draft *d, ki_str value, int is_kept)
{
    assert(!is_kept ||
           (value.ptr >= d->inserted.ptr && value.ptr + value.len <= d->inserted.ptr + d->inserted.len));
    source s = {.raw = value, .len = value.len, .in_text = is_kept, .is_inserted = is_kept};
    s.text_at = is_kept ? (uint32_t)(1 + (value.ptr - d->inserted.ptr)) : 0;
    return s;
}

/* Adds kind and apiVersion from the plan if the object omitted them. */
static void supply_names(const ki_object_plan *plan, const ki_json_sink *sink, draft *d)
{
    source *kind = &d->strings[KI_FIELD_KIND];
    source *api_version = &d->strings[KI_FIELD_API_VERSION];
    int no_kind = kind->len == 0 && plan->kind.len > 0;
    int no_api_version = api_version->len == 0 && plan->api_version.len > 0;
    /* A member that exists but is empty or null stays as it is: inserting it again would duplicate it. */
    int insert_kind = no_kind && plan->keeps_kind && sink->captures[KI_FIELD_KIND].place == KI_CAPTURE_NONE;
    int insert_api_version = no_api_version && plan->keeps_api_version &&
                             sink->captures[KI_FIELD_API_VERSION].place == KI_CAPTURE_NONE;
    /* The two members are adjacent in the plan, so either of them, or both, are one piece of text. */
    d->inserted.ptr = insert_kind ? plan->kind_member.ptr : plan->api_version_member.ptr;
    d->inserted.len =
        (insert_kind ? plan->kind_member.len : 0) + (insert_api_version ? plan->api_version_member.len : 0);
    if (no_kind)
        *kind = supplied(d, plan->kind, insert_kind);
    if (no_api_version)
        *api_version = supplied(d, plan->api_version, insert_api_version);
    if (d->inserted.len > 0 && d->text.len == 2)
        d->inserted.len--; /* no member follows in {}, so the last comma is dropped */
}

static size_t key_bytes(const draft *d)
{
    return d->ns.len + (d->ns.len > 0) + d->name.len + 1;
}

/* Marks strings whose offset in the text is too large for the header: they are stored beside the text. */
static void bring_near(draft *d, size_t key_at)
{
    size_t text_at_most = key_at + key_bytes(d) + d->inserted.len;
    for (int field = 0; field < KI_FIELD_STRINGS; field++)
        text_at_most += d->strings[field].len;
    for (int field = 0; field < KI_FIELD_STRINGS; field++)
        if (d->strings[field].in_text && text_at_most + d->strings[field].text_at > UINT16_MAX)
            d->strings[field].in_text = 0;
}

static size_t beside_len(const draft *d)
{
    size_t n = 0;
    for (int field = 0; field < KI_FIELD_STRINGS; field++)
        if (!d->strings[field].in_text)
            n += d->strings[field].len;
    return n;
}

/* Copies a string, unescaped. Returns the position after it. */
static char *put_string(char *at, const source *s)
{
    assert(s->len <= s->raw.len);
    if (s->len == s->raw.len)
        memcpy(at, s->raw.ptr == NULL ? "" : s->raw.ptr, s->len);
    else
        ki_json_unescape(s->raw.ptr, s->raw.len, at);
    return at + s->len;
}

static char *put_key(ki_object *object, const draft *d, char *at)
{
    assert(at - (char *)object <= UINT16_MAX);
    object->key_at = (uint16_t)(at - (char *)object);
    at = put_string(at, &d->ns);
    if (d->ns.len > 0)
        *at++ = '/';
    at = put_string(at, &d->name);
    *at++ = 0;
    object->namespace_len = (uint16_t)d->ns.len;
    object->name_len = (uint16_t)d->name.len;
    return at;
}

/* Writes the strings that are not in the text, and stores the offsets of all strings. Returns the position
 * after the last string. */
static char *put_strings(ki_object *object, const draft *d, char *at, uint32_t text_at)
{
    uint32_t moved_text = text_at + (uint32_t)d->inserted.len;
    for (int field = 0; field < KI_FIELD_STRINGS; field++) {
        const source *s = &d->strings[field];
        assert(s->in_text || at - (char *)object <= UINT16_MAX);
        object->string_len[field] = (uint16_t)s->len;
        object->string_at[field] = (uint16_t)(!s->in_text      ? (uint32_t)(at - (char *)object)
                                              : s->is_inserted ? text_at + s->text_at
                                                               : moved_text + s->text_at);
        if (!s->in_text)
            at = put_string(at, s);
    }
    return at;
}

static void put_text(ki_object *object, const draft *d, char *at)
{
    assert(d->text.len >= 2 && d->text.ptr[0] == '{');
    object->text_at = (uint32_t)(at - (char *)object);
    object->text_len = (uint32_t)(d->text.len + d->inserted.len);
    *at++ = d->text.ptr[0];
    if (d->inserted.len > 0)
        memcpy(at, d->inserted.ptr, d->inserted.len);
    memcpy(at + d->inserted.len, d->text.ptr + 1, d->text.len - 1);
}

/* Which fields are in the text and not null. */
static unsigned fields_placed(const ki_json_sink *sink)
{
    unsigned has = 0;
    for (int field = KI_FIELD_STRINGS; field < KI_FIELD_PLACED; field++) {
        const ki_capture *c = &sink->captures[field];
        if (c->place == KI_CAPTURE_TEXT && sink->text.data[c->start] != 'n')
            has |= 1U << (field - KI_FIELD_STRINGS);
    }
    return has;
}

/* Returns the position after the last offset. */
static char *put_places(ki_object *object, const ki_json_sink *sink, unsigned has, uint32_t moved_text)
{
    uint32_t *place = object->places;
    for (unsigned left = has; left != 0; left &= left - 1)
        *place++ = moved_text + sink->captures[KI_FIELD_STRINGS + __builtin_ctz(left)].start;
    object->has = (uint16_t)has;
    return (char *)place;
}

static ki_object *assemble(draft *d, const ki_json_sink *sink)
{
    unsigned has = fields_placed(sink);
    size_t key_at = KI_OBJECT_HEADER_BYTES + (size_t)__builtin_popcount(has) * sizeof(uint32_t);
    bring_near(d, key_at);
    size_t text_at = key_at + key_bytes(d) + beside_len(d);
    ki_object *object = ki_malloc(text_at + d->inserted.len + d->text.len);
    if (object == NULL)
        return NULL;
    ki_refcount_init(&object->refs);
    atomic_init(&object->unescaped, NULL);
    char *at = put_places(object, sink, has, (uint32_t)(text_at + d->inserted.len));
    at = put_key(object, d, at);
    at = put_strings(object, d, at, (uint32_t)text_at);
    assert((size_t)(at - (char *)object) == text_at);
    put_text(object, d, at);
    return object;
}

int ki_object_build(const ki_object_plan *plan, ki_json_sink *sink, ki_object **out_object, ki_error *err)
{
    assert(plan != NULL);
    draft d = {0};
    if (sink->overflowed)
        return ki_fail(err, KI_ERR_TOO_LARGE, "the object is larger than the limit of %zu bytes",
                       plan->bytes_max);
    if (sink->text.len == 0 || sink->text.data[0] != '{')
        return ki_fail(err, KI_ERR_METADATA, "the value is not an object");
    if (sink->rewritable)
        sink->text.len = ki_json_canonical(sink->text.data, sink->text.len, sink->captures, KI_FIELDS);
    d.text = ki_buf_str(&sink->text);
    int rc = read_metadata(sink, &d, err);
    if (rc < 0)
        return rc;
    supply_names(plan, sink, &d);
    ki_object *object = assemble(&d, sink);
    if (object == NULL)
        return ki_fail_no_memory(err);
    *out_object = object;
    return 0;
}

/* Checks a field again: the syntax error that a lenient scan has passed over may be in it. */
static int is_sound(const ki_json_sink *sink, int field)
{
    ki_json value = captured(sink, field);
    return ki_json_type_of(value) == KI_JSON_NONE || ki_json_validate(value.raw, NULL) == 0;
}

int ki_object_read_key(const ki_json_sink *sink, ki_buf *out_key)
{
    assert(out_key != NULL);
    draft d = {0};
    if (!is_sound(sink, KI_FIELD_NAME) || !is_sound(sink, KI_FIELD_NAMESPACE) ||
        read_names(sink, &d, NULL) < 0)
        return KI_ERR_METADATA;
    int rc = ki_buf_reserve(out_key, d.ns.len + d.name.len + 1);
    if (rc < 0)
        return rc;
    char *at = put_string(out_key->data + out_key->len, &d.ns);
    if (d.ns.len > 0)
        *at++ = '/';
    out_key->len = (size_t)(put_string(at, &d.name) - out_key->data);
    return 0;
}

static int scan_text(const ki_object_plan *plan, ki_str json, ki_json_sink *sink, ki_error *err)
{
    ki_json_scanner scanner;
    ki_json_scanner_init(&scanner, &(ki_json_limits){plan->depth_max, SIZE_MAX});
    ki_json_sink_begin(sink, plan->projection);
    ki_json_scan_begin(&scanner, sink);
    int rc = ki_json_scan_whole(&scanner, json);
    return rc < 0 ? ki_json_scan_explain(&scanner, rc, err) : 0;
}

int ki_object_build_text(const ki_object_plan *plan, ki_str json, ki_object **out_object, ki_error *err)
{
    assert(plan != NULL);
    assert(json.ptr != NULL || json.len == 0);
    ki_json_sink sink;
    ki_json_sink_init(&sink, plan->bytes_max);
    int rc = scan_text(plan, json, &sink, err);
    if (rc == 0)
        rc = ki_object_build(plan, &sink, out_object, err);
    ki_json_sink_fini(&sink);
    return rc;
}

ki_object *ki_object_new(const ki_resource *resource, ki_str json, const ki_object_options *options,
                         ki_error *err)
{
    if (json.ptr == NULL && json.len > 0) {
        ki_fail(err, KI_ERR_INVALID, "the text of %zu bytes is NULL", json.len);
        return NULL;
    }
    ki_object_plan *plan = ki_object_plan_new(resource, options, err);
    if (plan == NULL)
        return NULL;
    ki_object *object = NULL;
    if (ki_object_build_text(plan, json, &object, err) < 0)
        object = NULL;
    ki_object_plan_free(plan);
    return object;
}
