/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews, which clients create and the server does not store: access, rules and identity. An admitted client
 * may do everything. */
#include <string.h>

#include "apiserver/kind/proto.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"

static json_t *allow(void)
{
    return json_pack("{s:b, s:s}", "allowed", 1, "reason", "admitted clients may do everything");
}

static json_t *list_rules(void)
{
    return json_pack("{s:[{s:[s], s:[s], s:[s]}], s:[{s:[s], s:[s]}], s:b}", "resourceRules", "verbs", "*",
                     "apiGroups", "*", "resources", "*", "nonResourceRules", "verbs", "*", "nonResourceURLs",
                     "*", "incomplete", 0);
}

static json_t *name_user(void)
{
    return json_pack("{s:{s:s, s:[s, s]}}", "userInfo", "username", "admin", "groups", "system:masters",
                     "system:authenticated");
}

static const struct review {
    const char *group;
    const char *plural;
    const char *kind;
    json_t *(*status)(void);
} reviews[] = {
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", allow},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", list_rules},
    {"authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", name_user},
};

static const struct review *find(const struct ki_as_request *request)
{
    if (!ki_str_equal(request->version, KI_STR("v1")) || request->ns.len > 0 || request->name.len > 0)
        return NULL;
    for (size_t i = 0; i < sizeof(reviews) / sizeof(reviews[0]); i++)
        if (ki_str_equal(request->plural, ki_str_of(reviews[i].plural)) &&
            ki_str_equal(request->group, ki_str_of(reviews[i].group)))
            return &reviews[i];
    return NULL;
}

bool ki_as_is_review(const struct ki_as_request *request)
{
    return find(request) != NULL;
}

/* Reads the review, whose spec the response repeats. A review in protobuf is not read, and its spec is not
 * repeated; the status is the same for all. */
static int read_question(struct ki_as_exchange *exchange, const char *wanted, json_t **out)
{
    json_t *body = NULL;
    if (ki_as_proto_is_type(ki_as_media_type(exchange->headers.content_type)))
        return 0;
    if (ki_as_body_tree(exchange, wanted, &body) < 0)
        return -1;
    const char *kind = json_string_value(json_object_get(body, "kind"));
    if (json_is_object(body) && (kind == NULL || strcmp(kind, wanted) == 0)) {
        *out = body;
        return 0;
    }
    json_decref(body);
    return ki_as_fail_bad_request(&exchange->failure, "the object provided must be of type %s", wanted);
}

enum ki_as_step ki_as_handle_review(struct ki_as_exchange *exchange)
{
    const struct review *review = find(&exchange->request);
    json_t *question = NULL;
    if (exchange->request.method != KI_AS_METHOD_POST) {
        (void)ki_as_fail_method(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    if (read_question(exchange, review->kind, &question) < 0)
        return KI_AS_STEP_FAILED;
    json_t *answer =
        json_pack("{s:s, s:s+, s:{}, s:O*, s:o}", "kind", review->kind, "apiVersion", review->group, "/v1",
                  "metadata", "spec", json_object_get(question, "spec"), "status", review->status());
    json_decref(question);
    return ki_as_render_tree(exchange, answer, 201);
}
