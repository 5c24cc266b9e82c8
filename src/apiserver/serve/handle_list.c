/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/request/continue_token.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"
#include "util/alloc.h"

enum match { MATCH_NONE, MATCH_EXACT, MATCH_NOT_OLDER };

/* The parsed options of a list. */
struct plan {
    struct ki_as_page_request page;
    uint64_t at_least; /* the version that must have been reached */
    struct ki_as_continue from;
    struct ki_as_selector *selector;
};

static void plan_fini(struct plan *plan)
{
    ki_free(plan->from.after);
    ki_as_selector_free(plan->selector);
}

/* ---- options ------------------------------------------------------------------------------------------- */

static enum ki_as_step fail_match_value(struct ki_as_task *task)
{
    ki_str value = task->query->resource_version_match;
    char why[160];
    snprintf(why, sizeof(why),
             "Unsupported value: \"%.*s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
             value.len > 60 ? 60 : (int)value.len, value.ptr);
    json_t *details =
        json_pack("{s:s, s:s, s:[{s:s, s:s, s:s}]}", "group", "meta.k8s.io", "kind", "ListOptions", "causes",
                  "reason", "FieldValueNotSupported", "message", why, "field", "resourceVersionMatch");
    (void)ki_as_fail(task->failure, 422, "Invalid", details,
                     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: %s", why);
    return KI_AS_STEP_FAILED;
}

static enum ki_as_step read_match(struct ki_as_task *task, enum match *out)
{
    const struct ki_as_query *query = task->query;
    ki_str match = query->resource_version_match;
    if (query->has_send_initial_events)
        return ki_as_fail_option(task->failure, "sendInitialEvents",
                                 "sendInitialEvents is forbidden for list");
    if (match.len == 0)
        return KI_AS_STEP_DONE;
    if (query->resource_version.len == 0)
        return ki_as_fail_option(task->failure, "resourceVersionMatch",
                                 "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (query->continue_token.len > 0)
        return ki_as_fail_option(task->failure, "resourceVersionMatch",
                                 "resourceVersionMatch is forbidden when continue is provided");
    *out = ki_str_equal(match, KI_STR("Exact"))          ? MATCH_EXACT
           : ki_str_equal(match, KI_STR("NotOlderThan")) ? MATCH_NOT_OLDER
                                                         : MATCH_NONE;
    if (*out == MATCH_NONE)
        return fail_match_value(task);
    if (*out == MATCH_EXACT && ki_str_equal(query->resource_version, KI_STR("0")))
        return ki_as_fail_option(task->failure, "resourceVersionMatch",
                                 "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    return KI_AS_STEP_DONE;
}

static enum ki_as_step plan_continue(struct ki_as_task *task, struct plan *plan)
{
    assert(plan->from.after == NULL);
    const struct ki_as_query *query = task->query;
    if (query->resource_version.len > 0 && !ki_str_equal(query->resource_version, KI_STR("0"))) {
        (void)ki_as_fail_bad_request(task->failure,
                                     "specifying resource version is not allowed when using continue");
        return KI_AS_STEP_FAILED;
    }
    if (ki_as_continue_read(query->continue_token, &plan->from, task->failure) < 0)
        return KI_AS_STEP_FAILED;
    plan->page.after = ki_str_of(plan->from.after);
    plan->page.version = plan->from.version < 0 ? 0 : (uint64_t)plan->from.version;
    return KI_AS_STEP_DONE;
}

/* A limit with a version but without resourceVersionMatch means exactly that version. With version 0 the
 * limit is ignored, as a real server does when it responds from its cache. */
static enum ki_as_step plan_version(struct ki_as_task *task, enum match match, struct plan *plan)
{
    uint64_t version = 0;
    if (ki_as_version_parse(task->query->resource_version, &version, task->failure) < 0)
        return KI_AS_STEP_FAILED;
    bool is_exact = match == MATCH_EXACT || (match == MATCH_NONE && plan->page.limit > 0);
    plan->at_least = version;
    plan->page.version = is_exact ? version : 0;
    if (version == 0 && task->query->resource_version.len > 0)
        plan->page.limit = 0;
    return KI_AS_STEP_DONE;
}

static enum ki_as_step make_plan(struct ki_as_task *task, struct plan *plan)
{
    assert(plan->selector == NULL);
    const struct ki_as_query *query = task->query;
    enum match match = MATCH_NONE;
    enum ki_as_step step = read_match(task, &match);
    if (step != KI_AS_STEP_DONE)
        return step;
    if (ki_as_selector_parse(query->label_selector, query->field_selector, task->resource, &plan->selector,
                             task->failure) < 0)
        return KI_AS_STEP_FAILED;
    plan->page.ns = task->request->ns;
    plan->page.selector = plan->selector;
    plan->page.limit = query->limit;
    step = query->continue_token.len > 0 ? plan_continue(task, plan) : plan_version(task, match, plan);
    if (step != KI_AS_STEP_DONE || plan->page.version > 0 || plan->at_least > 0)
        return step;
    plan->page.version = ki_as_stale_version(task);
    return step;
}

/* ---- the page ------------------------------------------------------------------------------------------ */

/* Fails with 410 for an expired version. If the request had a token, the response has a new token, for
 * reading the rest at the current version. */
static enum ki_as_step fail_expired(struct ki_as_task *task, const struct plan *plan)
{
    static const char exact[] = "The resourceVersion for the provided list is too old.";
    static const char token[] =
        "The provided continue parameter is too old to display a consistent list result. You can start a new "
        "list "
        "without the continue parameter, or use the continue token in this response to retrieve the "
        "remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were "
        "created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list.";
    ki_buf text;
    ki_as_failure_fini(task->failure);
    (void)ki_as_fail_expired(task->failure, plan->from.after == NULL ? exact : token);
    if (plan->from.after == NULL || task->failure->status == NULL)
        return KI_AS_STEP_FAILED;
    ki_buf_init(&text, 64 * 1024);
    json_t *metadata = json_object_get(task->failure->status, "metadata");
    if (ki_as_continue_write(-1, KI_STR(""), ki_str_of(plan->from.after), &text) == 0)
        (void)json_object_set_new(metadata, "continue", json_string(text.data));
    ki_buf_fini(&text);
    return KI_AS_STEP_FAILED;
}

static int read_page(struct ki_as_task *task, const struct plan *plan, struct ki_as_page *out)
{
    struct ki_as_storage *storage = task->exchange->server->storage;
    ki_as_storage_lock(storage);
    struct ki_as_collection *collection = ki_as_storage_collection(storage, task->resource);
    int rc = collection == NULL ? ki_as_fail_no_memory(task->failure)
                                : ki_as_storage_page(storage, collection, &plan->page, out, task->failure);
    ki_as_storage_unlock(storage);
    return rc;
}

/* With the fault KI_FAULT_ENDLESS_PAGES, every page with objects has a token, and from the second page on it
 * leads to the same page again. */
static int write_token(struct ki_as_task *task, const struct plan *plan, const struct ki_as_page *page,
                       ki_buf *out)
{
    assert(page->version > 0 && out->len == 0);
    const struct ki_as_exchange *exchange = task->exchange;
    bool is_endless = exchange->has_fault && exchange->fault.action == KI_FAULT_ENDLESS_PAGES;
    if (page->count == 0 || (!page->is_more && !is_endless))
        return ki_buf_append_byte(out, 0);
    const struct ki_as_object *last = page->objects[page->count - 1];
    if (is_endless && plan->from.after != NULL)
        return ki_as_continue_write((int64_t)page->version, KI_STR(""), ki_str_of(plan->from.after), out);
    if (is_endless)
        last = page->objects[0];
    return ki_as_continue_write((int64_t)page->version, last->ns, last->name, out);
}

static enum ki_as_step answer(struct ki_as_task *task, const struct plan *plan, const struct ki_as_page *page)
{
    ki_buf token;
    ki_buf_init(&token, 64 * 1024);
    enum ki_as_step step;
    if (write_token(task, plan, page, &token) < 0) {
        step = ki_as_render_text(task->exchange, KI_ERR_NO_MEMORY, 0);
    } else {
        assert(token.data != NULL);
        struct ki_as_list_text list = {.page = page,
                                       .continue_token = token.data,
                                       .has_remaining = page->is_more && plan->selector == NULL};
        step = ki_as_render_page(task, &list);
    }
    ki_buf_fini(&token);
    return step;
}

static enum ki_as_step list(struct ki_as_task *task, const struct plan *plan)
{
    struct ki_as_page page = {0};
    const struct ki_as_exchange *exchange = task->exchange;
    enum ki_as_step step = ki_as_wait_for_version(task->exchange, plan->at_least);
    if (step != KI_AS_STEP_DONE)
        return step;
    if (exchange->has_fault && exchange->fault.action == KI_FAULT_EXPIRED)
        return fail_expired(task, plan);
    if (read_page(task, plan, &page) < 0)
        return task->failure->code == 410 ? fail_expired(task, plan) : KI_AS_STEP_FAILED;
    step = answer(task, plan, &page);
    ki_as_page_fini(&page);
    return step;
}

enum ki_as_step ki_as_handle_list(struct ki_as_task *task)
{
    struct plan plan = {0};
    enum ki_as_step step = make_plan(task, &plan);
    if (step == KI_AS_STEP_DONE)
        step = list(task, &plan);
    plan_fini(&plan);
    return step;
}
