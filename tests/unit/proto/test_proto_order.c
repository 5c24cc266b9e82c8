/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that Go reads but does not write: fields in any order on every level, messages in parts, unknown
 * fields between them. The object is the same, whole and projected. */
#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

#include "proto/item.h"
#include "proto/typed.h"
#include "proto/wire.h"
#include "support/decode/proto_records.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/random.h"

enum { FIELDS_MAX = 4096 };

/* The changes that may be made to a message. */
typedef struct disorder {
    ki_random random;
    int has_parts;
    int has_unknown;
} disorder;

typedef struct occurrence {
    unsigned number;
    proto_body bytes; /* with its tag */
} occurrence;

static proto_body rewrite(disorder *d, const ki_proto_message *message, ki_str bytes);

static void put_unknown(disorder *d, proto_body *out)
{
    static const ki_str kinds[] = {
        {"\xda\x0f\x03xyz", 6},
        {"\xd8\x0f\x96\x01", 4},
        {"\xdd\x0f....", 6},
        {"\xdb\x0f\x08\x01\xdc\x0f", 6}, /* a group */
    };
    ki_str kind = kinds[ki_random_below(&d->random, sizeof(kinds) / sizeof(kinds[0]))];
    proto_body_put(out, kind.ptr, kind.len);
}

static int is_message(const ki_proto_field *field)
{
    return (field->flags & KI_PROTO_MAP) == 0 &&
           (field->type == KI_PROTO_MESSAGE || field->type == KI_PROTO_INLINE) &&
           ki_proto_message_of(field)->form == KI_PROTO_FORM_FIELDS;
}

/* Adds the content of a message in one or two parts, cut between two of its fields. */
static size_t put_parts(disorder *d, const ki_proto_field *field, ki_str content, occurrence *out)
{
    const uint8_t *start = (const uint8_t *)content.ptr;
    const uint8_t *end = start + content.len;
    const uint8_t *cut = start;
    while (cut < end && ki_random_below(&d->random, 3) != 0) {
        uint64_t tag = 0;
        cut = ki_wire_varint(cut, end, &tag);
        cut = ki_wire_skip(cut, end, tag);
    }
    size_t n = (size_t)(cut - start);
    int is_cut = d->has_parts && (field->flags & KI_PROTO_LIST) == 0;
    ki_str parts[2] = {{content.ptr, is_cut ? n : content.len}, {content.ptr + n, content.len - n}};
    for (int i = 0; i <= is_cut; i++) {
        out[i] = (occurrence){.number = field->number};
        proto_body_field(&out[i].bytes, field->number, parts[i]);
    }
    return 1 + (size_t)is_cut;
}

static size_t take_apart(disorder *d, const ki_proto_message *message, ki_str bytes, occurrence *out)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    const uint8_t *end = at + bytes.len;
    size_t count = 0;
    while (at < end) {
        uint64_t tag = 0;
        ki_wire_value value = {0};
        const uint8_t *content = ki_wire_varint(at, end, &tag);
        const uint8_t *next = ki_wire_skip(content, end, tag);
        assert_non_null(next);
        assert_true(count + 2 < FIELDS_MAX);
        unsigned place = ki_proto_place(message, ki_wire_number_of(tag));
        const ki_proto_field *field = place == 0 ? NULL : &ki_proto_fields[message->first + place - 1];
        if (field != NULL && is_message(field)) {
            (void)ki_wire_bytes(content, end, &value);
            proto_body inner =
                rewrite(d, ki_proto_message_of(field), (ki_str){(const char *)value.at, value.len});
            count += put_parts(d, field, proto_body_str(&inner), &out[count]);
            proto_body_free(&inner);
        } else {
            out[count] = (occurrence){.number = ki_wire_number_of(tag)};
            proto_body_put(&out[count++].bytes, at, (size_t)(next - at));
        }
        at = next;
    }
    return count;
}

/* A random order that keeps the occurrences of each field in order. */
static void shuffle(disorder *d, occurrence *list, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        size_t chosen = i + ki_random_below(&d->random, (uint32_t)(count - i));
        for (size_t j = i; j < chosen; j++)
            if (list[j].number == list[chosen].number)
                chosen = j;
        occurrence moved = list[chosen];
        memmove(&list[i + 1], &list[i], (chosen - i) * sizeof(*list));
        list[i] = moved;
    }
}

