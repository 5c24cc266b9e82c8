/* SPDX-License-Identifier: Apache-2.0 */
#include "support/json/scan_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds)
{
    if (!holds)
        abort();
}

void scan_run_init(scan_run *run)
{
    *run = (scan_run){0};
    ki_json_sink_init(&run->sink, KI_JSON_VALUE_BYTES_DEFAULT);
}

void scan_run_fini(scan_run *run)
{
    ki_json_sink_fini(&run->sink);
    free(run->protocol);
    *run = (scan_run){0};
}

static void note(scan_run *run, const void *bytes, size_t n)
{
    if (run->protocol_len + n > run->protocol_cap) {
        run->protocol_cap = 2 * (run->protocol_len + n) + 256;
        run->protocol = realloc(run->protocol, run->protocol_cap);
        require(run->protocol != NULL);
    }
    if (n > 0)
        memcpy(run->protocol + run->protocol_len, bytes, n);
    run->protocol_len += n;
}

static void note_captures(scan_run *run)
{
    for (size_t i = 0; i < KI_PROJECTION_CAPTURES_MAX; i++) {
        const ki_capture *capture = &run->sink.captures[i];
        char line[64];
        if (capture->place == KI_CAPTURE_NONE)
            continue;
        int len = snprintf(line, sizeof(line), "\n%zu:%d:%u-%u", i, (int)capture->place, capture->start,
                           capture->end);
        note(run, line, (size_t)len);
    }
}

static void begin_value(scan_run *run)
{
    ki_json_sink_begin(&run->sink, run->projection);
    if (run->is_lenient)
        ki_json_scan_begin_lenient(&run->scanner, &run->sink);
    else
        ki_json_scan_begin(&run->scanner, &run->sink);
}

static void note_refused(scan_run *run)
{
    if (run->refused != 0)
        return;
    run->refused = run->scanner.refused;
    run->refused_offset = run->scanner.refused_offset;
}

static void end_value(scan_run *run)
{
    require(run->scanner.value_bytes > 0 && run->scanner.sink == &run->sink);
    run->kept_at = run->protocol_len;
    run->kept_len = run->sink.text.len;
    note(run, run->sink.text.data, run->sink.text.len);
    note(run, "\n", 1);
    run->side_at = run->protocol_len;
    note(run, run->sink.side.data, run->sink.side.len);
    note_captures(run);
    memcpy(run->captures, run->sink.captures, sizeof(run->captures));
    run->rewritable = run->sink.rewritable;
    note_refused(run);
    note(run, "\n", 1);
    run->values++;
}

/* Returns 0 or an error. */
static int feed(scan_run *run, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t used = n + 1;
        int rc = ki_json_scan(&run->scanner, bytes + at, n - at, &used);
        require(rc <= 1 && used <= n - at && (rc != 0 || used == n - at));
        at += used;
        if (rc < 0) {
            require(ki_json_scan(&run->scanner, bytes + at, n - at, &used) == rc && used == 0);
            require(ki_json_scan_end(&run->scanner) == rc);
            return rc;
        }
        if (rc == 1) {
            end_value(run);
            begin_value(run);
        }
    }
    return 0;
}

static size_t next_piece(scan_split *split, size_t left)
{
    size_t n = split->first != 0 ? split->first : split->others;
    split->first = 0;
    if (split->random != NULL)
        n = 1 + ki_random_below(split->random, ki_random_below(split->random, 3) == 0 ? 150 : 8);
    return n == 0 || n > left ? left : n;
}

int scan_run_text(scan_run *run, ki_str text, scan_split split)
{
    ki_json_scanner_init(&run->scanner, &run->limits);
    if (run->kernel != NULL)
        run->scanner.kernel = run->kernel;
    run->values = 0;
    run->refused = 0;
    run->protocol_len = 0;
    begin_value(run);
    int rc = 0;
    for (size_t at = 0, n = 0; rc == 0 && at < text.len; at += n) {
        n = next_piece(&split, text.len - at);
        rc = feed(run, text.ptr + at, n);
    }
    if (rc == 0 && run->scanner.state != KI_SCAN_BEFORE) {
        rc = ki_json_scan_end(&run->scanner);
        require(rc != 0);
        if (rc == 1)
            end_value(run);
    }
    note_refused(run);
    run->code = rc < 0 ? rc : 0;
    run->offset = rc < 0 ? run->scanner.error_offset : run->scanner.offset;
    require(run->offset <= text.len && (rc < 0 || run->offset == text.len));
    return run->code;
}

static int leaves_framing_alone(int code)
{
    return code == KI_ERR_JSON_DEPTH || code == KI_ERR_JSON_ESCAPE || code == KI_ERR_JSON_UTF8 ||
           code == KI_ERR_JSON_CONTROL;
}

int scan_run_lenient_agrees(const scan_run *strict, const scan_run *lenient)
{
    if (lenient->refused != 0)
        return leaves_framing_alone(lenient->refused) && lenient->refused == strict->code &&
               lenient->refused_offset == strict->offset;
    return lenient->code == strict->code && lenient->offset == strict->offset &&
           lenient->values == strict->values;
}

static int same_refused(const scan_run *a, const scan_run *b)
{
    return a->refused == b->refused && (a->refused == 0 || a->refused_offset == b->refused_offset);
}

int scan_run_same(const scan_run *a, const scan_run *b)
{
    return a->code == b->code && a->offset == b->offset && a->values == b->values && same_refused(a, b) &&
           a->protocol_len == b->protocol_len &&
           (a->protocol_len == 0 || memcmp(a->protocol, b->protocol, a->protocol_len) == 0);
}

static int agrees(const scan_run *first, scan_run *other, ki_str text, scan_split split)
{
    scan_run_text(other, text, split);
    return scan_run_same(first, other);
}

int scan_run_all_agree(scan_run *first, scan_run *other, ki_str text, uint64_t seed)
{
    enum { SHORT_BYTES = 100 }; /* short enough for a run byte by byte */
    const ki_json_kernel *const *kernels = ki_json_kernels();
    ki_random random;
    size_t count = 0;
    int all = 1;
    ki_random_init(&random, seed);
    scan_run_text(first, text, (scan_split){0});
    for (; kernels[count] != NULL; count++) {
        other->kernel = kernels[count];
        all &= agrees(first, other, text, (scan_split){0});
        all &= agrees(first, other, text, (scan_split){.first = 1 + ki_random_below(&random, text.len + 1)});
    }
    other->kernel = kernels[ki_random_below(&random, count)];
    all &= agrees(first, other, text, (scan_split){.random = &random});
    if (text.len <= SHORT_BYTES)
        all &= agrees(first, other, text, (scan_split){.others = 1});
    return all;
}

ki_str scan_run_kept(const scan_run *run)
{
    return (ki_str){run->protocol + run->kept_at, run->kept_len};
}

ki_str scan_run_capture(const scan_run *run, size_t index)
{
    const ki_capture *capture = &run->captures[index];
    size_t from = capture->place == KI_CAPTURE_SIDE ? run->side_at : run->kept_at;
    if (capture->place == KI_CAPTURE_NONE)
        return (ki_str){0};
    return (ki_str){run->protocol + from + capture->start, capture->end - capture->start};
}
