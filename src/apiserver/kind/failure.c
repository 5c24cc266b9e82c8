/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/failure.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/resource.h"
#include "util/alloc.h"

void ki_as_failure_fini(struct ki_as_failure *failure)
{
    assert(failure->code != 0 || (failure->status == NULL && failure->plain_text == NULL));
    json_decref(failure->status);
    *failure = (struct ki_as_failure){0};
}

/* Names from a path may be invalid UTF-8, which JSON must not contain. */
static json_t *string_of(char *text, size_t len)
{
    json_t *string = json_stringn(text, len);
    if (string != NULL)
        return string;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            text[i] = '?';
    return json_stringn(text, len);
}

KI_PRINTF(1, 0)
static json_t *format_string(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len < 0 ? NULL : ki_malloc((size_t)len + 1);
    if (text == NULL)
        return NULL;
    (void)vsnprintf(text, (size_t)len + 1, format, arguments);
    json_t *string = string_of(text, (size_t)len);
    ki_free(text);
    return string;
}

static json_t *string_copy(ki_str text)
{
    char *copy = ki_malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    json_t *string = string_of(copy, text.len);
    ki_free(copy);
    return string;
}

/* The fields are in the order in which Kubernetes writes them. Takes `message` and `details`. */
static json_t *status_new(int code, const char *reason, json_t *message, json_t *details)
{
    assert(message != NULL);
    json_t *status = json_pack("{s:s, s:s, s:{}, s:s, s:o, s:s*, s:o*, s:i}", "kind", "Status", "apiVersion",
                               "v1", "metadata", "status", "Failure", "message", message, "reason",
                               reason[0] == '\0' ? NULL : reason, "details", details, "code", code);
    return status;
}

KI_PRINTF(5, 0)
static int fail(struct ki_as_failure *failure, int code, const char *reason, json_t *details,
                const char *format, va_list arguments)
{
    assert(code >= 100 && code < 600);
    ki_as_failure_fini(failure);
    failure->code = code;
    json_t *message = format_string(format, arguments);
    if (message == NULL) {
        json_decref(details);
        return -1;
    }
    failure->status = status_new(code, reason, message, details);
    return -1;
}

int ki_as_fail(struct ki_as_failure *failure, int code, const char *reason, json_t *details,
               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int rc = fail(failure, code, reason, details, format, arguments);
    va_end(arguments);
    return rc;
}

int ki_as_fail_bad_request(struct ki_as_failure *failure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int rc = fail(failure, 400, "BadRequest", NULL, format, arguments);
    va_end(arguments);
    return rc;
}

int ki_as_fail_too_many(struct ki_as_failure *failure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int rc =
        fail(failure, 429, "TooManyRequests", json_pack("{s:i}", "retryAfterSeconds", 1), format, arguments);
    va_end(arguments);
    failure->retry_after_seconds = 1;
    return rc;
}

int ki_as_fail_no_memory(struct ki_as_failure *failure)
{
    ki_as_failure_fini(failure);
    failure->code = 500;
    return -1;
}

/* {"name", "group", "kind"} without empty members. NULL if out of memory. */
static json_t *details_of(const struct ki_as_resource *resource, ki_str name, const char *kind)
{
    assert(kind != NULL && kind[0] != '\0');
    json_t *text = name.len == 0 ? NULL : string_copy(name);
    if (name.len > 0 && text == NULL)
        return NULL;
    return json_pack("{s:o*, s:s*, s:s}", "name", text, "group",
                     resource->group[0] == '\0' ? NULL : resource->group, "kind", kind);
}

int ki_as_fail_not_found(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name)
{
    json_t *details = details_of(resource, name, resource->plural);
    return ki_as_fail(failure, 404, "NotFound", details, "%s \"%.*s\" not found", resource->qualified,
                      KI_STR_ARGS(name));
}

int ki_as_fail_already_exists(struct ki_as_failure *failure, const struct ki_as_resource *resource,
                              ki_str name, bool is_deleting)
{
    json_t *details = details_of(resource, name, resource->plural);
    return ki_as_fail(failure, 409, "AlreadyExists", details, "%s%s \"%.*s\" already exists",
                      is_deleting ? "object is being deleted: " : "", resource->qualified, KI_STR_ARGS(name));
}

