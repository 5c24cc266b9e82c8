/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/envelope.h"

#include <assert.h>

#include "util/text/byte.h"

/* The states, each with the input that is expected next. */
enum {
    AT_OBJECT,        /* { */
    AT_FIRST_NAME,    /* a name or } */
    AT_NAME,          /* a name */
    IN_NAME,          /* inside a name */
    AT_COLON,         /* : (the caller may call ki_envelope_take() before it) */
    AT_VALUE,         /* the value of a member */
    AT_FIRST_ELEMENT, /* a value or ] */
    AT_ELEMENT,       /* a value */
    IN_VALUE,         /* inside a value or an element */
    BEHIND_ELEMENT,   /* , or ] */
    BEHIND_VALUE,     /* , or } */
    BEHIND_OBJECT
};

void ki_envelope_init(ki_envelope *envelope, uint32_t depth_max)
{
    assert(envelope != NULL);
    *envelope = (ki_envelope){0};
    ki_json_scanner_init(
        &envelope->scanner,
        &(ki_json_limits){.depth_max = depth_max, .value_bytes_max = KI_ENVELOPE_VALUE_BYTES_MAX});
    ki_json_sink_init(&envelope->sink, KI_ENVELOPE_TEXT_BYTES_MAX);
    ki_envelope_begin(envelope);
}

void ki_envelope_fini(ki_envelope *envelope)
{
    assert(envelope != NULL);
    ki_json_sink_fini(&envelope->sink);
}

void ki_envelope_begin(ki_envelope *envelope)
{
    assert(envelope != NULL);
    envelope->state = AT_OBJECT;
    envelope->scanner.error = 0;
}

int ki_envelope_has_begun(const ki_envelope *envelope)
{
    assert(envelope != NULL);
    return envelope->state != AT_OBJECT;
}

void ki_envelope_take(ki_envelope *envelope, int take, const ki_projection *projection, size_t bytes_max)
{
    assert(envelope->state == AT_COLON);
    envelope->take = take;
    envelope->projection = projection;
    envelope->bytes_max = bytes_max;
}

static int fail(ki_envelope *envelope, int code)
{
    assert(code < 0);
    envelope->scanner.error = code;
    envelope->scanner.error_offset = envelope->scanner.offset;
    return code;
}

static void begin_scan(ki_envelope *envelope, int take, const ki_projection *projection)
{
    assert(envelope->state == IN_NAME || envelope->state == AT_VALUE || envelope->state == AT_FIRST_ELEMENT ||
           envelope->state == AT_ELEMENT);
    ki_json_sink *sink = take == KI_TAKE_SKIP ? NULL : &envelope->sink;
    ki_json_sink_limit(&envelope->sink,
                       envelope->state == IN_NAME ? KI_ENVELOPE_TEXT_BYTES_MAX : envelope->bytes_max);
    ki_json_sink_begin(&envelope->sink, projection);
    if (take == KI_TAKE_OBJECT)
        ki_json_scan_begin_lenient(&envelope->scanner, sink);
    else
        ki_json_scan_begin(&envelope->scanner, sink);
}

/* Processes a byte outside any value and moves to the next state. Returns a completed step, 0, or an
 * error. */
static int take_byte(ki_envelope *envelope, char c)
{
    switch (envelope->state) {
    case AT_OBJECT:
        envelope->state = AT_FIRST_NAME;
        return c == '{' ? KI_ENVELOPE_MORE : KI_ERR_JSON_SYNTAX;
    case AT_FIRST_NAME:
        envelope->state = BEHIND_OBJECT;
        return c == '}' ? KI_ENVELOPE_END : KI_ERR_JSON_SYNTAX;
    case AT_COLON:
        envelope->state = AT_VALUE;
        return c == ':' ? KI_ENVELOPE_MORE : KI_ERR_JSON_SYNTAX;
    case AT_VALUE: /* only the [ of an array taken by elements comes here; begins_value() takes all else */
        envelope->state = AT_FIRST_ELEMENT;
        return KI_ENVELOPE_MORE;
    case AT_FIRST_ELEMENT:
        envelope->state = BEHIND_VALUE;
        return c == ']' ? KI_ENVELOPE_ARRAY_END : KI_ERR_JSON_SYNTAX;
    case BEHIND_ELEMENT:
        envelope->state = c == ',' ? AT_ELEMENT : BEHIND_VALUE;
        return c == ',' ? KI_ENVELOPE_MORE : c == ']' ? KI_ENVELOPE_ARRAY_END : KI_ERR_JSON_SYNTAX;
    case BEHIND_VALUE:
        envelope->state = c == ',' ? AT_NAME : BEHIND_OBJECT;
        return c == ',' ? KI_ENVELOPE_MORE : c == '}' ? KI_ENVELOPE_END : KI_ERR_JSON_SYNTAX;
    default:
        return KI_ERR_JSON_SYNTAX;
    }
}

