/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/leaf.h"

#include <assert.h>
#include <math.h>

#include "json/number.h"
#include "util/date.h"
#include "util/text/digits.h"
#include "util/text/quantity_text.h"
#include "util/units.h"

/* ---- small messages ------------------------------------------------------------------------------------ */

enum { SMALL_FIELDS_MAX = 3 };

/* A message with fields 1 to 3. If a field occurs several times, the last one counts. Bit n of `seen` is
 * set if field n has occurred. */
typedef struct small_message {
    ki_wire_value fields[SMALL_FIELDS_MAX + 1];
    unsigned seen;
} small_message;

/* `types` has the wire type of each field. */
static int read_small(ki_str message, const unsigned *types, unsigned count, small_message *out)
{
    assert(count > 0 && count <= SMALL_FIELDS_MAX);
    const uint8_t *at = (const uint8_t *)message.ptr;
    const uint8_t *end = at + message.len;
    *out = (small_message){0};
    while (at < end) {
        uint64_t tag = 0;
        at = ki_wire_varint(at, end, &tag);
        if (at == NULL || ki_wire_is_bad_tag(tag))
            return KI_ERR_PROTOBUF;
        uint32_t number = ki_wire_number_of(tag);
        if (number > count) {
            at = ki_wire_skip(at, end, tag);
        } else {
            if (ki_wire_type_of(tag) != types[number - 1])
                return KI_ERR_PROTOBUF;
            at = ki_wire_value_read(at, end, ki_wire_type_of(tag), &out->fields[number]);
            out->seen |= 1U << number;
        }
        if (at == NULL)
            return KI_ERR_PROTOBUF;
    }
    return 0;
}

static ki_str text_of(const small_message *message, unsigned number)
{
    assert(number > 0 && number <= SMALL_FIELDS_MAX);
    return (ki_str){(const char *)message->fields[number].at, message->fields[number].len};
}

int ki_proto_leaf_bytes(ki_str message, ki_str *out_bytes)
{
    const uint8_t *at = (const uint8_t *)message.ptr;
    if (message.len >= 2 && at[0] == (1 << 3 | KI_WIRE_BYTES) && at[1] == message.len - 2 && at[1] < 0x80) {
        *out_bytes = (ki_str){message.ptr + 2, message.len - 2}; /* the usual case: only this field */
        return 1;
    }
    static const unsigned types[] = {KI_WIRE_BYTES};
    small_message small;
    int rc = read_small(message, types, 1, &small);
    if (rc < 0)
        return rc;
    *out_bytes = text_of(&small, 1);
    return small.seen != 0;
}

/* ---- times --------------------------------------------------------------------------------------------- */

#define ZERO_TIME_SECONDS INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
/* Larger times are refused. Up to this limit, Go formats the year without an overflow; times of real
 * objects are far from it. */
#define SECONDS_MAX (INT64_C(1) << 55)

enum { TIME_BYTES_MAX = 48 };

typedef struct moment {
    int64_t seconds;
    int64_t micros;
    int is_there;
} moment;

/* Like Go, ignores the nanoseconds of a Time, and fractions of a microsecond in a MicroTime. */
static int read_moment(ki_str message, int has_micros, moment *out)
{
    static const unsigned types[] = {KI_WIRE_VARINT, KI_WIRE_VARINT};
    small_message small;
    int rc = read_small(message, types, 2, &small);
    if (rc < 0)
        return rc;
    int64_t nanos = has_micros ? (int32_t)(uint32_t)small.fields[2].number : 0;
    int64_t seconds = (int64_t)small.fields[1].number;
    if (seconds > SECONDS_MAX || seconds < -SECONDS_MAX)
        return KI_ERR_PROTOBUF;
    nanos -= nanos % 1000;
    const int64_t second_ns = (int64_t)KI_NS_PER_S;
    int64_t carry = nanos / second_ns - (nanos % second_ns < 0);
    *out = (moment){seconds + carry, (nanos - carry * second_ns) / (int64_t)KI_NS_PER_US, message.len > 0};
    return 0;
}

static int put_moment(ki_proto_out *out, const moment *time, int has_micros)
{
    assert(time->micros >= 0 && time->micros < 1000000);
    if (!time->is_there || (time->seconds == ZERO_TIME_SECONDS && time->micros == 0))
        return ki_proto_out_text(out, KI_STR("null"));
    int rc = ki_proto_out_reserve(out, TIME_BYTES_MAX);
    if (rc < 0)
        return rc;
    int64_t days = time->seconds / KI_SECONDS_PER_DAY - (time->seconds % KI_SECONDS_PER_DAY < 0);
    char *at = out->at;
    *at++ = '"';
    at = ki_date_put(at, ki_date_of_days(days));
    at = ki_time_of_day_put(at, (int32_t)(time->seconds - days * KI_SECONDS_PER_DAY));
    if (has_micros) {
        *at++ = '.';
        at = ki_digits_put(at, time->micros, 6);
    }
    *at++ = 'Z';
    *at++ = '"';
    assert(at <= out->at + TIME_BYTES_MAX);
    out->at = at;
    return 0;
}

static inline void put_two(char *at, uint32_t number)
{
    assert(number < 100);
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
}

static const char *date_of(ki_proto_out *out, uint64_t days)
{
    ki_proto_day *day = &out->days[days % KI_PROTO_DAYS];
    if (day->number != days) {
        (void)ki_date_put(day->text, ki_date_of_days((int64_t)days));
        day->number = days;
    }
    return day->text;
}

