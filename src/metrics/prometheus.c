/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/prometheus.h"

#include <assert.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------------- */

enum { DIGITS_MAX = 20, PLAIN_EXPONENT_MIN = -4, PLAIN_EXPONENT_END = 6 };

/* d.ddd × 10^exponent, without trailing zeros; 0 has one digit. */
typedef struct decimal {
    char digits[DIGITS_MAX];
    int count;
    int exponent;
} decimal;

static decimal decimal_of(uint64_t value, unsigned decimals)
{
    char backwards[DIGITS_MAX];
    int count = 0;
    int zeros = 0; /* trailing zeros */
    do {
        char digit = (char)('0' + value % 10);
        if (digit == '0' && zeros == count)
            zeros++;
        backwards[count++] = digit;
        value /= 10;
    } while (value > 0);
    if (zeros == count)
        return (decimal){.digits = "0", .count = 1, .exponent = 0};
    decimal d = {.count = count - zeros, .exponent = count - 1 - (int)decimals};
    for (int i = 0; i < d.count; i++)
        d.digits[i] = backwards[count - 1 - i];
    assert(count <= DIGITS_MAX && d.digits[0] != '0' && d.digits[d.count - 1] != '0');
    return d;
}

static size_t put_plain(const decimal *d, char *out)
{
    size_t at = 0;
    if (d->exponent < 0) {
        out[at++] = '0';
        out[at++] = '.';
    }
    for (int place = -1; place > d->exponent; place--)
        out[at++] = '0';
    for (int i = 0; i < d->count; i++) {
        if (i > 0 && i == d->exponent + 1)
            out[at++] = '.';
        out[at++] = d->digits[i];
    }
    for (int place = d->count; place <= d->exponent; place++)
        out[at++] = '0';
    return at;
}

static size_t put_with_exponent(const decimal *d, char *out)
{
    size_t at = 0;
    for (int i = 0; i < d->count; i++) {
        if (i == 1)
            out[at++] = '.';
        out[at++] = d->digits[i];
    }
    int magnitude = d->exponent < 0 ? -d->exponent : d->exponent;
    assert(magnitude < 100);
    out[at++] = 'e';
    out[at++] = d->exponent < 0 ? '-' : '+';
    out[at++] = (char)('0' + magnitude / 10);
    out[at++] = (char)('0' + magnitude % 10);
    return at;
}

size_t ki_prometheus_number(uint64_t value, unsigned decimals, char out[KI_PROMETHEUS_NUMBER_BYTES])
{
    decimal d = decimal_of(value, decimals);
    return put_plain(&d, out);
}

size_t ki_prometheus_bound(uint64_t value, unsigned decimals, char out[KI_PROMETHEUS_NUMBER_BYTES])
{
    decimal d = decimal_of(value, decimals);
    int is_plain = d.exponent >= PLAIN_EXPONENT_MIN && d.exponent < PLAIN_EXPONENT_END;
    return is_plain ? put_plain(&d, out) : put_with_exponent(&d, out);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* Keeps the first error, so that callers need not check after each word. */
typedef struct writer {
    ki_buf *out;
    int rc;
} writer;

static void put(writer *w, ki_str text)
{
    if (w->rc == 0)
        w->rc = ki_buf_append_str(w->out, text);
}

static void put_byte(writer *w, char byte)
{
    put(w, (ki_str){&byte, 1});
}

static int is_between(char byte, unsigned char low, unsigned char high)
{
    return (unsigned char)byte >= low && (unsigned char)byte <= high;
}

/* The length of the UTF-8 character at the beginning of `text`; 0 if there is none. The bounds of the
 * second byte exclude overlong forms, surrogates and code points beyond U+10FFFF. */
static size_t character_length(ki_str text)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, length;
    } shapes[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (is_between(text.ptr[0], 0, 0x7f))
        return 1;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (!is_between(text.ptr[0], shapes[i].first_low, shapes[i].first_high))
            continue;
        if (text.len < shapes[i].length ||
            !is_between(text.ptr[1], shapes[i].second_low, shapes[i].second_high))
            return 0;
        for (size_t k = 2; k < shapes[i].length; k++)
            if (!is_between(text.ptr[k], 0x80, 0xbf))
                return 0;
        return shapes[i].length;
    }
    return 0;
}

/* The number of bytes at the beginning that need no escapes; usually all bytes. */
static size_t plain_length(ki_str text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] >= ' ' && text.ptr[n] <= '~' && text.ptr[n] != '"' &&
           text.ptr[n] != '\\')
        n++;
    return n;
}

/* Quotes are escaped in labels, but not in help texts. */
static void put_escaped(writer *w, ki_str text, int escape_quotes)
{
    while (text.len > 0) {
        size_t plain = plain_length(text);
        if (plain > 0) {
            put(w, (ki_str){text.ptr, plain});
            text = (ki_str){text.ptr + plain, text.len - plain};
            continue;
        }
        size_t length = character_length(text);
        char c = text.ptr[0];
        if (length == 0)
            put(w, KI_STR("\xef\xbf\xbd"));
        else if (c == '\n')
            put(w, KI_STR("\\n"));
        else if (c == '\\' || (c == '"' && escape_quotes))
            put(w, (ki_str){c == '"' ? "\\\"" : "\\\\", 2});
        else
            put(w, (ki_str){text.ptr, length});
        size_t taken = length == 0 ? 1 : length;
        assert(taken <= text.len);
        text = (ki_str){text.ptr + taken, text.len - taken};
    }
}