/* Whether a value begins with this byte, which is not white space; if so, prepares to scan it. */
static int begins_value(ki_envelope *envelope, char c)
{
    switch (envelope->state) {
    case AT_FIRST_NAME:
    case AT_NAME:
        if (c != '"')
            return 0;
        envelope->state = IN_NAME;
        begin_scan(envelope, KI_TAKE_VALUE, NULL);
        return 1;
    case AT_VALUE:
        if (c == '[' && envelope->take == KI_TAKE_ELEMENTS)
            return 0;
        if (envelope->take == KI_TAKE_ELEMENTS)
            begin_scan(envelope, KI_TAKE_VALUE, NULL);
        else
            begin_scan(envelope, envelope->take, envelope->projection);
        envelope->next_state = BEHIND_VALUE;
        break;
    case AT_FIRST_ELEMENT:
        if (c == ']')
            return 0;
        /* fall through */
    case AT_ELEMENT:
        begin_scan(envelope, KI_TAKE_OBJECT, envelope->projection);
        envelope->next_state = BEHIND_ELEMENT;
        break;
    default:
        return 0;
    }
    envelope->state = IN_VALUE;
    return 1;
}

/* Takes bytes until a value begins or a step is complete. */
static int feed_between(ki_envelope *envelope, const char *bytes, size_t n, size_t *out_used)
{
    size_t at = 0;
    int rc = 0;
    while (rc == 0 && at < n && envelope->state != IN_NAME && envelope->state != IN_VALUE) {
        if (!ki_byte_is_space(bytes[at]) && begins_value(envelope, bytes[at]))
            break;
        if (!ki_byte_is_space(bytes[at]))
            rc = take_byte(envelope, bytes[at]);
        if (rc >= 0) {
            at++;
            envelope->scanner.offset++;
        }
    }
    *out_used = at;
    return rc < 0 ? fail(envelope, rc) : rc;
}

/* The scanner has reached the end of a name, value or element. */
static int finish_value(ki_envelope *envelope)
{
    if (envelope->state == IN_NAME) {
        envelope->take = KI_TAKE_SKIP;
        envelope->state = AT_COLON;
        return KI_ENVELOPE_NAME;
    }
    envelope->state = envelope->next_state;
    return envelope->state == BEHIND_ELEMENT ? KI_ENVELOPE_ELEMENT : KI_ENVELOPE_VALUE;
}

int ki_envelope_feed(ki_envelope *envelope, const char *bytes, size_t n, size_t *out_used)
{
    assert(envelope != NULL && out_used != NULL);
    size_t at = 0;
    int rc = envelope->scanner.error;
    while (rc == 0 && at < n) {
        size_t used = 0;
        if (envelope->state != IN_NAME && envelope->state != IN_VALUE) {
            rc = feed_between(envelope, bytes + at, n - at, &used);
        } else {
            rc = ki_json_scan(&envelope->scanner, bytes + at, n - at, &used);
            if (rc == 1)
                rc = finish_value(envelope);
        }
        at += used;
    }
    *out_used = at;
    return rc;
}

int ki_envelope_end(ki_envelope *envelope)
{
    if (envelope->scanner.error != 0)
        return envelope->scanner.error;
    return ki_envelope_has_begun(envelope) ? fail(envelope, KI_ERR_JSON_TRUNCATED) : 0;
}