int ki_as_fail_conflict(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                        const char *why)
{
    assert(why != NULL);
    json_t *details = details_of(resource, name, resource->plural);
    return ki_as_fail(failure, 409, "Conflict", details, "Operation cannot be fulfilled on %s \"%.*s\": %s",
                      resource->qualified, KI_STR_ARGS(name), why);
}

int ki_as_fail_forbidden(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                         const char *why)
{
    assert(why != NULL);
    json_t *details = details_of(resource, name, resource->plural);
    return ki_as_fail(failure, 403, "Forbidden", details, "%s \"%.*s\" is forbidden: %s", resource->qualified,
                      KI_STR_ARGS(name), why);
}

int ki_as_fail_no_such_path(struct ki_as_failure *failure)
{
    ki_as_failure_fini(failure);
    failure->code = 404;
    failure->plain_text = "404 page not found\n";
    return -1;
}

int ki_as_fail_method(struct ki_as_failure *failure)
{
    return ki_as_fail(failure, 405, "MethodNotAllowed", json_object(),
                      "the server does not allow this method on the requested resource");
}

int ki_as_fail_expired(struct ki_as_failure *failure, const char *message)
{
    return ki_as_fail(failure, 410, "Expired", NULL, "%s", message);
}

void ki_as_cause_add(json_t **causes, const char *reason, const char *field, const char *format, ...)
{
    assert(causes != NULL && reason != NULL && field != NULL);
    va_list arguments;
    va_start(arguments, format);
    json_t *message = format_string(format, arguments);
    va_end(arguments);
    if (message == NULL)
        return;
    if (*causes == NULL)
        *causes = json_array();
    /* If out of memory, only this cause is lost; the list keeps the others. */
    json_t *cause = json_pack("{s:s, s:o, s:s}", "reason", reason, "message", message, "field", field);
    if (cause != NULL)
        (void)json_array_append_new(*causes, cause);
}

static bool is_repeated(const json_t *causes, size_t at)
{
    assert(at < json_array_size(causes));
    const json_t *cause = json_array_get(causes, at);
    for (size_t i = 0; i < at; i++)
        if (json_equal(json_array_get(causes, i), cause))
            return true;
    return false;
}

/* "field: message"; several causes are put in brackets. The caller frees the text with ki_free().
 * NULL if out of memory. */
static char *text_of_causes(const json_t *causes)
{
    size_t bytes = 3;
    size_t index = 0;
    const json_t *cause = NULL;
    json_array_foreach(causes, index, cause) bytes += json_string_length(json_object_get(cause, "field")) +
                                                      json_string_length(json_object_get(cause, "message")) +
                                                      4;
    char *text = ki_malloc(bytes);
    if (text == NULL)
        return NULL;
    size_t len = 0;
    bool is_several = json_array_size(causes) > 1;
    if (is_several)
        text[len++] = '[';
    json_array_foreach(causes, index, cause)
    {
        if (is_repeated(causes, index))
            continue;
        const char *field = json_string_value(json_object_get(cause, "field"));
        len += (size_t)snprintf(text + len, bytes - len, "%s%s%s%s", index == 0 ? "" : ", ", field,
                                field[0] == '\0' ? "" : ": ",
                                json_string_value(json_object_get(cause, "message")));
    }
    assert(len + 2 <= bytes);
    (void)snprintf(text + len, bytes - len, "%s", is_several ? "]" : "");
    return text;
}

int ki_as_fail_invalid(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                       json_t *causes)
{
    json_t *details = details_of(resource, name, resource->kind);
    char *text = text_of_causes(causes);
    if (details == NULL || text == NULL || json_object_set(details, "causes", causes) < 0) {
        json_decref(details);
        json_decref(causes);
        ki_free(text);
        return ki_as_fail_no_memory(failure);
    }
    json_decref(causes);
    bool has_group = resource->group[0] != '\0';
    (void)ki_as_fail(failure, 422, "Invalid", details, "%s%s%s \"%.*s\" is invalid: %s", resource->kind,
                     has_group ? "." : "", resource->group, KI_STR_ARGS(name), text);
    ki_free(text);
    return -1;
}
