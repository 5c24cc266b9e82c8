/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/object/text.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/http.h"
#include "apiserver/serve/render.h"
#include "apiserver/serve/request_log.h"
#include "apiserver/value/decode.h"

enum { DOWN_MS_MAX = 3600 * 1000 };

static enum ki_as_step succeed(struct ki_as_exchange *exchange)
{
    return ki_as_render_tree(exchange,
                             json_pack("{s:s, s:s, s:{}, s:s}", "kind", "Status", "apiVersion", "v1",
                                       "metadata", "status", "Success"),
                             200);
}

/* The body is read as JSON whatever its Content-Type, because curl -d sends that of a form. */
static json_t *read_rules(struct ki_as_exchange *exchange)
{
    static const char form[] =
        "expected a fault such as {\"action\":\"reset\",\"on\":\"watch\",\"times\":3}, or a list";
    json_error_t error = {0};
    if (exchange->body.len == 0) {
        (void)ki_as_fail_bad_request(&exchange->failure, "the body is empty: %s", form);
        return NULL;
    }
    json_t *tree = ki_as_decode_body(ki_buf_str(&exchange->body), &error);
    if (tree != NULL)
        return tree;
    if (json_error_code(&error) == json_error_out_of_memory)
        (void)ki_as_fail_no_memory(&exchange->failure);
    else
        (void)ki_as_fail_bad_request(&exchange->failure, "the body is not JSON (%s): %s", error.text, form);
    return NULL;
}

static enum ki_as_step add_faults(struct ki_as_exchange *exchange)
{
    json_t *tree = read_rules(exchange);
    if (tree == NULL)
        return KI_AS_STEP_FAILED;
    int rc = ki_as_faults_add_json(exchange->server->faults, tree, &exchange->failure);
    json_decref(tree);
    return rc < 0 ? KI_AS_STEP_FAILED
                  : ki_as_render_tree(exchange, ki_as_faults_json(exchange->server->faults), 200);
}

static enum ki_as_step handle_faults(struct ki_as_exchange *exchange)
{
    switch (exchange->request.method) {
    case KI_AS_METHOD_GET:
    case KI_AS_METHOD_HEAD:
        return ki_as_render_tree(exchange, ki_as_faults_json(exchange->server->faults), 200);
    case KI_AS_METHOD_POST:
        return add_faults(exchange);
    case KI_AS_METHOD_DELETE:
        ki_apiserver_clear_faults(exchange->server);
        return succeed(exchange);
    default:
        (void)ki_as_fail_method(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
}

/* Returns 0, or -1 if the text is not a number or the number does not fit. */
static int parse_number(ki_str text, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c < '0' || c > '9' || number > (UINT64_MAX - (uint64_t)(c - '0')) / 10)
            return -1;
        number = number * 10 + (uint64_t)(c - '0');
    }
    *out = number;
    return text.len > 0 ? 0 : -1;
}

static enum ki_as_step rewind_history(struct ki_as_exchange *exchange)
{
    uint64_t by = 0;
    ki_error err = {0};
    ki_str text = exchange->request.query.by;
    if (parse_number(text, &by) < 0) {
        (void)ki_as_fail_bad_request(
            &exchange->failure, "by: \"%.*s\" is not a number of versions; example: /debug/rewind?by=100",
            text.len > 60 ? 60 : (int)text.len, text.len > 0 ? text.ptr : "");
        return KI_AS_STEP_FAILED;
    }
    int rc = ki_apiserver_rewind(exchange->server, by, &err);
    if (rc == 0)
        return succeed(exchange);
    if (rc == KI_ERR_NO_MEMORY)
        (void)ki_as_fail_no_memory(&exchange->failure);
    else
        (void)ki_as_fail_bad_request(&exchange->failure, "by: %s", err.message);
    return KI_AS_STEP_FAILED;
}

static enum ki_as_step compact(struct ki_as_exchange *exchange)
{
    ki_apiserver_compact(exchange->server);
    return succeed(exchange);
}

/* The connection of this request is not cut, so that the client gets the response. */
static enum ki_as_step cut(struct ki_as_exchange *exchange)
{
    ki_as_http_cut(exchange->server, exchange->request.query.is_reset, exchange);
    return succeed(exchange);
}

/* The server goes down after the response to this request. */
static enum ki_as_step go_down(struct ki_as_exchange *exchange)
{
    uint64_t ms = 0;
    ki_str text = exchange->request.query.ms;
    if (parse_number(text, &ms) < 0 || ms == 0 || ms > DOWN_MS_MAX) {
        (void)ki_as_fail_bad_request(
            &exchange->failure, "ms: \"%.*s\" is not a number from 1 to %d; example: /debug/down?ms=3000",
            text.len > 60 ? 60 : (int)text.len, text.len > 0 ? text.ptr : "", DOWN_MS_MAX);
        return KI_AS_STEP_FAILED;
    }
    exchange->down_ms = ms;
    return succeed(exchange);
}

/* ---- the request log ----------------------------------------------------------------------------------- */

struct writing {
    ki_buf *text;
    int rc;
};

static void write_request(const ki_apiserver_request *request, void *user)
{
    struct writing *writing = user;
    json_t *tree = writing->rc < 0 ? NULL : ki_as_request_json(request);
    if (writing->rc == 0)
        writing->rc = ki_as_text_tree(writing->text, tree);
    if (writing->rc == 0)
        writing->rc = ki_as_text_put(writing->text, "\n");
    json_decref(tree);
}

static enum ki_as_step list_requests(struct ki_as_exchange *exchange)
{
    uint64_t since = 0;
    ki_str text = exchange->request.query.since;
    struct writing writing = {.text = &exchange->answer.text};
    if (text.len > 0 && parse_number(text, &since) < 0) {
        (void)ki_as_fail_bad_request(&exchange->failure,
                                     "since: \"%.*s\" is not a request number; example: "
                                     "/debug/requests?since=100",
                                     text.len > 60 ? 60 : (int)text.len, text.ptr);
        return KI_AS_STEP_FAILED;
    }
    (void)ki_apiserver_requests(exchange->server, since, write_request, &writing);
    enum ki_as_step step = ki_as_render_text(exchange, writing.rc, 200);
    exchange->answer.is_json = false; /* it is JSON Lines */
    exchange->answer.content_type = "application/jsonl";
    return step;
}

enum ki_as_step ki_as_handle_debug(struct ki_as_exchange *exchange)
{
    static const struct {
        const char *name;
        enum ki_as_method method;
        enum ki_as_step (*run)(struct ki_as_exchange *exchange);
    } deeds[] = {{"compact", KI_AS_METHOD_POST, compact},
                 {"rewind", KI_AS_METHOD_POST, rewind_history},
                 {"cut", KI_AS_METHOD_POST, cut},
                 {"down", KI_AS_METHOD_POST, go_down},
                 {"requests", KI_AS_METHOD_GET, list_requests}};
    ki_str name = exchange->request.name;
    if (exchange->server->allows_debug && ki_str_equal(name, KI_STR("faults")))
        return handle_faults(exchange);
    for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]) && exchange->server->allows_debug; i++) {
        if (!ki_str_equal(name, ki_str_of(deeds[i].name)))
            continue;
        if (exchange->request.method == deeds[i].method)
            return deeds[i].run(exchange);
        (void)ki_as_fail_method(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    (void)ki_as_fail_no_such_path(&exchange->failure);
    return KI_AS_STEP_FAILED;
}
