/* SPDX-License-Identifier: Apache-2.0 */
#include "json/scan.h"

#include <assert.h>
#include <kinformer/json.h>
#include <string.h>

#include "json/kernel.h"
#include "json/literal.h"
#include "json/walk.h"
#include "util/error.h"
#include "util/text/byte.h"

/* The maximum number of bytes passed to the kernel at once. The sink reserves only this much, so a small
 * value needs little memory. */
enum { SLICE_BYTES = KI_JSON_SINK_FEED_MAX };

void ki_json_scanner_init(ki_json_scanner *scanner, const ki_json_limits *limits)
{
    assert(scanner != NULL);
    *scanner = (ki_json_scanner){.kernel = ki_json_kernel_best(),
                                 .depth_max = KI_JSON_DEPTH_DEFAULT,
                                 .value_bytes_max = KI_JSON_VALUE_BYTES_DEFAULT};
    if (limits != NULL && limits->depth_max != 0)
        scanner->depth_max =
            limits->depth_max < KI_JSON_DEPTH_LIMIT ? limits->depth_max : KI_JSON_DEPTH_LIMIT;
    if (limits != NULL && limits->value_bytes_max != 0)
        scanner->value_bytes_max = limits->value_bytes_max;
    ki_depth_set_beyond(scanner, 0);
}

void ki_json_scan_begin(ki_json_scanner *scanner, ki_json_sink *sink)
{
    assert(scanner != NULL);
    scanner->sink = sink;
    scanner->carry = (ki_json_carry){.grammar.expects_value = 1};
    scanner->depth = 0;
    ki_depth_set_beyond(scanner, 0);
    memset(scanner->kinds, 0, sizeof(scanner->kinds));
    scanner->state = KI_SCAN_BEFORE;
    scanner->error = 0;
    scanner->is_lenient = 0;
    scanner->refused = 0;
    scanner->value_bytes = 0;
}

void ki_json_scan_begin_lenient(ki_json_scanner *scanner, ki_json_sink *sink)
{
    assert(scanner != NULL);
    ki_json_scan_begin(scanner, sink);
    scanner->is_lenient = 1;
}

static int fail(ki_json_scanner *scanner, int code)
{
    assert(code < 0);
    scanner->error = code;
    scanner->error_offset = scanner->offset;
    return code;
}

/* Skips white space and checks the first byte of the value. Numbers and words end before the first byte
 * that is not part of them, so without this check a value could have no bytes. */
static size_t begin_value(ki_json_scanner *scanner, const char *bytes, size_t n)
{
    assert(scanner->state == KI_SCAN_BEFORE && scanner->error == 0);
    size_t at = 0;
    while (at < n && ki_byte_is_space(bytes[at]))
        at++;
    scanner->offset += at;
    if (at == n)
        return at;
    char c = bytes[at];
    if (c == ']' || c == '}' || c == ',' || c == ':') {
        fail(scanner, KI_ERR_JSON_SYNTAX);
        return at;
    }
    scanner->scalar = c == '{' || c == '[' ? KI_SCALAR_NONE : c == '"' ? KI_SCALAR_STRING : KI_SCALAR_LITERAL;
    scanner->state = KI_SCAN_INSIDE;
    return at;
}

/* Checks the sink's limits. A value that exceeds them is still scanned to its end, so that the values after
 * it can be read. */
static int settle_sink(ki_json_scanner *scanner)
{
    ki_json_sink *sink = scanner->sink;
    if (sink == NULL || (sink->error == 0 && sink->text.len <= sink->bytes_max))
        return 0;
    if (sink->error != 0)
        return sink->error;
    sink->overflowed = 1;
    scanner->sink = NULL;
    return 0;
}

/* How many of `n` bytes may be scanned before the limits must be checked. A slice ends at most one byte after
 * the free space in the sink. Each byte adds at most one, so the limit is exceeded at the same byte for every
 * split. */
static size_t slice_of(const ki_json_scanner *scanner, size_t n, uint64_t left)
{
    assert(n > 0 && left > 0);
    const ki_json_sink *sink = scanner->sink;
    assert(sink == NULL || sink->text.len <= sink->bytes_max);
    n = n < SLICE_BYTES ? n : SLICE_BYTES;
    n = n < left ? n : (size_t)left;
    if (sink != NULL && n > sink->bytes_max - sink->text.len)
        n = sink->bytes_max - sink->text.len + 1;
    return n;
}

/* Fails with the kernel's error; if a lenient scan has passed over an earlier mistake, with that one. */
static int fail_scan(ki_json_scanner *scanner)
{
    int code = fail(scanner, scanner->refused != 0 ? scanner->refused : scanner->error);
    if (scanner->refused != 0)
        scanner->error_offset = scanner->refused_offset;
    return code;
}

