/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/http_source.h"

#include <stdio.h>
#include <string.h>

#include "cache/answer.h"
#include "http/transfer.h"
#include "util/alloc.h"
#include "util/buf.h"
#include "util/error.h"

/* A continue token alone may be that long (cache/reflector.c), and each byte of it three. */
#define TARGET_BYTES_MAX ((size_t)4 * 1024 * 1024)

typedef struct http_source {
    ki_http *http;
    char *path; /* "/api/v1/namespaces/web/pods" */
} http_source;

/* ---- the query ------------------------------------------------------------------------------------------- */

typedef struct target {
    ki_buf text;
    char separator; /* '?', then '&' */
    int rc;         /* the first failure */
} target;

static void add(target *t, ki_str text)
{
    if (t->rc == 0)
        t->rc = ki_buf_append_str(&t->text, text);
}

static int is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static void add_escaped(target *t, ki_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len && t->rc == 0; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char escaped[] = {'%', digits[c >> 4], digits[c & 15]};
        add(t, is_plain(c) ? (ki_str){text.ptr + i, 1} : (ki_str){escaped, sizeof(escaped)});
    }
}

static void add_text(target *t, const char *name, ki_str value)
{
    if (value.len == 0)
        return;
    add(t, (ki_str){&t->separator, 1});
    t->separator = '&';
    add(t, ki_str_of(name));
    add(t, KI_STR("="));
    add_escaped(t, value);
}

static void add_number(target *t, const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    if (value != 0)
        add_text(t, name, ki_str_of(text));
}

static void add_flag(target *t, const char *name, int is_set)
{
    if (is_set)
        add_text(t, name, KI_STR("true"));
}

/* The names of metav1.ListOptions. */
static void add_options(target *t, const ki_list_options *options)
{
    add_text(t, "labelSelector", options->label_selector);
    add_text(t, "fieldSelector", options->field_selector);
    add_number(t, "limit", options->limit);
    add_text(t, "continue", options->continue_token);
    add_text(t, "resourceVersion", options->resource_version);
    add_text(t, "resourceVersionMatch", options->resource_version_match);
    add_flag(t, "watch", options->watch);
    add_flag(t, "allowWatchBookmarks", options->allow_bookmarks);
    add_flag(t, "sendInitialEvents", options->send_initial_events);
    add_number(t, "timeoutSeconds", options->timeout_seconds);
}

/* ---- the answer ------------------------------------------------------------------------------------------ */

static void on_head(ki_transfer *transfer, const ki_response_head *head, void *user)
{
    (void)transfer;
    ki_answer_head(user, head->status, head->retry_after_seconds);
}

static int on_body(ki_transfer *transfer, const char *bytes, size_t n, void *user)
{
    (void)transfer;
    return ki_answer_body_part(user, bytes, n);
}

static void on_end(ki_transfer *transfer, ki_reason reason, const char *message, void *user)
{
    (void)transfer;
    ki_answer_set_data(user, NULL);
    ki_answer_end(user, reason, message);
}

static void on_pause(ki_transfer *transfer, void *user)
{
    (void)transfer;
    ki_answer_pause(user);
}

static const ki_transfer_events events = {on_head, on_body, on_end, on_pause};

/* ---- the list_watch -------------------------------------------------------------------------------------- */

static int send_request(const http_source *source, ki_answer *answer, const ki_list_options *options,
                        ki_str text)
{
    static const char *const headers[] = {"Accept: application/json", NULL};
    ki_request request = {.target = text,
                          .headers = headers,
                          .events = &events,
                          .user = answer,
                          .may_be_cut = options->watch && !options->send_initial_events,
                          .is_long = !options->watch || options->send_initial_events};
    ki_transfer *transfer = ki_transfer_new(source->http, &request, NULL);
    if (transfer == NULL)
        return KI_ERR_NO_MEMORY;
    ki_answer_set_data(answer, transfer);
    return 0;
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    const http_source *source = user;
    target t = {.separator = '?'};
    ki_buf_init(&t.text, TARGET_BYTES_MAX);
    add(&t, ki_str_of(source->path));
    add_options(&t, options);
    int rc = t.rc == 0 ? send_request(source, answer, options, ki_buf_str(&t.text)) : t.rc;
    ki_buf_fini(&t.text);
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
        ki_error_set(err, length, 0, "%s: no collection in the namespace \"%.*s\"", resource->plural,
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

int ki_http_source_open(ki_http *http, const ki_resource *resource, const char *ns,
                        ki_list_watch *out_list_watch, ki_error *err)
{
    ki_error why = {0};
    http_source *source = ki_calloc(1, sizeof(*source));
    if (source == NULL)
        return ki_fail_no_memory(err);
    source->http = http;
    source->path = make_path(resource, ki_str_of(ns), &why);
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
                                      .no_watch_list = ki_http_uses_http2(http)};
    return 0;
}
