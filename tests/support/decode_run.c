/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode_run.h"

#include <stdlib.h>
#include <string.h>

enum { RANDOM_PIECE_MAX = 200 };

static void require(int holds, const char *promise)
{
    if (holds)
        return;
    fprintf(stderr, "decode_run: the decoder %s\n", promise);
    abort();
}

void decode_run_fini(decode_run *run)
{
    for (size_t i = 0; i < run->object_count; i++)
        ki_object_unref(run->objects[i]);
    free(run->objects);
    free(run->log);
    *run = (decode_run){0};
}

static void begin(decode_run *run)
{
    *run = (decode_run){0};
    run->out = open_memstream(&run->log, &run->log_len);
    require(run->out != NULL, "has no memory left for the log");
}

static void print(decode_run *run, ki_str text)
{
    fwrite(text.len > 0 ? text.ptr : "", 1, text.len, run->out);
}

static void add_object(decode_run *run, const char *step, ki_object *object)
{
    require(object != NULL, "returns an invalid object");
    if (run->object_count == run->object_cap) {
        run->object_cap = run->object_cap == 0 ? 16 : run->object_cap * 2;
        run->objects = realloc(run->objects, run->object_cap * sizeof(*run->objects));
        require(run->objects != NULL, "has no memory left for the objects");
    }
    run->objects[run->object_count++] = object;
    fprintf(run->out, "%s %s ", step, ki_object_key(object));
    print(run, ki_object_json(object));
    fputc('\n', run->out);
}

static void add_refused(decode_run *run, const char *type, const ki_refused *refused)
{
    run->refused_count++;
    fprintf(run->out, "REFUSED %s", type);
    print(run, ki_buf_str(&refused->key));
    fprintf(run->out, " %s %s\n", ki_error_name(refused->error.code), refused->error.message);
}

static void add_failure(decode_run *run, int code)
{
    run->code = code;
    require(run->error.code == code, "returns another error than it explains");
    fprintf(run->out, "FAILED %s %llu %s\n", ki_error_name(code), (unsigned long long)run->error.offset,
            run->error.message);
}

static size_t next_piece(const decode_split *split, size_t left)
{
    size_t n = split->random != NULL ? 1 + (size_t)ki_random_below(split->random, RANDOM_PIECE_MAX)
               : split->piece == 0   ? left
                                     : split->piece;
    return n < left ? n : left;
}

/* Feeds one piece until nothing is left of it. Returns 0, or the error. */
typedef int (*feed_cb)(decode_run *run, const char *bytes, size_t n, size_t *out_used, void *decoder);

static int feed_piece(decode_run *run, ki_str piece, feed_cb feed, void *decoder)
{
    size_t at = 0;
    int idle = 0;
    while (at < piece.len) {
        size_t used = SIZE_MAX;
        int step = feed(run, piece.ptr + at, piece.len - at, &used, decoder);
        require(used <= piece.len - at, "takes more bytes than there are");
        require(step != 0 || used == piece.len - at, "asks for more before it has used all");
        if (step < 0)
            return step;
        idle = used == 0 ? idle + 1 : 0;
        require(idle < 2, "takes no byte");
        at += used;
    }
    return 0;
}

static int feed_all(decode_run *run, ki_str body, decode_split split, feed_cb feed, void *decoder)
{
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < body.len;) {
        size_t n = next_piece(&split, body.len - at);
        rc = feed_piece(run, (ki_str){body.ptr + at, n}, feed, decoder);
        at += n;
    }
    return rc;
}

static void end(decode_run *run, int code)
{
    if (code < 0)
        add_failure(run, code);
    require(fclose(run->out) == 0, "has no memory left for the log");
    run->out = NULL;
}

/* A decoder of one of the four kinds. */
typedef struct subject {
    void *decoder;
    feed_cb feed;
    int (*end)(void *decoder, ki_error *err);
} subject;