/* Passes one slice to the kernel. Returns 0 or an error. *out_used is the number of bytes consumed. */
static int scan_slice(ki_json_scanner *scanner, const char *bytes, size_t n, size_t *out_used)
{
    *out_used = 0;
    assert(scanner->value_bytes <= scanner->value_bytes_max);
    /* The value has its maximum size: a number may end here, but not grow. */
    int is_full = scanner->value_bytes == scanner->value_bytes_max;
    if (is_full && scanner->scalar != KI_SCALAR_LITERAL)
        return fail(scanner, KI_ERR_JSON_TOO_LARGE);
    n = slice_of(scanner, n, is_full ? 1 : scanner->value_bytes_max - scanner->value_bytes);
    int rc = scanner->sink == NULL ? 0 : ki_json_sink_reserve(scanner->sink, n);
    if (rc < 0)
        return fail(scanner, rc);
    size_t used = scanner->kernel->scan(scanner, bytes, n);
    assert(used <= n);
    if (is_full && used > 0)
        return fail(scanner, KI_ERR_JSON_TOO_LARGE);
    *out_used = used;
    scanner->value_bytes += used;
    scanner->offset += used;
    if (scanner->error != 0)
        return fail_scan(scanner);
    rc = settle_sink(scanner);
    return rc < 0 ? fail(scanner, rc) : 0;
}

int ki_json_scan(ki_json_scanner *scanner, const char *bytes, size_t n, size_t *out_used)
{
    assert(scanner != NULL && out_used != NULL);
    size_t at = 0;
    if (scanner->error == 0 && scanner->state == KI_SCAN_BEFORE)
        at = begin_value(scanner, bytes, n);
    int rc = scanner->error;
    while (rc == 0 && scanner->state == KI_SCAN_INSIDE && at < n) {
        size_t used = 0;
        rc = scan_slice(scanner, bytes + at, n - at, &used);
        at += used;
    }
    assert(at <= n);
    *out_used = at;
    return rc < 0 ? rc : scanner->state == KI_SCAN_BEHIND;
}

int ki_json_scan_end(ki_json_scanner *scanner)
{
    assert(scanner != NULL);
    if (scanner->error != 0)
        return scanner->error;
    if (scanner->state != KI_SCAN_INSIDE)
        return scanner->state == KI_SCAN_BEHIND;
    if (scanner->scalar != KI_SCALAR_LITERAL || !ki_literal_may_end(scanner->carry.literal_state))
        return fail(scanner, KI_ERR_JSON_TRUNCATED);
    scanner->state = KI_SCAN_BEHIND;
    return 1;
}

int ki_json_scan_explain(const ki_json_scanner *scanner, int code, ki_error *err)
{
    assert(scanner != NULL);
    return ki_fail_at(err, code, scanner->error_offset, "%s at byte %llu", ki_error_text(code),
                      (unsigned long long)scanner->error_offset);
}

int ki_json_scan_explain_refused(const ki_json_scanner *scanner, ki_error *err)
{
    assert(scanner != NULL);
    return ki_fail_at(err, scanner->refused, scanner->refused_offset, "%s at byte %llu",
                      ki_error_text(scanner->refused), (unsigned long long)scanner->refused_offset);
}

int ki_json_scan_whole(ki_json_scanner *scanner, ki_str text)
{
    assert(scanner != NULL);
    assert(text.ptr != NULL || text.len == 0);
    size_t used = 0;
    int rc = ki_json_scan(scanner, text.ptr, text.len, &used);
    if (rc == 0)
        rc = ki_json_scan_end(scanner);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return fail(scanner, KI_ERR_JSON_TRUNCATED);
    for (; used < text.len; used++, scanner->offset++)
        if (!ki_byte_is_space(text.ptr[used]))
            return fail(scanner, KI_ERR_JSON_TRAILING);
    return 0;
}

int ki_json_validate(ki_str text, ki_error *err)
{
    if (text.ptr == NULL && text.len > 0)
        return ki_fail(err, KI_ERR_INVALID, "the text of %zu bytes is NULL", text.len);
    ki_json_scanner scanner;
    ki_json_scanner_init(&scanner, &(ki_json_limits){.value_bytes_max = SIZE_MAX});
    ki_json_scan_begin(&scanner, NULL);
    int rc = ki_json_scan_whole(&scanner, text);
    return rc < 0 ? ki_json_scan_explain(&scanner, rc, err) : 0;
}
