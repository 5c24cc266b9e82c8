/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "apiserver/protobuf_parts.h"
#include "util/alloc.h"
#include "util/base64.h"

enum { VARINT_BITS_MAX = 63, NANOS_A_MICRO = 1000, NANOS_A_SECOND = 1000000000, TIME_BYTES = 40 };

/* ---- fields -------------------------------------------------------------------------------------------- */

static int read_varint(ki_str *rest, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift <= VARINT_BITS_MAX && rest->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)*rest->ptr++;
        rest->len--;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = value;
            return 0;
        }
    }
    return KI_ERR_INVALID;
}

static int read_fixed(ki_str *rest, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    if (rest->len < size)
        return KI_ERR_INVALID;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(unsigned char)rest->ptr[i] << (8 * i);
    rest->ptr += size;
    rest->len -= size;
    *out = value;
    return 0;
}

static int read_bytes(ki_str *rest, ki_str *out)
{
    uint64_t len = 0;
    if (read_varint(rest, &len) < 0 || len > rest->len)
        return KI_ERR_INVALID;
    *out = (ki_str){rest->ptr, (size_t)len};
    rest->ptr += len;
    rest->len -= (size_t)len;
    return 0;
}

int ki_as_entry_next(ki_str *rest, struct ki_as_entry *out)
{
    uint64_t key = 0;
    int rc = KI_ERR_INVALID;
    if (rest->len == 0)
        return 0;
    if (read_varint(rest, &key) < 0)
        return KI_ERR_INVALID;
    struct ki_as_entry entry = {.number = key >> 3, .wire = (enum ki_as_wire)(key & 7)};
    switch (entry.wire) {
    case KI_AS_VARINT:
        rc = read_varint(rest, &entry.integer);
        break;
    case KI_AS_FIXED64:
        rc = read_fixed(rest, sizeof(uint64_t), &entry.integer);
        break;
    case KI_AS_FIXED32:
        rc = read_fixed(rest, sizeof(uint32_t), &entry.integer);
        break;
    case KI_AS_LENGTH:
        rc = read_bytes(rest, &entry.bytes);
        break;
    default:
        break;
    }
    if (rc < 0)
        return rc;
    *out = entry;
    return 1;
}

int ki_as_entry_find(ki_str message, uint64_t number, struct ki_as_entry *out)
{
    struct ki_as_entry entry;
    struct ki_as_entry found = {0};
    int rc;
    while ((rc = ki_as_entry_next(&message, &entry)) > 0)
        if (entry.number == number)
            found = entry;
    if (rc == 0)
        *out = found;
    return rc;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static int give(json_t *value, json_t **out)
{
    *out = value;
    return value == NULL ? KI_ERR_NO_MEMORY : 0;
}

/* jansson says NULL to wrong UTF-8 and to no memory. JSON that is read has no NUL in it either. */
static int text_value(ki_str text, json_t **out)
{
    if (text.len > 0 && memchr(text.ptr, 0, text.len) != NULL)
        return KI_ERR_INVALID;
    const char *start = text.len == 0 ? "" : text.ptr;
    json_t *value = json_stringn(start, text.len);
    if (value != NULL)
        return give(value, out);
    value = json_stringn_nocheck(start, text.len);
    json_decref(value);
    return value == NULL ? KI_ERR_NO_MEMORY : KI_ERR_INVALID;
}

static int bytes_value(ki_str bytes, json_t **out)
{
    char *text = ki_malloc(KI_BASE64_ENCODED_BYTES(bytes.len) + 1);
    if (text == NULL)
        return KI_ERR_NO_MEMORY;
    size_t len = ki_base64_encode(bytes, text);
    int rc = give(json_stringn(text, len), out);
    ki_free(text);
    return rc;
}

/* Seconds and nanoseconds; nothing at all is no time. */
static int time_value(ki_str message, bool is_micro, json_t **out)
{
    struct ki_as_entry seconds;
    struct ki_as_entry nanos;
    char text[TIME_BYTES];
    struct tm date;
    if (message.len == 0) {
        *out = NULL;
        return 0;
    }
    if (ki_as_entry_find(message, 1, &seconds) < 0 || ki_as_entry_find(message, 2, &nanos) < 0)
        return KI_ERR_INVALID;
    time_t when = (time_t)(int64_t)seconds.integer;
    if (gmtime_r(&when, &date) == NULL || date.tm_year < -1900 || date.tm_year > 9999 - 1900 ||
        nanos.integer >= NANOS_A_SECOND)
        return KI_ERR_INVALID;
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &date);
    if (is_micro)
        len += (size_t)snprintf(text + len, sizeof(text) - len, ".%06u",
                                (unsigned)(nanos.integer / NANOS_A_MICRO));
    text[len++] = 'Z';
    return give(json_stringn(text, len), out);
}

