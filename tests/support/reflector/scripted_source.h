/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_source - a ki_list_watch that answers when the test wants, and records its requests.
 *
 *   From:     a reflector
 *   To:       the test, which answers with the calls below, or with a function that is called inside `begin`
 */
#ifndef KI_TESTS_SUPPORT_REFLECTOR_SCRIPTED_SOURCE_H
#define KI_TESTS_SUPPORT_REFLECTOR_SCRIPTED_SOURCE_H

#include <kinformer/list_watch.h>

#include "support/text_log.h"

typedef struct scripted_source scripted_source;

/* Answers a request immediately. */
typedef void (*scripted_answer_cb)(scripted_source *source, const ki_list_options *options, void *user);

struct scripted_source {
    text_log requests; /* one line each: "LIST rv=0 limit=500", "cancel", "resume";
                               * " protobuf" where it is accepted */
    ki_answer *answer; /* of the last request, until it has ended or was cancelled; the next field likewise */
    ki_answer *probe;  /* of a list with limit 1 */
    int begin_result;  /* the result of the next `begin`, once */
    int is_bytewise;   /* bodies are delivered byte by byte */
    int last_result;   /* of ki_answer_body() */
    uint32_t timeout_seconds; /* of the last watch */
    int logs_timeout;
    int releases;
    int depth; /* nesting of `begin` inside `begin`, and its maximum */
    int depth_max;
    scripted_answer_cb at_once;
    void *user;
};

/* Free it with scripted_source_fini(). */
void scripted_source_init(scripted_source *source);
void scripted_source_fini(scripted_source *source);
ki_list_watch scripted_source_list_watch(scripted_source *source);

/* These answer the last request. If the content type is not JSON, set it first. */
void scripted_content_type(scripted_source *source, const char *type);
void scripted_head(scripted_source *source, int status, uint32_t retry_after_seconds);
void scripted_body(scripted_source *source, const char *text);
void scripted_bytes(scripted_source *source, ki_str bytes);
void scripted_end(scripted_source *source);
void scripted_cut(scripted_source *source, ki_reason reason);

/* A body and its end; the variant with a status sends a head before them. */
void scripted_whole(scripted_source *source, const char *text);
void scripted_error(scripted_source *source, int status, const char *text);

/* The page of a list of pods with this number: version 10, these items,
 * and the token "t<number>" of the next page. */
void scripted_page(scripted_source *source, unsigned number, const char *items);

/* Answers the probe, if there is one. */
void scripted_probe_whole(scripted_source *source, const char *text);
void scripted_probe_cut(scripted_source *source, ki_reason reason);

#endif
