/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/handle.h"
#include "apiserver/http.h"

static enum ki_as_step succeed(struct ki_as_exchange *exchange)
{
    return ki_as_answer_tree(exchange,
                             json_pack("{s:s, s:s, s:{}, s:s}", "kind", "Status", "apiVersion", "v1",
                                       "metadata", "status", "Success"),
                             200);
}

static enum ki_as_step add_faults(struct ki_as_exchange *exchange)
{
    json_t *tree = NULL;
    if (ki_as_body_tree(exchange, "a fault", &tree) < 0)
        return KI_AS_STEP_FAILED;
    int rc = 0;
    if (json_is_array(tree)) {
        const json_t *one;
        size_t i;
        json_array_foreach(tree, i, one)
        {
            if (rc == 0)
                rc = ki_as_faults_add_json(exchange->server->faults, one, &exchange->failure);
        }
    } else {
        rc = ki_as_faults_add_json(exchange->server->faults, tree, &exchange->failure);
    }
    json_decref(tree);
    return rc < 0 ? KI_AS_STEP_FAILED
                  : ki_as_answer_tree(exchange, ki_as_faults_json(exchange->server->faults), 200);
}

static enum ki_as_step handle_faults(struct ki_as_exchange *exchange)
{
    switch (exchange->request.method) {
    case KI_AS_METHOD_GET:
    case KI_AS_METHOD_HEAD:
        return ki_as_answer_tree(exchange, ki_as_faults_json(exchange->server->faults), 200);
    case KI_AS_METHOD_POST:
        return add_faults(exchange);
    case KI_AS_METHOD_DELETE:
        ki_apiserver_heal(exchange->server);
        return succeed(exchange);
    default:
        (void)ki_as_fail_method(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
}

static enum ki_as_step rewind_history(struct ki_as_exchange *exchange)
{
    uint64_t by = 0;
    ki_error err = {0};
    if (ki_as_version_parse(exchange->request.query.by, &by, &exchange->failure) < 0)
        return KI_AS_STEP_FAILED;
    if (ki_apiserver_rewind(exchange->server, by, &err) == 0)
        return succeed(exchange);
    (void)ki_as_fail_bad_request(&exchange->failure, "%s", err.message);
    return KI_AS_STEP_FAILED;
}

/* This one's own connection ends as well, so there is no answer. */
static enum ki_as_step cut(struct ki_as_exchange *exchange)
{
    ki_as_http_cut(exchange->server, exchange->request.query.is_reset);
    return succeed(exchange);
}

enum ki_as_step ki_as_handle_debug(struct ki_as_exchange *exchange)
{
    ki_str name = exchange->request.name;
    bool is_post = exchange->request.method == KI_AS_METHOD_POST;
    if (!exchange->server->allows_debug) {
        (void)ki_as_fail_no_such_path(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    if (ki_str_equal(name, KI_STR("faults")))
        return handle_faults(exchange);
    if (ki_str_equal(name, KI_STR("compact")) && is_post) {
        ki_apiserver_compact(exchange->server);
        return succeed(exchange);
    }
    if (ki_str_equal(name, KI_STR("rewind")) && is_post)
        return rewind_history(exchange);
    if (ki_str_equal(name, KI_STR("cut")) && is_post)
        return cut(exchange);
    (void)ki_as_fail_no_such_path(&exchange->failure);
    return KI_AS_STEP_FAILED;
}
