/* SPDX-License-Identifier: Apache-2.0 */
#include "http/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

enum { PLAIN_BYTES = 300 * 1000, BOMB_BYTES = 20 * 1000 * 1000 };

typedef struct taker {
    size_t bytes;
    size_t step_max;
    unsigned long sum; /* crc32 of everything */
    int steps;
    int pauses_always;
    int stop_after;
} taker;

static int take(const char *bytes, size_t n, void *user)
{
    taker *t = user;
    t->bytes += n;
    t->steps++;
    t->step_max = n > t->step_max ? n : t->step_max;
    t->sum = crc32(t->sum, (const Bytef *)bytes, (uInt)n);
    if (t->stop_after != 0 && t->steps >= t->stop_after)
        return KI_ERR_STOPPED;
    return t->pauses_always;
}

/* The caller frees the result. */
static char *compress_text(const char *text, size_t n, size_t *out_bytes)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t size = deflateBound(&stream, n);
    char *packed = malloc(size);
    assert_non_null(packed);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)n;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *out_bytes = size - stream.avail_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return packed;
}

static char *make_text(size_t n)
{
    char *text = malloc(n);
    unsigned state = 1;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        text[i] = (char)('a' + (state >> 24) % 16);
    }
    return text;
}

static void a_body_is_decompressed_in_any_split(void **state)
{
    (void)state;
    static const size_t splits[] = {1, 7, 1000, 16 * 1024, PLAIN_BYTES};
    char *text = make_text(PLAIN_BYTES);
    size_t packed_bytes = 0;
    char *packed = compress_text(text, PLAIN_BYTES, &packed_bytes);
    for (size_t s = 0; s < sizeof(splits) / sizeof(splits[0]); s++) {
        taker t = {0};
        ki_inflate *inflater = ki_inflate_new(take, &t);
        for (size_t at = 0; at < packed_bytes; at += splits[s]) {
            size_t n = packed_bytes - at < splits[s] ? packed_bytes - at : splits[s];
            assert_false(ki_inflate_is_complete(inflater));
            assert_int_equal(ki_inflate_feed(inflater, packed + at, n), 0);
        }
        assert_true(ki_inflate_is_complete(inflater));
        assert_int_equal(t.bytes, PLAIN_BYTES);
        assert_int_equal(t.sum, crc32(0, (const Bytef *)text, PLAIN_BYTES));
        assert_true(t.step_max <= KI_INFLATE_STEP_BYTES);
        ki_inflate_free(inflater);
    }
    free(packed);
    free(text);
}

static void a_decompression_bomb_is_delivered_in_small_steps(void **state)
{
    (void)state;
    char *text = calloc(1, BOMB_BYTES);
    size_t packed_bytes = 0;
    taker t = {.pauses_always = 1};
    char *packed = compress_text(text, BOMB_BYTES, &packed_bytes);
    ki_inflate *inflater = ki_inflate_new(take, &t);
    size_t live_bytes = failing_allocator_live_bytes();
    assert_true(packed_bytes < BOMB_BYTES / 500);
    int rc = ki_inflate_feed(inflater, packed, packed_bytes);
    while (rc == 1 && !ki_inflate_is_complete(inflater)) {
        int steps = t.steps;
        assert_true(failing_allocator_live_bytes() < live_bytes + (size_t)256 * 1024);
        rc = ki_inflate_go_on(inflater);
        assert_true(t.steps <= steps + 1);
    }
    assert_int_equal(t.bytes, BOMB_BYTES);
    assert_true(t.step_max <= KI_INFLATE_STEP_BYTES);
    ki_inflate_free(inflater);
    free(packed);
    free(text);
}

static void data_received_during_a_pause_waits(void **state)
{
    (void)state;
    char *text = make_text(PLAIN_BYTES);
    size_t packed_bytes = 0;
    taker t = {.pauses_always = 1};
    char *packed = compress_text(text, PLAIN_BYTES, &packed_bytes);
    ki_inflate *inflater = ki_inflate_new(take, &t);
    size_t half = packed_bytes / 2;
    assert_int_equal(ki_inflate_feed(inflater, packed, half), 1);
    assert_int_equal(ki_inflate_feed(inflater, packed + half, packed_bytes - half), 1);
    t.pauses_always = 0;
    assert_int_equal(ki_inflate_go_on(inflater), 0);
    assert_true(ki_inflate_is_complete(inflater));
    assert_int_equal(t.sum, crc32(0, (const Bytef *)text, PLAIN_BYTES));
    ki_inflate_free(inflater);
    free(packed);
    free(text);
}

static void a_body_that_is_not_gzip_is_refused(void **state)
{
    (void)state;
    taker t = {0};
    ki_inflate *inflater = ki_inflate_new(take, &t);
    assert_int_equal(ki_inflate_feed(inflater, "{\"kind\":\"List\"}", 15), KI_ERR_INVALID);
    assert_int_equal(t.bytes, 0);
    ki_inflate_free(inflater);
}

static void a_reader_that_cancels_gets_no_more(void **state)
{
    (void)state;
    char *text = make_text(PLAIN_BYTES);
    size_t packed_bytes = 0;
    taker t = {.stop_after = 2};
    char *packed = compress_text(text, PLAIN_BYTES, &packed_bytes);
    ki_inflate *inflater = ki_inflate_new(take, &t);
    assert_int_equal(ki_inflate_feed(inflater, packed, packed_bytes), KI_ERR_STOPPED);
    assert_int_equal(t.steps, 2);
    ki_inflate_free(inflater);
    free(packed);
    free(text);
}

static void when_out_of_memory_it_fails_and_nothing_leaks(void **state)
{
    (void)state;
    char *text = make_text(PLAIN_BYTES);
    size_t packed_bytes = 0;
    char *packed = compress_text(text, PLAIN_BYTES, &packed_bytes);
    int has_failed = 1;
    for (size_t n = 1; has_failed; n++) {
        taker t = {.pauses_always = 1};
        int rc = KI_ERR_NO_MEMORY;
        failing_allocator_fail_at(n);
        ki_inflate *inflater = ki_inflate_new(take, &t);
        if (inflater != NULL)
            rc = ki_inflate_feed(inflater, packed, packed_bytes);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 1);
        ki_inflate_free(inflater);
    }
    free(packed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_body_is_decompressed_in_any_split),
        WITH_MEMORY_CHECK(a_decompression_bomb_is_delivered_in_small_steps),
        WITH_MEMORY_CHECK(data_received_during_a_pause_waits),
        WITH_MEMORY_CHECK(a_body_that_is_not_gzip_is_refused),
        WITH_MEMORY_CHECK(a_reader_that_cancels_gets_no_more),
        WITH_MEMORY_CHECK(when_out_of_memory_it_fails_and_nothing_leaks),
    };
    return RUN_TESTS(tests);
}