int ki_prometheus_labels(ki_buf *out, const ki_metric_desc *desc, const ki_str *values)
{
    writer w = {.out = out};
    for (size_t i = 0; i < KI_METRIC_LABELS_MAX && desc->labels[i] != NULL; i++) {
        if (i > 0)
            put_byte(&w, ',');
        put(&w, ki_str_of(desc->labels[i]));
        put(&w, KI_STR("=\""));
        put_escaped(&w, values[i], 1);
        put_byte(&w, '"');
    }
    return w.rc;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

/* Writes everything on a line except the number: name, suffix, labels, and "le" unless it is empty. */
static void put_head(writer *w, const ki_metric_child *child, ki_str suffix, ki_str le)
{
    put(w, child->family->node.key);
    put(w, suffix);
    if (child->node.key.len > 0 || le.len > 0) {
        put_byte(w, '{');
        put(w, child->node.key);
        if (child->node.key.len > 0 && le.len > 0)
            put_byte(w, ',');
        if (le.len > 0) {
            put(w, KI_STR("le=\""));
            put(w, le);
            put_byte(w, '"');
        }
        put_byte(w, '}');
    }
    put_byte(w, ' ');
}

static void put_number(writer *w, uint64_t value, unsigned decimals)
{
    char number[KI_PROMETHEUS_NUMBER_BYTES];
    put(w, (ki_str){number, ki_prometheus_number(value, decimals, number)});
    put_byte(w, '\n');
}

static void put_counter(writer *w, ki_metric_child *child)
{
    const ki_counter *counter = ki_metric_cell(child);
    assert(child->family->desc->type == KI_METRIC_COUNTER);
    put_head(w, child, (ki_str){0}, (ki_str){0});
    put_number(w, atomic_load_explicit(&counter->value, memory_order_relaxed), child->family->desc->unit);
}

static void put_gauge(writer *w, ki_metric_child *child)
{
    const ki_gauge *gauge = ki_metric_cell(child);
    assert(child->family->desc->type == KI_METRIC_GAUGE);
    int64_t value = gauge->read != NULL ? gauge->read(gauge->user)
                                        : atomic_load_explicit(&gauge->value, memory_order_relaxed);
    put_head(w, child, (ki_str){0}, (ki_str){0});
    if (value == INT64_MAX) {
        put(w, KI_STR("+Inf\n"));
        return;
    }
    if (value < 0)
        put_byte(w, '-');
    put_number(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, child->family->desc->unit);
}

/* Each bucket is read once and added up here, and the count is the total of the last bucket. So they always
 * agree, although other threads keep counting. */
static void put_histogram(writer *w, ki_metric_child *child)
{
    const ki_histogram *histogram = ki_metric_cell(child);
    const ki_metric_bounds *bounds = histogram->bounds;
    unsigned decimals = child->family->desc->unit;
    uint64_t sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    uint64_t count = 0;
    assert(child->family->desc->type == KI_METRIC_HISTOGRAM && bounds == child->family->desc->bounds);
    for (size_t i = 0; i <= bounds->count; i++) {
        char bound[KI_PROMETHEUS_NUMBER_BYTES];
        ki_str le = KI_STR("+Inf");
        if (i < bounds->count)
            le = (ki_str){bound, ki_prometheus_bound(bounds->upper[i], decimals, bound)};
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        put_head(w, child, KI_STR("_bucket"), le);
        put_number(w, count, 0);
    }
    put_head(w, child, KI_STR("_sum"), (ki_str){0});
    put_number(w, sum, decimals);
    put_head(w, child, KI_STR("_count"), (ki_str){0});
    put_number(w, count, 0);
}

static void put_comment(writer *w, const char *keyword, ki_str name, ki_str text)
{
    put(w, KI_STR("# "));
    put(w, ki_str_of(keyword));
    put_byte(w, ' ');
    put(w, name);
    put_byte(w, ' ');
    put_escaped(w, text, 0);
    put_byte(w, '\n');
}

static const struct {
    const char *name;
    void (*put_child)(writer *w, ki_metric_child *child);
} types[] = {
    [KI_METRIC_COUNTER] = {"counter", put_counter},
    [KI_METRIC_GAUGE] = {"gauge", put_gauge},
    [KI_METRIC_HISTOGRAM] = {"histogram", put_histogram},
};

int ki_prometheus_head(ki_buf *out, const ki_metric_family *family)
{
    writer w = {.out = out};
    put_comment(&w, "HELP", family->node.key, ki_str_of(family->desc->help));
    put_comment(&w, "TYPE", family->node.key, ki_str_of(types[family->desc->type].name));
    return w.rc;
}

int ki_prometheus_child(ki_buf *out, ki_metric_child *child)
{
    writer w = {.out = out};
    types[child->family->desc->type].put_child(&w, child);
    return w.rc;
}