static void format_usual(ki_proto_out *out, uint64_t seconds)
{
    uint64_t days = seconds / KI_SECONDS_PER_DAY;
    uint32_t rest = (uint32_t)(seconds - days * KI_SECONDS_PER_DAY);
    memcpy(out->usual, "\"0000-00-00T00:00:00Z\"", 22);
    memcpy(out->usual + 1, date_of(out, days), 10);
    put_two(out->usual + 12, rest / 3600);
    put_two(out->usual + 15, rest / 60 % 60);
    put_two(out->usual + 18, rest % 60);
}

char *ki_proto_leaf_other_time(ki_proto_out *out, char *to, const uint8_t *message, size_t n)
{
    enum { USUAL_BYTES = 8 };
    /* Only {1: five bytes, 2: 0}, which are the times from 1978 to 3058. */
    if (n != USUAL_BYTES || message[0] != (1 << 3 | KI_WIRE_VARINT) || message[5] >= 0x80 ||
        message[5] == 0 || message[6] != (2 << 3 | KI_WIRE_VARINT) || message[7] != 0 ||
        (message[1] & message[2] & message[3] & message[4]) < 0x80)
        return NULL;
    uint64_t seconds = (uint64_t)(message[1] & 0x7f) | (uint64_t)(message[2] & 0x7f) << 7 |
                       (uint64_t)(message[3] & 0x7f) << 14 | (uint64_t)(message[4] & 0x7f) << 21 |
                       (uint64_t)message[5] << 28;
    format_usual(out, seconds);
    memcpy(&out->usual_message, message, USUAL_BYTES);
    return ki_proto_leaf_usual_time(out, to, message, n);
}

int ki_proto_leaf_time(ki_proto_out *out, ki_str message)
{
    moment time;
    int rc = ki_proto_out_reserve(out, TIME_BYTES_MAX);
    if (rc < 0)
        return rc;
    char *end = ki_proto_leaf_usual_time(out, out->at, (const uint8_t *)message.ptr, message.len);
    if (end != NULL) {
        out->at = end;
        return 0;
    }
    rc = read_moment(message, 0, &time);
    return rc < 0 ? rc : put_moment(out, &time, 0);
}

int ki_proto_leaf_micro_time(ki_proto_out *out, ki_str message)
{
    moment time;
    int rc = read_moment(message, 1, &time);
    return rc < 0 ? rc : put_moment(out, &time, 1);
}

/* ---- other values -------------------------------------------------------------------------------------- */

/* Whether the text is a short whole number with a usual suffix, in canonical form. */
static int is_plain_quantity(ki_str text)
{
    enum { DIGITS_MAX = 15, BINARY_DIGITS_MAX = 9 }; /* fewer than an int64 has */
    uint64_t number = 0;
    size_t i = 0;
    for (; i < text.len && i < DIGITS_MAX && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    if (i == 0 || text.ptr[0] == '0')
        return i == 1 && text.len == 1;
    if (i == text.len || (i + 1 == text.len && text.ptr[i] == 'm'))
        return number % 1000 != 0;
    return i <= BINARY_DIGITS_MAX && i + 2 == text.len && number % 1024 != 0 &&
           (text.ptr[i] == 'K' || text.ptr[i] == 'M' || text.ptr[i] == 'G') && text.ptr[i + 1] == 'i';
}

int ki_proto_leaf_usual_quantity(ki_str message, ki_str *out_text)
{
    return ki_proto_leaf_bytes(message, out_text) == 1 && is_plain_quantity(*out_text);
}

int ki_proto_leaf_quantity(ki_proto_out *out, ki_str message)
{
    ki_str text = {0};
    ki_quantity_text quantity;
    char canonical[KI_QUANTITY_TEXT_BYTES];
    int rc = ki_proto_leaf_bytes(message, &text);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return ki_proto_out_text(out, KI_STR("\"0\""));
    if (is_plain_quantity(text))
        return ki_proto_out_string(out, text);
    rc = ki_quantity_text_parse(text, &quantity);
    if (rc < 0)
        return KI_ERR_PROTOBUF;
    if (rc > 0)
        return ki_proto_out_string(out, text);
    ki_quantity_text_write(&quantity, canonical);
    return ki_proto_out_string(out, ki_str_of(canonical));
}

int ki_proto_leaf_int_or_string(ki_proto_out *out, ki_str message)
{
    static const unsigned types[] = {KI_WIRE_VARINT, KI_WIRE_VARINT, KI_WIRE_BYTES};
    small_message small;
    int rc = read_small(message, types, 3, &small);
    if (rc < 0)
        return rc;
    if (small.fields[1].number == 0)
        return ki_proto_out_int(out, (int32_t)(uint32_t)small.fields[2].number);
    return small.fields[1].number == 1 ? ki_proto_out_string(out, text_of(&small, 3)) : KI_ERR_PROTOBUF;
}

int ki_proto_leaf_double(ki_proto_out *out, uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof(number));
    if (!isfinite(number))
        return KI_ERR_PROTOBUF;
    int rc = ki_proto_out_reserve(out, KI_JSON_DOUBLE_BYTES);
    if (rc < 0)
        return rc;
    out->at += ki_json_double_format(number, out->at);
    return 0;
}
