/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/render.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/proto_write.h"
#include "apiserver/object/convert.h"
#include "apiserver/object/text.h"
#include "apiserver/show/table.h"
#include "apiserver/value/decode.h"
#include "util/clock.h"
#include "util/units.h"

enum ki_as_step ki_as_render_text(struct ki_as_exchange *exchange, int rc, int code)
{
    assert(rc < 0 || (code >= 200 && code < 600));
    if (rc < 0) {
        ki_buf_reset(&exchange->answer.text, 0);
        (void)ki_as_fail_no_memory(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    exchange->answer.code = code;
    exchange->answer.is_json = !exchange->answer.is_proto;
    return KI_AS_STEP_DONE;
}

/* Like Kubernetes, ends a response with a newline. Objects within lists and streams have none. */
static int end_line(ki_buf *text, int rc)
{
    return rc < 0 ? rc : ki_as_text_put(text, "\n");
}

static int put_document(struct ki_as_answer *answer, const json_t *tree)
{
    if (tree == NULL || !answer->is_proto)
        return end_line(&answer->text, ki_as_text_tree(&answer->text, tree));
    return ki_as_proto_object(&answer->text, tree);
}

enum ki_as_step ki_as_render_tree(struct ki_as_exchange *exchange, json_t *tree, int code)
{
    int rc = put_document(&exchange->answer, tree);
    json_decref(tree);
    return ki_as_render_text(exchange, rc, code);
}

enum ki_as_step ki_as_render_plain(struct ki_as_exchange *exchange, int code, const char *text)
{
    assert(code >= 200 && code < 600 && text != NULL);
    ki_buf_reset(&exchange->answer.text, 0);
    if (ki_as_text_put(&exchange->answer.text, text) < 0)
        ki_buf_reset(&exchange->answer.text, 0);
    exchange->answer.code = code;
    exchange->answer.is_json = false;
    exchange->answer.is_proto = false;
    exchange->answer.content_type = "text/plain; charset=utf-8";
    return KI_AS_STEP_DONE;
}

void ki_as_render_failure(struct ki_as_exchange *exchange, struct ki_as_failure *failure)
{
    struct ki_as_answer *answer = &exchange->answer;
    answer->retry_after_seconds = failure->retry_after_seconds;
    int code = failure->code == 0 ? 500 : failure->code;
    ki_buf_reset(&answer->text, 0);
    if (failure->plain_text != NULL) {
        (void)ki_as_render_plain(exchange, code, failure->plain_text);
        return;
    }
    answer->is_proto = ki_as_accept(exchange->headers.accept,
                                    1U << KI_AS_FORM_JSON | 1U << KI_AS_FORM_PROTO) == KI_AS_FORM_PROTO;
    if (failure->status != NULL && put_document(answer, failure->status) == 0) {
        answer->code = code;
        answer->is_json = !answer->is_proto;
        answer->content_type = NULL;
        return;
    }
    (void)ki_as_render_plain(exchange, 500, "out of memory\n");
}

/* ---- one object ---------------------------------------------------------------------------------------- */

static enum ki_as_include include_of(const struct ki_as_query *query)
{
    if (ki_str_equal(query->include_object, KI_STR("None")))
        return KI_AS_INCLUDE_NONE;
    return ki_str_equal(query->include_object, KI_STR("Object")) ? KI_AS_INCLUDE_OBJECT
                                                                 : KI_AS_INCLUDE_METADATA;
}

static int64_t wall_seconds(void)
{
    return ki_clock_wall_ns(ki_clock_real()) / (int64_t)KI_NS_PER_S;
}

/* The object in the requested form, if that is not the object itself: the row of a table, or its metadata. */
static json_t *other_form(struct ki_as_task *task, const struct ki_as_object *object)
{
    assert(task->form == KI_AS_FORM_TABLE || task->form == KI_AS_FORM_METADATA);
    json_t *tree = ki_as_shown_tree(task->resource, object);
    json_t *other = NULL;
    if (tree != NULL && task->form == KI_AS_FORM_TABLE)
        other = ki_as_table_row(task->resource, tree, include_of(task->query), wall_seconds());
    else if (tree != NULL)
        other = ki_as_partial_metadata(tree);
    json_decref(tree);
    return other;
}

static json_t *one_row_table(struct ki_as_task *task, const struct ki_as_object *object)
{
    char version[24];
    snprintf(version, sizeof(version), "%llu", (unsigned long long)object->version);
    return json_pack("{s:s, s:s, s:{s:s}, s:o, s:[o]}", "kind", "Table", "apiVersion", "meta.k8s.io/v1",
                     "metadata", "resourceVersion", version, "columnDefinitions",
                     ki_as_table_columns(task->resource), "rows", other_form(task, object));
}

enum ki_as_step ki_as_render_object(struct ki_as_task *task, struct ki_as_object *object, int code)
{
    assert(object != NULL);
    enum ki_as_step step;
    ki_buf *text = &task->exchange->answer.text;
    if (task->form == KI_AS_FORM_JSON && task->exchange->answer.is_proto)
        step = ki_as_render_tree(task->exchange, ki_as_shown_tree(task->resource, object), code);
    else if (task->form == KI_AS_FORM_JSON)
        step = ki_as_render_text(task->exchange,
                                 end_line(text, ki_as_text_object(text, task->resource, object, 0)), code);
    else if (task->form == KI_AS_FORM_TABLE)
        step = ki_as_render_tree(task->exchange, one_row_table(task, object), code);
    else
        step = ki_as_render_tree(task->exchange, other_form(task, object), code);
    ki_as_object_unref(object);
    return step;
}

enum ki_as_step ki_as_render_scale(struct ki_as_task *task, struct ki_as_object *object, int code)
{
    json_t *scale = ki_as_scale_of(task->resource, object);
    ki_as_object_unref(object);
    return ki_as_render_tree(task->exchange, scale, code);
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static int put_words(ki_buf *text, const char *const *words)
{
    int rc = 0;
    for (; *words != NULL && rc == 0; words++)
        rc = ki_as_text_put(text, *words);
    return rc;
}

/* Writes everything up to and including the opening bracket of the objects. */
static int put_head(struct ki_as_task *task, const struct ki_as_list_text *list, ki_buf *text)
{
    assert(list->continue_token != NULL);
    bool is_json = task->form == KI_AS_FORM_JSON;
    const char *kind = is_json                          ? task->resource->list_kind
                       : task->form == KI_AS_FORM_TABLE ? "Table"
                                                        : "PartialObjectMetadataList";
    const char *head[] = {"{\"kind\":\"",
                          kind,
                          "\",\"apiVersion\":\"",
                          is_json ? task->resource->api_version : "meta.k8s.io/v1",
                          "\",\"metadata\":{\"resourceVersion\":\"",
                          NULL};
    const char *token[] = {",\"continue\":\"", list->continue_token, "\"", NULL};
    int rc = put_words(text, head);
    if (rc == 0)
        rc = ki_as_text_number(text, list->page->version);
    if (rc == 0)
        rc = ki_as_text_put(text, "\"");
    if (rc == 0 && list->continue_token[0] != 0)
        rc = put_words(text, token);
    if (rc == 0 && list->has_remaining) {
        rc = ki_as_text_put(text, ",\"remainingItemCount\":");
        if (rc == 0)
            rc = ki_as_text_number(text, list->page->remaining);
    }
    if (rc == 0)
        rc = ki_as_text_put(text, "}");
    if (rc == 0 && task->form == KI_AS_FORM_TABLE) {
        json_t *columns = ki_as_table_columns(task->resource);
        rc = ki_as_text_put(text, ",\"columnDefinitions\":");
        if (rc == 0)
            rc = ki_as_text_tree(text, columns);
        json_decref(columns);
    }
    return rc == 0 ? ki_as_text_put(text, task->form == KI_AS_FORM_TABLE ? ",\"rows\":[" : ",\"items\":[")
                   : rc;
}

static int put_item(struct ki_as_task *task, const struct ki_as_object *object, ki_buf *text)
{
    if (task->form == KI_AS_FORM_JSON)
        return ki_as_text_item(text, task->resource, object);
    json_t *tree = other_form(task, object);
    int rc = ki_as_text_tree(text, tree);
    json_decref(tree);
    return rc;
}

static size_t page_bytes(struct ki_as_task *task, const struct ki_as_page *page)
{
    size_t bytes = 1024;
    for (size_t i = 0; i < page->count; i++)
        bytes += ki_as_text_object_bytes(task->resource, page->objects[i]);
    return bytes;
}

/* Replaces the head of a list in `text`, which is JSON, by its protobuf form. */
static int begin_proto(ki_buf *text, size_t *out_at)
{
    int rc = ki_as_text_put(text, "]}");
    json_t *head = rc < 0 ? NULL : ki_as_decode(ki_buf_str(text), NULL);
    text->len = 0;
    rc = head == NULL ? KI_ERR_NO_MEMORY : ki_as_proto_list_begin(text, head, out_at);
    json_decref(head);
    return rc;
}

static int put_proto_page(struct ki_as_task *task, const struct ki_as_list_text *list, ki_buf *text)
{
    assert(task->form != KI_AS_FORM_TABLE);
    size_t at = 0;
    int rc = put_head(task, list, text);
    if (rc == 0)
        rc = begin_proto(text, &at);
    for (size_t i = 0; i < list->page->count && rc == 0; i++) {
        const struct ki_as_object *object = list->page->objects[i];
        json_t *tree = task->form == KI_AS_FORM_JSON ? ki_as_shown_tree(task->resource, object)
                                                     : other_form(task, object);
        rc = tree == NULL ? KI_ERR_NO_MEMORY : ki_as_proto_list_item(text, tree);
        json_decref(tree);
    }
    return rc == 0 ? ki_as_proto_list_end(text, at) : rc;
}

enum ki_as_step ki_as_render_page(struct ki_as_task *task, const struct ki_as_list_text *list)
{
    assert(task->exchange->answer.text.len == 0);
    ki_buf *text = &task->exchange->answer.text;
    if (task->exchange->answer.is_proto)
        return ki_as_render_text(task->exchange, put_proto_page(task, list, text), 200);
    int rc = task->form == KI_AS_FORM_JSON ? ki_buf_reserve(text, page_bytes(task, list->page)) : 0;
    if (rc == 0)
        rc = put_head(task, list, text);
    for (size_t i = 0; i < list->page->count && rc == 0; i++) {
        if (i > 0)
            rc = ki_as_text_put(text, ",");
        if (rc == 0)
            rc = put_item(task, list->page->objects[i], text);
    }
    if (rc == 0)
        rc = ki_as_text_put(text, "]}\n");
    return ki_as_render_text(task->exchange, rc, 200);
}
