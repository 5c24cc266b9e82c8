/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/strict.h"

#include <assert.h>
#include <string.h>

#include "apiserver/kind/prune.h"
#include "apiserver/object/text.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

enum { MESSAGE_BYTES_MAX = 1 << 20 };

static bool is_asked(const struct ki_as_call *call)
{
    return call->strictness == KI_AS_FIELDS_STRICT ||
           (call->strictness == KI_AS_FIELDS_WARN && call->warnings != NULL);
}

/* Joins all messages with `separator`. Returns 0 or a negative error. */
static int join(ki_buf *text, const json_t *messages, const char *separator)
{
    const json_t *message = NULL;
    size_t i = 0;
    int rc = 0;
    json_array_foreach(messages, i, message)
    {
        if (rc == 0)
            rc = ki_as_text_put(text, i == 0 ? "" : separator);
        if (rc == 0)
            rc = ki_as_text_put(text, json_string_value(message));
    }
    return rc;
}

static int fail_body(const struct ki_as_call *call, const json_t *unknown, struct ki_as_failure *failure)
{
    assert(json_array_size(unknown) > 0);
    const struct ki_as_resource *resource = call->resource;
    ki_buf text;
    ki_buf_init(&text, MESSAGE_BYTES_MAX);
    if (join(&text, unknown, ", ") == 0)
        (void)ki_as_fail_bad_request(
            failure, "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %.*s",
            resource->kind, resource->version, resource->kind, KI_STR_ARGS(ki_buf_str(&text)));
    else
        (void)ki_as_fail_no_memory(failure);
    ki_buf_fini(&text);
    return -1;
}

int ki_as_strict_body(const struct ki_as_call *call, json_t *body, struct ki_as_failure *failure)
{
    if (!is_asked(call))
        return 0;
    json_t *unknown = json_array();
    int rc = unknown == NULL ? -1 : ki_as_prune(call->resource, body, unknown);
    if (rc == 0 && call->strictness == KI_AS_FIELDS_WARN)
        rc = json_array_extend(call->warnings, unknown);
    if (rc < 0)
        rc = ki_as_fail_no_memory(failure);
    else if (call->strictness == KI_AS_FIELDS_STRICT && json_array_size(unknown) > 0)
        rc = fail_body(call, unknown, failure);
    json_decref(unknown);
    return rc;
}

/* A new array of the tree's unknown fields; the tree is not modified. NULL if out of memory. */
static json_t *unknown_of(const struct ki_as_verb *verb, const json_t *tree)
{
    json_t *copy = ki_as_json_copy(tree);
    json_t *unknown = copy == NULL ? NULL : json_array();
    if (unknown != NULL && ki_as_prune(verb->resource, copy, unknown) < 0) {
        json_decref(unknown);
        unknown = NULL;
    }
    json_decref(copy);
    return unknown;
}

static int fail_patched(const struct ki_as_verb *verb, const json_t *unknown, const json_t *shown)
{
    assert(json_array_size(unknown) > 0);
    json_t *causes = NULL;
    ki_buf text;
    ki_buf_init(&text, MESSAGE_BYTES_MAX);
    char *value = ki_as_value_text(shown);
    char *quoted = value == NULL ? NULL : ki_as_quoted(ki_str_of(value));
    if (quoted != NULL && join(&text, unknown, ", ") == 0)
        ki_as_cause_add(&causes, "FieldValueInvalid", "patch",
                        "Invalid value: %s: strict decoding error: %.*s", quoted,
                        KI_STR_ARGS(ki_buf_str(&text)));
    json_t *details = causes == NULL ? NULL : json_pack("{s:o}", "causes", causes);
    if (details != NULL)
        (void)ki_as_fail(verb->failure, 422, "Invalid", details,
                         " \"\" is invalid: patch: Invalid value: %s: strict decoding error: %.*s", quoted,
                         KI_STR_ARGS(ki_buf_str(&text)));
    else
        (void)ki_as_fail_no_memory(verb->failure);
    ki_free(value);
    ki_free(quoted);
    ki_buf_fini(&text);
    return -1;
}

int ki_as_strict_patched(const struct ki_as_verb *verb, const struct ki_as_strict_patch *patch)
{
    const struct ki_as_call *call = verb->call;
    if (!is_asked(call))
        return 0;
    const json_t *shown = patch->shown;
    json_t *unknown = unknown_of(verb, patch->tree);
    int rc = 0;
    if (unknown == NULL ||
        (call->strictness == KI_AS_FIELDS_WARN && json_array_extend(call->warnings, unknown) < 0))
        rc = ki_as_fail_no_memory(verb->failure);
    else if (call->strictness == KI_AS_FIELDS_STRICT && json_array_size(unknown) > 0)
        rc = fail_patched(verb, unknown, shown);
    json_decref(unknown);
    return rc;
}

/* Writes the messages in the form of an apply: 'unknown field "spec.a"' becomes ".spec.a: field not declared
 * in schema". */
static int put_undeclared(ki_buf *text, const json_t *unknown)
{
    assert(json_array_size(unknown) > 0);
    const json_t *message = NULL;
    size_t i = 0;
    bool is_one = json_array_size(unknown) == 1;
    int rc = ki_as_text_put(text, is_one ? "" : "errors:");
    json_array_foreach(unknown, i, message)
    {
        const char *name = strchr(json_string_value(message), '"') + 1;
        if (rc == 0)
            rc = ki_as_text_put(text, is_one ? "." : "\n  .");
        if (rc == 0)
            rc = ki_buf_append(text, name, strlen(name) - 1);
        if (rc == 0)
            rc = ki_as_text_put(text, ": field not declared in schema");
    }
    return rc;
}

int ki_as_strict_applied(const struct ki_as_verb *verb, const json_t *config)
{
    const struct ki_as_resource *resource = verb->resource;
    json_t *unknown = unknown_of(verb, config);
    int rc = unknown == NULL ? ki_as_fail_no_memory(verb->failure) : 0;
    if (rc == 0 && json_array_size(unknown) > 0) {
        ki_buf text;
        ki_buf_init(&text, MESSAGE_BYTES_MAX);
        rc = put_undeclared(&text, unknown) < 0
                 ? ki_as_fail_no_memory(verb->failure)
                 : ki_as_fail(verb->failure, 500, "", NULL,
                              "failed to create typed patch object (%.*s/%.*s; %s%s, Kind=%s): %.*s",
                              KI_STR_ARGS(verb->call->ns), KI_STR_ARGS(verb->call->name),
                              resource->group[0] == 0 ? "/" : "", resource->api_version, resource->kind,
                              KI_STR_ARGS(ki_buf_str(&text)));
        ki_buf_fini(&text);
    }
    json_decref(unknown);
    return rc;
}
