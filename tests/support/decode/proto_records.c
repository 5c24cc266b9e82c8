/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/proto_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "proto/typed.h"

enum { READ_BYTES = 1 << 16 };

static void require(int holds, const char *what, const char *name)
{
    if (holds)
        return;
    fprintf(stderr, "proto_records: %s: %s\n", what, name);
    exit(1);
}

static gzFile open_file(const char *name)
{
    char path[4096];
    const char *folder = getenv("KI_FIXTURES");
    if (name[0] == '/')
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/proto/%s", folder == NULL ? "tests/fixtures" : folder, name);
    gzFile file = gzopen(path, "rb");
    require(file != NULL, "cannot open", path);
    return file;
}

static size_t read_file(const char *name, char **out_data)
{
    gzFile file = open_file(name);
    size_t len = 0;
    char *data = NULL;
    for (int n = READ_BYTES; n > 0;) {
        data = realloc(data, len + READ_BYTES);
        require(data != NULL, "out of memory", name);
        n = gzread(file, data + len, READ_BYTES);
        require(n >= 0, "cannot read", name);
        len += (size_t)n;
    }
    gzclose(file);
    *out_data = data;
    return len;
}

static ki_str next_text(const char **at, const char *end)
{
    unsigned char bytes[4];
    require(end - *at >= 4, "cut", "a length");
    memcpy(bytes, *at, 4);
    size_t n = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    require((size_t)(end - *at) >= 4 + n, "cut", "a text");
    ki_str text = {*at + 4, n};
    *at += 4 + n;
    return text;
}

proto_records proto_records_load(const char *name)
{
    proto_records records = {0};
    size_t len = read_file(name, &records.data);
    const char *at = records.data;
    const char *end = at + len;
    while (at < end) {
        records.list = realloc(records.list, (records.count + 1) * sizeof(*records.list));
        require(records.list != NULL, "out of memory", name);
        proto_record *record = &records.list[records.count++];
        ki_str names = next_text(&at, end);
        const char *space = memchr(names.ptr, ' ', names.len);
        require(space != NULL, "no kind", name);
        record->api_version = (ki_str){names.ptr, (size_t)(space - names.ptr)};
        record->kind = (ki_str){space + 1, names.len - record->api_version.len - 1};
        record->message = next_text(&at, end);
        record->json = next_text(&at, end);
    }
    return records;
}

void proto_records_free(proto_records *records)
{
    free(records->list);
    free(records->data);
    *records = (proto_records){0};
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

void proto_body_free(proto_body *body)
{
    free(body->data);
    *body = (proto_body){0};
}

void proto_body_put(proto_body *body, const void *bytes, size_t n)
{
    if (body->cap <= body->len + n) {
        body->cap = 2 * (body->len + n + 1);
        body->data = realloc(body->data, body->cap);
    }
    require(body->data != NULL, "out of memory", "a body");
    if (n > 0)
        memcpy(body->data + body->len, bytes, n);
    body->len += n;
}

static void put_varint(proto_body *body, uint64_t number)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[n++] = (unsigned char)(number | 0x80);
    bytes[n++] = (unsigned char)number;
    proto_body_put(body, bytes, n);
}

void proto_body_field(proto_body *body, unsigned number, ki_str content)
{
    put_varint(body, (uint64_t)number << 3 | 2);
    put_varint(body, content.len);
    proto_body_put(body, content.ptr, content.len);
}

void proto_body_number(proto_body *body, unsigned number, uint64_t value)
{
    put_varint(body, (uint64_t)number << 3);
    put_varint(body, value);
}

proto_body proto_body_typed(const char *api_version, const char *kind, ki_str raw)
{
    proto_body type = {0};
    proto_body body = {0};
    proto_body_field(&type, 1, ki_str_of(api_version));
    proto_body_field(&type, 2, ki_str_of(kind));
    proto_body_put(&body, "k8s", 4);
    proto_body_field(&body, 1, proto_body_str(&type));
    proto_body_field(&body, 2, raw);
    proto_body_field(&body, 3, (ki_str){0});
    proto_body_field(&body, 4, (ki_str){0});
    proto_body_free(&type);
    return body;
}

proto_body proto_body_event(const char *type, ki_str message)
{
    proto_body object = {0};
    proto_body event = {0};
    proto_body frame = {0};
    proto_body_field(&object, 1, message);
    proto_body_field(&event, 1, ki_str_of(type));
    proto_body_field(&event, 2, proto_body_str(&object));
    const unsigned char length[4] = {(unsigned char)(event.len >> 24), (unsigned char)(event.len >> 16),
                                     (unsigned char)(event.len >> 8), (unsigned char)event.len};
    proto_body_put(&frame, length, 4);
    proto_body_put(&frame, event.data, event.len);
    proto_body_free(&object);
    proto_body_free(&event);
    return frame;
}
