/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded watch through the watch decoder, compared with jansson. */
#include <stdio.h>
#include <string.h>

#include "api/decode/watch_decoder.h"
#include "support/decode/decode_run.h"
#include "support/decode/recorded.h"
#include "support/unit.h"

typedef struct recorded_watch {
    const char *file;
    const char *resource;
} recorded_watch;

static const recorded_watch watches[] = {
    {"pods-watch.http", "pods"},
    {"pods-watchlist.http", "pods"},
    {"widgets-watch.http", "widgets.v1.example.com"},
    {"watch-410-in-stream.http", "pods"},
};

enum { WATCHES = sizeof(watches) / sizeof(watches[0]) };

static void run_watch(const recorded_subject *s, size_t bytes, decode_split split, decode_run *out)
{
    decode_run_form(out, KI_BODY_JSON_WATCH, s->plan, (ki_str){s->answer.body.ptr, bytes}, split);
}

static void every_recorded_watch_is_in_the_table(void **state)
{
    (void)state;
    assert_int_equal(recorded_count("*watch*.http") - recorded_count("error-*watch*.http"), WATCHES);
}

/* ---- decoded content ----------------------------------------------------------------------------------- */

/* Reads the body as a sequence of values. Returns the next one and moves *at past it; NULL at the end. */
static json_t *next_event(ki_str body, size_t *at)
{
    json_error_t error;
    while (*at < body.len && strchr(" \r\n\t", body.ptr[*at]) != NULL)
        (*at)++;
    if (*at == body.len)
        return NULL;
    json_t *event =
        json_loadb(body.ptr + *at, body.len - *at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &error);
    if (event == NULL)
        fail_msg("jansson: %s", error.text);
    *at += (size_t)error.position;
    return event;
}

static const char *text_at(const json_t *object, const char *a, const char *b, const char *c)
{
    const json_t *value = json_object_get(object, a);
    value = b == NULL ? value : json_object_get(value, b);
    value = c == NULL ? value : json_object_get(value, c);
    return value == NULL ? "" : json_string_value(value);
}

/* The log line of a bookmark or an error. */
static void print_line(const json_t *event, const char *type, char *out, size_t out_bytes)
{
    const json_t *object = json_object_get(event, "object");
    if (strcmp(type, "ERROR") == 0) {
        snprintf(out, out_bytes, "ERROR %d %s %s\n", (int)json_integer_value(json_object_get(object, "code")),
                 text_at(object, "reason", NULL, NULL), text_at(object, "message", NULL, NULL));
        return;
    }
    assert_string_equal(type, "BOOKMARK");
    const char *end = text_at(object, "metadata", "annotations", "k8s.io/initial-events-end");
    snprintf(out, out_bytes, "BOOKMARK %s%s\n", text_at(object, "metadata", "resourceVersion", NULL),
             strcmp(end, "true") == 0 ? " INITIAL" : "");
}

/* Compares one event with the line of the log at `at`. Returns the position after that line. */
static const char *assert_event(const json_t *event, const char *at, const ki_object *const *object,
                                size_t *used)
{
    char line[1000];
    const char *type = json_string_value(json_object_get(event, "type"));
    if (strcmp(type, "BOOKMARK") == 0 || strcmp(type, "ERROR") == 0) {
        print_line(event, type, line, sizeof(line));
    } else {
        json_t *expected = recorded_object(json_object_get(event, "object"), NULL);
        recorded_assert_object(*object, expected);
        json_decref(expected);
        snprintf(line, sizeof(line), "%s %s ", type, ki_object_key(*object));
        (*used)++;
    }
    if (strncmp(at, line, strlen(line)) != 0)
        fail_msg("%.100s… instead of %s", at, line);
    return strchr(at, '\n') + 1;
}

static void every_recorded_watch_decodes_to_what_jansson_sees(void **state)
{
    (void)state;
    for (size_t i = 0; i < WATCHES; i++) {
        recorded_subject s;
        decode_run run;
        recorded_subject_open(&s, watches[i].file, watches[i].resource);
        run_watch(&s, s.answer.body.len, (decode_split){0}, &run);
        const char *line = run.log;
        size_t at = 0, used = 0;
        for (json_t *event; (event = next_event(s.answer.body, &at)) != NULL; json_decref(event))
            line = assert_event(event, line, (const ki_object *const *)run.objects + used, &used);
        assert_int_equal(*line, 0);
        assert_int_equal(used, run.object_count);
        assert_int_equal(run.code, 0);
        decode_run_fini(&run);
        recorded_subject_close(&s);
    }
}

/* ---- splits and cuts ----------------------------------------------------------------------------------- */

static void pieces_make_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < WATCHES; i++) {
        recorded_subject s;
        recorded_subject_open(&s, watches[i].file, watches[i].resource);
        recorded_assert_pieces(&s, run_watch);
        recorded_subject_close(&s);
    }
}

/* The position in a stream. Each event is on its own line and gives one line of the log. */
typedef struct progress {
    size_t bytes;
    size_t line_start;
    const char *log_end; /* the end of the log lines of complete events */
    int is_inside;       /* within an event */
} progress;

static void advance(progress *at, ki_str body)
{
    char taken = body.ptr[at->bytes++];
    if (taken == '\n')
        at->line_start = at->bytes;
    at->is_inside = at->bytes > at->line_start;
    if (at->is_inside && at->bytes < body.len && body.ptr[at->bytes] == '\n') {
        at->is_inside = 0;
        at->log_end = strchr(at->log_end, '\n') + 1;
    }
}

static void assert_cut(const progress *at, const decode_run *cut, const decode_run *whole)
{
    size_t given = (size_t)(at->log_end - whole->log);
    int code = at->is_inside ? KI_ERR_JSON_TRUNCATED : 0;
    if (cut->code != code || (code != 0 && cut->error.offset != at->bytes))
        fail_msg("cut after %zu bytes: %s", at->bytes, cut->log);
    if (cut->log_len < given || memcmp(cut->log, whole->log, given) != 0)
        fail_msg("cut after %zu bytes, gave out: %s", at->bytes, cut->log);
    const char *rest = cut->log + given;
    if (code == 0 ? *rest != 0 : strncmp(rest, "FAILED", 6) != 0 || strchr(rest, '\n')[1] != 0)
        fail_msg("cut after %zu bytes, gave out: %s", at->bytes, cut->log);
}

static void a_watch_cut_anywhere_delivers_every_whole_event_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < WATCHES; i++) {
        recorded_subject s;
        decode_run whole, cut;
        recorded_subject_open(&s, watches[i].file, watches[i].resource);
        run_watch(&s, s.answer.body.len, (decode_split){0}, &whole);
        progress at = {.log_end = whole.log};
        for (; at.bytes < s.answer.body.len; advance(&at, s.answer.body)) {
            run_watch(&s, at.bytes, (decode_split){0}, &cut);
            assert_cut(&at, &cut, &whole);
            decode_run_fini(&cut);
        }
        assert_ptr_equal(at.log_end, whole.log + whole.log_len);
        decode_run_fini(&whole);
        recorded_subject_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_watch_is_in_the_table),
        cmocka_unit_test(every_recorded_watch_decodes_to_what_jansson_sees),
        cmocka_unit_test(pieces_make_no_difference),
        cmocka_unit_test(a_watch_cut_anywhere_delivers_every_whole_event_and_nothing_else),
    };
    return RUN_TESTS(tests);
}