static proto_body rewrite(disorder *d, const ki_proto_message *message, ki_str bytes)
{
    occurrence *list = calloc(FIELDS_MAX, sizeof(*list));
    proto_body out = {0};
    size_t count = take_apart(d, message, bytes, list);
    shuffle(d, list, count);
    for (size_t i = 0; i < count; i++) {
        if (d->has_unknown && ki_random_below(&d->random, 4) == 0)
            put_unknown(d, &out);
        proto_body_put(&out, list[i].bytes.data, list[i].bytes.len);
        proto_body_free(&list[i].bytes);
    }
    free(list);
    return out;
}

static ki_object *read_object(ki_proto_reader *reader, const ki_object_plan *plan,
                              const ki_proto_message *message, ki_str bytes)
{
    ki_object *object = NULL;
    ki_refused refused = {0};
    ki_buf_init(&refused.key, KI_REFUSED_KEY_BYTES_MAX);
    /* Nothing after the message must be read. */
    char *exact = malloc(bytes.len == 0 ? 1 : bytes.len);
    memcpy(exact, bytes.ptr == NULL ? "" : bytes.ptr, bytes.len);
    const ki_proto_item item = {.message = message, .bytes = {exact, bytes.len}};
    if (ki_proto_item_build(reader, plan, &item, &object, &refused) != 1)
        assert_null(object);
    free(exact);
    ki_buf_fini(&refused.key);
    return object;
}

/* Returns whether it is an object: some have no name. */
static int check_record(disorder *d, const ki_object_plan *plan, const proto_record *record)
{
    ki_proto_reader reader;
    ki_proto_typed typed = {0};
    assert_int_equal(ki_proto_typed_read(record->message, 0, &typed, NULL), 0);
    const ki_proto_message *message = ki_proto_find(typed.api_version, typed.kind);
    assert_non_null(message);
    ki_proto_reader_init(&reader, plan->projection, plan->depth_max);
    proto_body other = rewrite(d, message, typed.raw);
    ki_object *expected = read_object(&reader, plan, message, typed.raw);
    ki_object *object = read_object(&reader, plan, message, proto_body_str(&other));
    if ((expected == NULL) != (object == NULL) || (object != NULL && !ki_object_equal(object, expected)))
        fail_msg("%.*s: %.*s", KI_STR_ARGS(record->kind),
                 KI_STR_ARGS(object == NULL ? KI_STR("refused") : ki_object_json(object)));
    if (object != NULL) {
        assert_true(ki_str_equal(ki_object_key_str(object), ki_object_key_str(expected)));
        assert_true(ki_str_equal(ki_object_uid(object), ki_object_uid(expected)));
        assert_true(ki_str_equal(ki_object_labels(object).raw, ki_object_labels(expected).raw));
        assert_true(ki_str_equal(ki_object_annotations(object).raw, ki_object_annotations(expected).raw));
    }
    int is_object = object != NULL;
    ki_object_unref(expected);
    ki_object_unref(object);
    proto_body_free(&other);
    ki_proto_reader_fini(&reader);
    return is_object;
}

static void the_order_of_fields_makes_no_difference(void **state)
{
    (void)state;
    static const char *const keep[] = {"/metadata/labels", "/spec/containers/*/image", "/status", "/data",
                                       NULL};
    static const char *const drop[] = {"/metadata/annotations", "/metadata/name", "/spec/template/spec",
                                       NULL};
    const ki_object_options options[] = {{0}, {.keep_managed_fields = 1}, {.keep = keep}, {.drop = drop}};
    disorder d = {0};
    size_t objects = 0;
    ki_random_init(&d.random, 7);
    proto_records records = proto_records_load("random.rec.gz");
    for (int form = 0; form < 4; form++) {
        ki_object_plan *plan = ki_object_plan_new(NULL, &options[form], NULL);
        for (size_t i = 0; i < records.count; i++) {
            d.has_parts = (i + (size_t)form) % 3 == 2;
            d.has_unknown = (i + (size_t)form) % 2;
            objects += (size_t)check_record(&d, plan, &records.list[i]);
        }
        ki_object_plan_free(plan);
    }
    assert_true(objects > records.count);
    proto_records_free(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_MEMORY_CHECK(the_order_of_fields_makes_no_difference)};
    return RUN_TESTS(tests);
}
