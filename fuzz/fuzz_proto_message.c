/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_proto_message - any bytes as a message of any kind. Input: a byte of options (decode_options_plan()),
 * two bytes that choose the kind, and the message.
 *
 * The result is JSON. With a projection, or in careful mode, the object is the one that the JSON decoder
 * makes from that JSON with the same projection: the same object, with the same text. */
#include <stdio.h>
#include <stdlib.h>

#include "api/object/object_build.h"
#include "proto/item.h"
#include "support/decode/decode_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_proto_message: %s\n", what);
    abort();
}

static ki_str word(uint16_t at, uint8_t len)
{
    return (ki_str){ki_proto_words + at, len};
}

/* Returns the text of the whole message; empty if it cannot be read. */
static ki_str read_whole(ki_proto_reader *reader, const ki_proto_kind *kind, ki_str bytes)
{
    const ki_proto_source source = {.message = &ki_proto_messages[kind->message],
                                    .bytes = bytes,
                                    .kind = word(kind->kind, kind->kind_len),
                                    .api_version = word(kind->api_version, kind->api_version_len),
                                    .bytes_max = 1 << 24,
                                    .is_whole = 1};
    ki_error err = {0};
    int rc = ki_proto_read(reader, &source, &err);
    require(rc == err.code, "the result does not match the error");
    ki_str text = ki_buf_str(&reader->sink.text);
    require(rc < 0 || reader->sink.overflowed || ki_json_validate(text, NULL) == 0, "the text is not JSON");
    return rc < 0 || reader->sink.overflowed ? (ki_str){0} : text;
}

/* The size limit for JSON counts escapes and dropped parts, so JSON may be refused when protobuf is not. */
static void compare(const ki_object *ours, const ki_object *other, int code)
{
    if (ours == NULL || other == NULL) {
        require(other == NULL || ours != NULL, "an object is refused that the JSON decoder accepts");
        require(ours == NULL || code == KI_ERR_JSON_DEPTH || code == KI_ERR_TOO_LARGE,
                "only JSON is refused");
        return;
    }
    require(ki_object_equal(ours, other), "the objects are different");
    require(ki_str_equal(ki_object_key_str(ours), ki_object_key_str(other)), "the keys are different");
    require(ki_str_equal(ki_object_uid(ours), ki_object_uid(other)), "the uids are different");
    require(ki_str_equal(ki_object_labels(ours).raw, ki_object_labels(other).raw),
            "the labels are different");
}

static void check(const ki_object_plan *plan, const ki_proto_kind *kind, ki_str bytes)
{
    ki_proto_reader reader;
    ki_refused refused = {0};
    ki_object *ours = NULL;
    ki_object *other = NULL;
    ki_error err = {0};
    ki_buf_init(&refused.key, KI_REFUSED_KEY_BYTES_MAX);
    ki_proto_reader_init(&reader, plan->projection, plan->depth_max);
    const ki_proto_item item = {.message = &ki_proto_messages[kind->message],
                                .bytes = bytes,
                                .kind = word(kind->kind, kind->kind_len),
                                .api_version = word(kind->api_version, kind->api_version_len),
                                .has_names = 1};
    int rc = ki_proto_item_build(&reader, plan, &item, &ours, &refused);
    require((rc == 1) == (ours != NULL), "an object is both refused and present");
    ki_proto_reader_fini(&reader);
    ki_proto_reader_init(&reader, NULL, KI_JSON_DEPTH_LIMIT);
    ki_str text = read_whole(&reader, kind, bytes);
    if (text.len > 0) {
        if (ki_object_build_text(plan, text, &other, &err) < 0)
            other = NULL;
        compare(ours, other, err.code);
    }
    ki_object_unref(ours);
    ki_object_unref(other);
    ki_proto_reader_fini(&reader);
    ki_buf_fini(&refused.key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    ki_object_plan *plan = decode_options_plan(data[0]);
    const ki_proto_kind *kind = &ki_proto_kinds[(data[1] | (unsigned)data[2] << 8) % ki_proto_kind_count];
    check(plan, kind, (ki_str){(const char *)data + 3, size - 3});
    ki_object_plan_free(plan);
    return 0;
}