static int int_or_string_value(ki_str message, json_t **out)
{
    struct ki_as_entry is_string;
    struct ki_as_entry number;
    struct ki_as_entry text;
    if (ki_as_entry_find(message, 1, &is_string) < 0 || ki_as_entry_find(message, 2, &number) < 0 ||
        ki_as_entry_find(message, 3, &text) < 0)
        return KI_ERR_INVALID;
    return is_string.integer != 0 ? text_value(text.bytes, out)
                                  : give(json_integer((json_int_t)number.integer), out);
}

static int quantity_value(ki_str message, json_t **out)
{
    struct ki_as_entry text;
    if (ki_as_entry_find(message, 1, &text) < 0)
        return KI_ERR_INVALID;
    return text_value(text.bytes.len == 0 ? KI_STR("0") : text.bytes, out);
}

static int json_value(ki_str message, json_t **out)
{
    struct ki_as_entry raw;
    json_error_t error;
    if (ki_as_entry_find(message, 1, &raw) < 0)
        return KI_ERR_INVALID;
    if (raw.bytes.len == 0)
        return give(json_null(), out);
    *out = json_loadb(raw.bytes.ptr, raw.bytes.len, JSON_DECODE_ANY, &error);
    if (*out != NULL)
        return 0;
    return json_error_code(&error) == json_error_out_of_memory ? KI_ERR_NO_MEMORY : KI_ERR_INVALID;
}

static int strings_value(ki_str message, json_t **out)
{
    struct ki_as_entry entry;
    json_t *list = json_array();
    int rc = list == NULL ? KI_ERR_NO_MEMORY : 1;
    while (rc > 0 && (rc = ki_as_entry_next(&message, &entry)) > 0) {
        json_t *text = NULL;
        int made = entry.wire == KI_AS_LENGTH ? text_value(entry.bytes, &text) : KI_ERR_INVALID;
        if (made < 0)
            rc = made;
        else if (json_array_append_new(list, text) < 0)
            rc = KI_ERR_NO_MEMORY;
    }
    if (rc == 0)
        *out = list;
    else
        json_decref(list);
    return rc;
}

static double as_double(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static int message_value(uint16_t type, ki_str message, json_t **out)
{
    switch (type) {
    case KI_AS_WIRE_STRING:
        return text_value(message, out);
    case KI_AS_WIRE_BYTES:
        return bytes_value(message, out);
    case KI_AS_WIRE_TIME:
    case KI_AS_WIRE_MICRO_TIME:
        return time_value(message, type == KI_AS_WIRE_MICRO_TIME, out);
    case KI_AS_WIRE_INT_OR_STRING:
        return int_or_string_value(message, out);
    case KI_AS_WIRE_QUANTITY:
        return quantity_value(message, out);
    case KI_AS_WIRE_JSON:
        return json_value(message, out);
    case KI_AS_WIRE_STRINGS:
        return strings_value(message, out);
    default:
        return KI_ERR_INVALID;
    }
}

int ki_as_wire_value(uint16_t type, const struct ki_as_entry *entry, json_t **out)
{
    if (entry->wire == KI_AS_LENGTH)
        return message_value(type, entry->bytes, out);
    if (entry->wire == KI_AS_VARINT && type == KI_AS_WIRE_INT)
        return give(json_integer((json_int_t)entry->integer), out);
    if (entry->wire == KI_AS_VARINT && type == KI_AS_WIRE_BOOL)
        return give(json_boolean(entry->integer != 0), out);
    if (entry->wire != KI_AS_FIXED64 || type != KI_AS_WIRE_DOUBLE)
        return KI_ERR_INVALID;
    double number = as_double(entry->integer);
    return isfinite(number) ? give(json_real(number), out) : KI_ERR_INVALID;
}

bool ki_as_wire_is_zero(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_string_length(value) == 0;
    case JSON_INTEGER:
        return json_integer_value(value) == 0;
    case JSON_REAL:
        return json_real_value(value) == 0;
    case JSON_FALSE:
    case JSON_NULL:
        return true;
    default:
        return false;
    }
}
