/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/http_source.h"

#include <assert.h>

#include "api/resource/query.h"
#include "http/transfer.h"
#include "reflector/answer.h"
#include "util/alloc.h"
#include "util/error.h"

typedef struct http_source {
    ki_http *http;
    char *path; /* "/api/v1/namespaces/web/pods" */
} http_source;

/* ---- the answer -------------------------------------------------------------------------------------- */

static void on_head(ki_transfer *transfer, const ki_response_head *head, void *user)
{
    KI_ASSERT_ON(ki_transfer_loop(transfer));
    (void)transfer;
    ki_answer_set_content_type(user, ki_str_of(head->content_type));
    ki_answer_head(user, head->status, head->retry_after_seconds);
}

static int on_body(ki_transfer *transfer, const char *bytes, size_t n, void *user)
{
    KI_ASSERT_ON(ki_transfer_loop(transfer));
    (void)transfer;
    return ki_answer_body(user, bytes, n);
}

static void on_end(ki_transfer *transfer, ki_reason reason, const char *message, void *user)
{
    KI_ASSERT_ON(ki_transfer_loop(transfer));
    ki_answer_set_data(user, NULL);
    if (ki_transfer_is_proxys(transfer))
        ki_answer_fail_in_proxy(user);
    ki_answer_end(user, reason, message);
}

static void on_sent(ki_transfer *transfer, void *user)
{
    KI_ASSERT_ON(ki_transfer_loop(transfer));
    (void)transfer;
    ki_answer_sent(user);
}

static const ki_transfer_events events = {on_head, on_body, on_end, on_sent};

/* ---- the list_watch ---------------------------------------------------------------------------------- */

static int send_request(const http_source *source, ki_answer *answer, const ki_list_options *options,
                        ki_str text)
{
    static const char *const json[] = {"Accept: " KI_CONTENT_TYPE_JSON, NULL};
    static const char *const both[] = {"Accept: " KI_CONTENT_TYPE_PROTOBUF "," KI_CONTENT_TYPE_JSON, NULL};
    bool is_list = !options->watch || options->send_initial_events;
    ki_transfer_request request = {.target = text,
                                   .headers = options->wire == KI_WIRE_PROTOBUF ? both : json,
                                   .events = &events,
                                   .user = answer,
                                   .head_timeout_ms = is_list ? ki_http_request_timeout_ms(source->http) : 0,
                                   .is_watch = options->watch,
                                   .may_be_cut = !is_list,
                                   .is_long = is_list};
    ki_transfer *transfer = ki_transfer_new(source->http, &request, NULL);
    if (transfer == NULL)
        return KI_ERR_NO_MEMORY;
    ki_answer_set_data(answer, transfer);
    return 0;
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    const http_source *source = user;
    ki_query query;
    answer->mask = ki_http_mask_of(source->http);
    answer->withheld = ki_http_withheld(source->http);
    ki_query_init(&query, ki_str_of(source->path));
    ki_query_add_list_options(&query, options);
    int rc = query.rc == 0 ? send_request(source, answer, options, ki_buf_str(&query.text)) : query.rc;
    ki_query_fini(&query);
    return rc;
}

static void cancel(ki_answer *answer, void *user)
{
    ki_transfer *transfer = ki_answer_data(answer);
    (void)user;
    ki_answer_set_data(answer, NULL);
    if (transfer != NULL)
        ki_transfer_cancel(transfer);
}

static void resume(ki_answer *answer, void *user)
{
    ki_transfer *transfer = ki_answer_data(answer);
    (void)user;
    if (transfer != NULL)
        ki_transfer_resume(transfer);
}

static void release(void *user)
{
    http_source *source = user;
    ki_free(source->path);
    ki_free(source);
}

static char *make_path(const ki_resource *resource, ki_str ns, ki_error *err)
{
    int length = ki_resource_path(resource, ns, (ki_str){0}, (ki_str){0}, NULL, 0);
    if (length < 0) {
        ki_error_set(err, length, 0, "%s: \"%.*s\" is not a valid namespace", resource->plural,
                     KI_STR_ARGS(ns));
        return NULL;
    }
    size_t size = (size_t)length + 1;
    char *path = ki_malloc(size);
    if (path == NULL)
        (void)ki_fail_no_memory(err);
    else
        (void)!ki_resource_path(resource, ns, (ki_str){0}, (ki_str){0}, path, size);
    return path;
}

/* A streamed list continues as a watch, on a connection that it does not share. So with HTTP/2, lists are
 * streamed only with KI_WATCH_LIST_ALWAYS. */
static int streams_none(const ki_http *http, const ki_informer_options *options)
{
    return ki_http_uses_http2(http) && options->watch_list != KI_WATCH_LIST_ALWAYS;
}

int ki_http_source_open(ki_http *http, const ki_resource *resource, const ki_informer_options *options,
                        ki_list_watch *out_list_watch, ki_error *err)
{
    assert(out_list_watch != NULL);
    ki_error why = {0};
    http_source *source = ki_calloc(1, sizeof(*source));
    if (source == NULL)
        return ki_fail_no_memory(err);
    source->http = http;
    source->path = make_path(resource, ki_str_of(options->ns), &why);
    if (source->path == NULL) {
        ki_free(source);
        if (err != NULL)
            *err = why;
        return why.code;
    }
    *out_list_watch = (ki_list_watch){.begin = begin,
                                      .cancel = cancel,
                                      .resume = resume,
                                      .release = release,
                                      .user = source,
                                      .no_watch_list = streams_none(http, options),
                                      .tells_sent = 1};
    return 0;
}
