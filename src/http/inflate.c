/* SPDX-License-Identifier: Apache-2.0 */
#include "http/inflate.h"

#define ZLIB_CONST
#include <assert.h>
#include <zlib.h>

#include "util/alloc.h"

enum { GZIP_WINDOW = 15 + 16 };

struct ki_inflate {
    ki_inflate_cb take;
    void *user;
    z_stream stream;
    ki_buf waiting; /* compressed bytes behind a pause */
    int is_at_end;  /* of a member; another may follow */
    char step[KI_INFLATE_STEP_BYTES];
};

static void *allocate(void *user, unsigned count, unsigned size)
{
    (void)user;
    return ki_calloc(count, size);
}

static void release(void *user, void *memory)
{
    (void)user;
    ki_free(memory);
}

ki_inflate *ki_inflate_new(ki_inflate_cb take, void *user)
{
    ki_inflate *made = ki_calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    made->take = take;
    made->user = user;
    made->stream.zalloc = allocate;
    made->stream.zfree = release;
    ki_buf_init(&made->waiting, KI_INFLATE_WAITING_BYTES_MAX);
    if (inflateInit2(&made->stream, GZIP_WINDOW) != Z_OK) {
        ki_free(made);
        return NULL;
    }
    return made;
}

void ki_inflate_free(ki_inflate *inflater)
{
    if (inflater == NULL)
        return;
    (void)inflateEnd(&inflater->stream);
    ki_buf_fini(&inflater->waiting);
    ki_free(inflater);
}

/* One step. Returns what `take` says, or an error. */
static int open_step(ki_inflate *inflater)
{
    z_stream *stream = &inflater->stream;
    if (inflater->is_at_end) {
        if (inflateReset(stream) != Z_OK)
            return KI_ERR_INVALID;
        inflater->is_at_end = 0;
    }
    stream->next_out = (Bytef *)inflater->step;
    stream->avail_out = sizeof(inflater->step);
    int rc = inflate(stream, Z_NO_FLUSH);
    if (rc == Z_MEM_ERROR)
        return KI_ERR_NO_MEMORY;
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return KI_ERR_INVALID;
    inflater->is_at_end = rc == Z_STREAM_END;
    size_t n = sizeof(inflater->step) - stream->avail_out;
    return n == 0 ? 0 : inflater->take(inflater->step, n, inflater->user);
}

/* A step that is full may have left something inside zlib. */
static int has_more(const ki_inflate *inflater)
{
    return inflater->stream.avail_in > 0 || (inflater->stream.avail_out == 0 && !inflater->is_at_end);
}

static int open_all(ki_inflate *inflater)
{
    int rc = 0;
    do
        rc = open_step(inflater);
    while (rc == 0 && has_more(inflater));
    return rc;
}

/* What is left of the bytes after a pause is kept. */
int ki_inflate_feed(ki_inflate *inflater, const char *bytes, size_t n)
{
    assert(inflater != NULL);
    if (n == 0)
        return 0;
    if (inflater->waiting.len > 0) {
        int rc = ki_buf_append(&inflater->waiting, bytes, n);
        return rc < 0 ? rc : ki_inflate_go_on(inflater);
    }
    inflater->stream.next_in = (const Bytef *)bytes;
    inflater->stream.avail_in = (uInt)n;
    int rc = open_all(inflater);
    if (rc == 1 && inflater->stream.avail_in > 0) {
        int kept = ki_buf_append(&inflater->waiting, inflater->stream.next_in, inflater->stream.avail_in);
        if (kept < 0)
            return kept;
    }
    return rc;
}

int ki_inflate_go_on(ki_inflate *inflater)
{
    assert(inflater != NULL);
    ki_buf taken = inflater->waiting;
    ki_buf_init(&inflater->waiting, KI_INFLATE_WAITING_BYTES_MAX);
    inflater->stream.next_in = (const Bytef *)taken.data;
    inflater->stream.avail_in = (uInt)taken.len;
    int rc = 0;
    if (has_more(inflater))
        rc = open_all(inflater);
    if (rc == 1 && inflater->stream.avail_in > 0) {
        int kept = ki_buf_append(&inflater->waiting, inflater->stream.next_in, inflater->stream.avail_in);
        rc = kept < 0 ? kept : rc;
    }
    ki_buf_fini(&taken);
    return rc;
}

int ki_inflate_is_complete(const ki_inflate *inflater)
{
    assert(inflater != NULL);
    return inflater->is_at_end && inflater->waiting.len == 0;
}