static void run_all(decode_run *run, subject s, ki_str body, decode_split split)
{
    ki_error ignored = {0};
    begin(run);
    int rc = feed_all(run, body, split, s.feed, s.decoder);
    if (rc < 0)
        require(s.end(s.decoder, &ignored) < 0, "ends well after a failure");
    else
        rc = s.end(s.decoder, &run->error);
    end(run, rc);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static void add_metadata(decode_run *run, const ki_list_metadata *metadata)
{
    fputs("METADATA ", run->out);
    print(run, metadata->resource_version);
    fputs(" continue \"", run->out);
    print(run, metadata->continue_token);
    fprintf(run->out, "\" remaining %lld\n", (long long)metadata->remaining_items);
}

static void add_list_step(decode_run *run, int step, const ki_list_metadata *metadata,
                          const ki_refused *refused)
{
    if (step == KI_LIST_METADATA)
        add_metadata(run, metadata);
    if (step == KI_LIST_REFUSED)
        add_refused(run, "", refused);
    if (step == KI_LIST_END)
        fputs("END\n", run->out);
}

static int feed_list(decode_run *run, const char *bytes, size_t n, size_t *out_used, void *decoder)
{
    ki_list_decoder *list = decoder;
    int step = ki_list_decoder_feed(list, bytes, n, out_used, &run->error);
    if (step == KI_LIST_OBJECT)
        add_object(run, "OBJECT", ki_list_decoder_take_object(list));
    add_list_step(run, step, &list->metadata, &list->refused);
    return step;
}

static int end_list(void *decoder, ki_error *err)
{
    return ki_list_decoder_end(decoder, err);
}

void decode_run_list(decode_run *run, ki_list_decoder *decoder, ki_str body, decode_split split)
{
    run_all(run, (subject){decoder, feed_list, end_list}, body, split);
}

/* ---- watches ------------------------------------------------------------------------------------------- */

static const char *type_name(int type)
{
    static const char *const names[] = {
        [KI_WATCH_MORE] = "NONE",        [KI_CHANGE_ADDED] = "ADDED",       [KI_CHANGE_UPDATED] = "MODIFIED",
        [KI_CHANGE_DELETED] = "DELETED", [KI_CHANGE_BOOKMARK] = "BOOKMARK",
    };
    return type == KI_WATCH_ERROR ? "ERROR" : names[type];
}

static void add_bookmark(decode_run *run, ki_str version, int ends_initial_events)
{
    fputs("BOOKMARK ", run->out);
    print(run, version);
    fputs(ends_initial_events ? " INITIAL\n" : "\n", run->out);
}

static void add_status(decode_run *run, const ki_status *status)
{
    fprintf(run->out, "ERROR %d ", status->http_status);
    print(run, status->reason);
    fputc(' ', run->out);
    print(run, status->message);
    if (status->retry_after_seconds > 0)
        fprintf(run->out, " retry after %d", status->retry_after_seconds);
    for (size_t i = 0; i < status->cause_count; i++) {
        fputs(" [", run->out);
        print(run, status->causes[i].cause_type);
        fputs("] ", run->out);
        print(run, status->causes[i].message);
    }
    fputc('\n', run->out);
}

static void add_refused_event(decode_run *run, int refused_type, const ki_refused *refused)
{
    char type[16];
    snprintf(type, sizeof(type), "%s ", type_name(refused_type));
    add_refused(run, type, refused);
}

static int feed_watch(decode_run *run, const char *bytes, size_t n, size_t *out_used, void *decoder)
{
    ki_watch_decoder *watch = decoder;
    int step = ki_watch_decoder_feed(watch, bytes, n, out_used, &run->error);
    if (step == KI_CHANGE_ADDED || step == KI_CHANGE_UPDATED || step == KI_CHANGE_DELETED)
        add_object(run, type_name(step), ki_watch_decoder_take_object(watch));
    if (step == KI_CHANGE_BOOKMARK)
        add_bookmark(run, watch->resource_version, watch->ends_initial_events);
    if (step == KI_WATCH_ERROR)
        add_status(run, &watch->status);
    if (step == KI_WATCH_REFUSED)
        add_refused_event(run, watch->refused_type, &watch->refused);
    return step;
}

static int end_watch(void *decoder, ki_error *err)
{
    return ki_watch_decoder_end(decoder, err);
}

void decode_run_watch(decode_run *run, ki_watch_decoder *decoder, ki_str body, decode_split split)
{
    run_all(run, (subject){decoder, feed_watch, end_watch}, body, split);
}

/* ---- protobuf ------------------------------------------------------------------------------------------ */

static int feed_proto_list(decode_run *run, const char *bytes, size_t n, size_t *out_used, void *decoder)
{
    ki_proto_list *list = decoder;
    int step = ki_proto_list_feed(list, bytes, n, out_used, &run->error);
    if (step == KI_LIST_OBJECT)
        add_object(run, "OBJECT", ki_proto_list_take_object(list));
    add_list_step(run, step, &list->metadata, &list->refused);
    return step;
}

static int end_proto_list(void *decoder, ki_error *err)
{
    return ki_proto_list_end(decoder, err);
}

void decode_run_proto_list(decode_run *run, ki_proto_list *decoder, ki_str body, decode_split split)
{
    run_all(run, (subject){decoder, feed_proto_list, end_proto_list}, body, split);
}

static int feed_proto_watch(decode_run *run, const char *bytes, size_t n, size_t *out_used, void *decoder)
{
    ki_proto_watch *watch = decoder;
    int step = ki_proto_watch_feed(watch, bytes, n, out_used, &run->error);
    if (step == KI_CHANGE_ADDED || step == KI_CHANGE_UPDATED || step == KI_CHANGE_DELETED)
        add_object(run, type_name(step), ki_proto_watch_take_object(watch));
    if (step == KI_CHANGE_BOOKMARK)
        add_bookmark(run, watch->resource_version, watch->ends_initial_events);
    if (step == KI_WATCH_ERROR)
        add_status(run, &watch->status);
    if (step == KI_WATCH_REFUSED)
        add_refused_event(run, watch->refused_type, &watch->refused);
    return step;
}

static int end_proto_watch(void *decoder, ki_error *err)
{
    return ki_proto_watch_end(decoder, err);
}

void decode_run_proto_watch(decode_run *run, ki_proto_watch *decoder, ki_str body, decode_split split)
{
    run_all(run, (subject){decoder, feed_proto_watch, end_proto_watch}, body, split);
}
