/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/decode_run.h"

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
    require(run->error.code == code, "returns a different error than it describes");
    fprintf(run->out, "FAILED %s %llu %s\n", ki_error_name(code), (unsigned long long)run->error.offset,
            run->error.message);
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

static void add_list_step(decode_run *run, ki_decoded *decoded, int step)
{
    if (step == KI_LIST_OBJECT)
        add_object(run, "OBJECT", ki_decoded_take_object(decoded));
    if (step == KI_LIST_METADATA)
        add_metadata(run, &decoded->metadata);
    if (step == KI_LIST_REFUSED)
        add_refused(run, "", &decoded->refused);
    if (step == KI_LIST_END)
        fputs("END\n", run->out);
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

static void add_watch_step(decode_run *run, ki_decoded *decoded, int step)
{
    if (ki_event_has_object(step))
        add_object(run, type_name(step), ki_decoded_take_object(decoded));
    if (step == KI_CHANGE_BOOKMARK)
        add_bookmark(run, decoded->resource_version, decoded->ends_initial_events);
    if (step == KI_WATCH_ERROR)
        add_status(run, &decoded->status);
    if (step == KI_WATCH_REFUSED)
        add_refused_event(run, decoded->refused_type, &decoded->refused);
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void add_step(decode_run *run, ki_body_decoder *decoder, int step)
{
    int is_list = decoder->form == KI_BODY_JSON_LIST || decoder->form == KI_BODY_PROTO_LIST;
    (is_list ? add_list_step : add_watch_step)(run, ki_body_decoder_result(decoder), step);
}

static size_t next_piece(const decode_split *split, size_t left)
{
    size_t n = split->random != NULL ? 1 + (size_t)ki_random_below(split->random, RANDOM_PIECE_MAX)
               : split->piece == 0   ? left
                                     : split->piece;
    return n < left ? n : left;
}

/* Feeds one piece until it is used up. Returns 0, or the error. */
static int feed_piece(decode_run *run, ki_body_decoder *decoder, ki_str piece)
{
    size_t at = 0;
    int idle = 0;
    while (at < piece.len) {
        size_t used = SIZE_MAX;
        int step =
            ki_body_decoder_feed(decoder, (ki_str){piece.ptr + at, piece.len - at}, &used, &run->error);
        add_step(run, decoder, step);
        require(used <= piece.len - at, "uses more bytes than there are");
        require(step != 0 || used == piece.len - at, "asks for more before it has used all");
        if (step < 0)
            return step;
        idle = used == 0 ? idle + 1 : 0;
        require(idle < 2, "uses no byte");
        at += used;
    }
    return 0;
}

static int feed_all(decode_run *run, ki_body_decoder *decoder, ki_str body, decode_split split)
{
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < body.len;) {
        size_t n = next_piece(&split, body.len - at);
        rc = feed_piece(run, decoder, (ki_str){body.ptr + at, n});
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

void decode_run_decoder(decode_run *run, ki_body_decoder *decoder, ki_str body, decode_split split)
{
    ki_error ignored = {0};
    begin(run);
    int rc = feed_all(run, decoder, body, split);
    if (rc < 0)
        require(ki_body_decoder_end(decoder, &ignored) < 0, "ends successfully after a failure");
    else
        rc = ki_body_decoder_end(decoder, &run->error);
    end(run, rc);
}

void decode_run_form(decode_run *run, ki_body_form form, ki_object_plan *plan, ki_str body,
                     decode_split split)
{
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, form, plan);
    decode_run_decoder(run, &decoder, body, split);
    ki_body_decoder_fini(&decoder);
}
