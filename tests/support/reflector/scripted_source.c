/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reflector/scripted_source.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static void log_request(scripted_source *source, const ki_list_options *options)
{
    text_log *log = &source->requests;
    text_log_add(log, "%s", !options->watch ? "LIST" : options->send_initial_events ? "STREAM" : "WATCH");
    if (options->continue_token.len > 0)
        text_log_add(log, " continue=%.*s", KI_STR_ARGS(options->continue_token));
    else
        text_log_add(log, " rv=%.*s", KI_STR_ARGS(options->resource_version));
    if (options->resource_version_match.len > 0)
        text_log_add(log, " match=%.*s", KI_STR_ARGS(options->resource_version_match));
    if (!options->watch)
        text_log_add(log, " limit=%llu", (unsigned long long)options->limit);
    if (options->label_selector.len > 0)
        text_log_add(log, " labels=%.*s", KI_STR_ARGS(options->label_selector));
    if (options->field_selector.len > 0)
        text_log_add(log, " fields=%.*s", KI_STR_ARGS(options->field_selector));
    if (options->allow_bookmarks)
        text_log_add(log, " bookmarks");
    if (options->wire == KI_WIRE_PROTOBUF)
        text_log_add(log, " protobuf");
    text_log_add(log, "\n");
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    scripted_source *source = user;
    int rc = source->begin_result;
    source->begin_result = 0;
    log_request(source, options);
    if (rc < 0)
        return rc;
    if (options->limit == 1) {
        source->probe = answer;
        return 0;
    }
    source->answer = answer;
    source->timeout_seconds = options->timeout_seconds;
    source->depth++;
    if (source->depth > source->depth_max)
        source->depth_max = source->depth;
    if (source->at_once != NULL)
        source->at_once(source, options, source->user);
    source->depth--;
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    scripted_source *source = user;
    text_log_add(&source->requests, answer == source->probe ? "cancel probe\n" : "cancel\n");
    if (answer == source->probe)
        source->probe = NULL;
    else
        source->answer = NULL;
}

static void resume(ki_answer *answer, void *user)
{
    scripted_source *source = user;
    assert_ptr_equal(answer, source->answer);
    text_log_add(&source->requests, "resume\n");
}

static void release(void *user)
{
    scripted_source *source = user;
    source->releases++;
}

void scripted_source_init(scripted_source *source)
{
    *source = (scripted_source){0};
}

void scripted_source_fini(scripted_source *source)
{
    text_log_free(&source->requests);
}

ki_list_watch scripted_source_list_watch(scripted_source *source)
{
    return (ki_list_watch){
        .begin = begin, .cancel = cancel, .resume = resume, .release = release, .user = source};
}

void scripted_head(scripted_source *source, int status, uint32_t retry_after_seconds)
{
    assert_non_null(source->answer);
    ki_answer_head(source->answer, status, retry_after_seconds);
}

void scripted_content_type(scripted_source *source, const char *type)
{
    assert_non_null(source->answer);
    ki_answer_set_content_type(source->answer, ki_str_of(type));
}

static int give_bytes(ki_answer *answer, ki_str bytes, int is_bytewise)
{
    int rc = 0;
    if (!is_bytewise)
        return ki_answer_body(answer, bytes.ptr, bytes.len);
    for (size_t i = 0; i < bytes.len && rc >= 0; i++)
        rc = ki_answer_body(answer, bytes.ptr + i, 1);
    return rc;
}

static int give(ki_answer *answer, const char *text, int is_bytewise)
{
    return give_bytes(answer, ki_str_of(text), is_bytewise);
}

void scripted_bytes(scripted_source *source, ki_str bytes)
{
    assert_non_null(source->answer);
    source->last_result = give_bytes(source->answer, bytes, source->is_bytewise);
}

void scripted_body(scripted_source *source, const char *text)
{
    assert_non_null(source->answer);
    source->last_result = give(source->answer, text, source->is_bytewise);
}

void scripted_cut(scripted_source *source, ki_reason reason)
{
    ki_answer *answer = source->answer;
    source->answer = NULL;
    if (answer != NULL) /* the body may have caused its cancellation */
        ki_answer_end(answer, reason, NULL);
}

void scripted_end(scripted_source *source)
{
    scripted_cut(source, KI_REASON_NONE);
}

void scripted_whole(scripted_source *source, const char *text)
{
    scripted_body(source, text);
    scripted_end(source);
}

void scripted_error(scripted_source *source, int status, const char *text)
{
    scripted_head(source, status, 0);
    scripted_whole(source, text);
}

void scripted_page(scripted_source *source, unsigned number, const char *items)
{
    char text[300];
    int n = snprintf(text, sizeof(text),
                     "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\",\"continue\":\"t%u\"},"
                     "\"items\":[%s]}",
                     number, items);
    assert_in_range(n, 1, sizeof(text) - 1);
    scripted_whole(source, text);
}

void scripted_probe_whole(scripted_source *source, const char *text)
{
    ki_answer *answer = source->probe;
    assert_non_null(answer);
    (void)!give(answer, text, source->is_bytewise);
    source->probe = NULL;
    ki_answer_end(answer, KI_REASON_NONE, NULL);
}

void scripted_probe_cut(scripted_source *source, ki_reason reason)
{
    ki_answer *answer = source->probe;
    assert_non_null(answer);
    source->probe = NULL;
    ki_answer_end(answer, reason, NULL);
}
