/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/request.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

enum { SEGMENTS_MAX = 10 };

struct segments {
    ki_str at[SEGMENTS_MAX];
    size_t count;
    bool is_too_many;
};

enum ki_as_method ki_as_method_of(const char *name)
{
    static const struct {
        const char *name;
        enum ki_as_method method;
    } methods[] = {
        {"GET", KI_AS_METHOD_GET}, {"HEAD", KI_AS_METHOD_HEAD},   {"POST", KI_AS_METHOD_POST},
        {"PUT", KI_AS_METHOD_PUT}, {"PATCH", KI_AS_METHOD_PATCH}, {"DELETE", KI_AS_METHOD_DELETE},
    };
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(name, methods[i].name) == 0)
            return methods[i].method;
    return KI_AS_METHOD_OTHER;
}

static bool is(ki_str text, const char *word)
{
    return ki_str_equal(text, ki_str_of(word)) != 0;
}

/* Each segment is decoded separately, so that an encoded '/' does not split a segment.
 * An empty last segment is dropped. */
static int split(char *path, size_t len, struct segments *out)
{
    assert(len > 0 && out->count == 0);
    char *end = path + len;
    for (char *at = path + 1; at < end;) {
        char *slash = memchr(at, '/', (size_t)(end - at));
        char *next = slash == NULL ? end : slash;
        if (out->count == SEGMENTS_MAX) {
            out->is_too_many = true;
            return 0;
        }
        ptrdiff_t bytes = ki_as_percent_decode(at, (size_t)(next - at), false);
        if (bytes < 0)
            return -1;
        out->at[out->count++] = (ki_str){at, (size_t)bytes};
        at = next + 1;
    }
    return 0;
}

static ki_str take(struct segments *segments)
{
    assert(segments->count <= SEGMENTS_MAX);
    if (segments->count == 0)
        return (ki_str){"", 0};
    ki_str first = segments->at[0];
    segments->count--;
    memmove(segments->at, segments->at + 1, segments->count * sizeof(ki_str));
    return first;
}

/* ---- the meaning of the segments ----------------------------------------------------------------------- */

/* Whether the path names a resource in a namespace: namespaces/NAME/status and …/finalize belong to the
 * namespace itself. */
static bool is_inside_namespace(const struct segments *rest)
{
    return rest->count >= 3 && is(rest->at[0], "namespaces") && !is(rest->at[2], "status") &&
           !is(rest->at[2], "finalize");
}

static enum ki_as_target read_resource(struct segments rest, struct ki_as_request *out)
{
    assert(rest.count > 0);
    if (is(rest.at[0], "watch")) {
        (void)take(&rest);
        out->query.is_watch = true;
    }
    if (is_inside_namespace(&rest)) {
        (void)take(&rest);
        out->ns = take(&rest);
        if (out->ns.len == 0)
            return KI_AS_TARGET_NONE;
    }
    if (rest.count == 0 || rest.count > 3)
        return KI_AS_TARGET_NONE;
    for (size_t i = 0; i < rest.count; i++)
        if (rest.at[i].len == 0)
            return KI_AS_TARGET_NONE;
    out->plural = take(&rest);
    out->name = take(&rest);
    out->subresource = take(&rest);
    return KI_AS_TARGET_RESOURCE;
}

static enum ki_as_target read_version(struct segments rest, struct ki_as_request *out)
{
    assert(rest.count > 0 && !rest.is_too_many);
    out->version = take(&rest);
    if (out->version.len == 0)
        return KI_AS_TARGET_NONE;
    return rest.count == 0 ? KI_AS_TARGET_VERSION : read_resource(rest, out);
}

static enum ki_as_target read_api(struct segments rest, struct ki_as_request *out)
{
    if (rest.count == 0)
        return KI_AS_TARGET_CORE;
    return read_version(rest, out);
}

static enum ki_as_target read_apis(struct segments rest, struct ki_as_request *out)
{
    if (rest.count == 0)
        return KI_AS_TARGET_GROUPS;
    out->group = take(&rest);
    if (out->group.len == 0)
        return KI_AS_TARGET_NONE;
    if (rest.count == 0)
        return KI_AS_TARGET_GROUP;
    return read_version(rest, out);
}

static enum ki_as_target read_openapi(struct segments rest, struct ki_as_request *out)
{
    ki_str form = take(&rest);
    if (is(form, "v2") && rest.count == 0)
        return KI_AS_TARGET_OPENAPI_OLD;
    if (!is(form, "v3"))
        return KI_AS_TARGET_NONE;
    if (rest.count == 0)
        return KI_AS_TARGET_OPENAPI;
    bool is_core = is(rest.at[0], "api");
    if (!is_core && !is(rest.at[0], "apis"))
        return KI_AS_TARGET_NONE;
    (void)take(&rest);
    if (!is_core)
        out->group = take(&rest);
    out->version = take(&rest);
    return rest.count == 0 && out->version.len > 0 ? KI_AS_TARGET_OPENAPI_VERSION : KI_AS_TARGET_NONE;
}

static enum ki_as_target read_target(struct segments rest, struct ki_as_request *out)
{
    if (rest.is_too_many)
        return KI_AS_TARGET_NONE;
    if (rest.count == 0)
        return KI_AS_TARGET_ROOT;
    ki_str first = take(&rest);
    if (is(first, "api"))
        return read_api(rest, out);
    if (is(first, "apis"))
        return read_apis(rest, out);
    if (is(first, "openapi"))
        return read_openapi(rest, out);
    if (is(first, "debug") && rest.count == 1) {
        out->name = take(&rest);
        return KI_AS_TARGET_DEBUG;
    }
    if (rest.count > 0)
        return KI_AS_TARGET_NONE;
    if (is(first, "version"))
        return KI_AS_TARGET_SERVER_VERSION;
    bool is_health = is(first, "healthz") || is(first, "livez") || is(first, "readyz");
    return is_health ? KI_AS_TARGET_HEALTH : KI_AS_TARGET_NONE;
}

/* ---- whole addresses ----------------------------------------------------------------------------------- */

static int check_name(const struct ki_as_request *request, struct ki_as_failure *failure)
{
    ki_str parts[] = {request->ns, request->name};
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 0; at < parts[i].len; at++)
            if (parts[i].ptr[at] == '/' || parts[i].ptr[at] == '%')
                return ki_as_fail_bad_request(failure,
                                              "invalid resource name \"%.*s\": [may not contain '%c']",
                                              KI_STR_ARGS(parts[i]), parts[i].ptr[at]);
    return 0;
}

/* `memory` contains the address, whose path is split into segments and whose query is decoded, both in place,
 * and another copy of the path, which becomes request->path. */
int ki_as_request_parse(ki_str address, struct ki_as_request *out, struct ki_as_failure *failure)
{
    assert(out->memory == NULL); /* the old memory would leak */
    struct segments segments = {0};
    const char *question = address.len == 0 ? NULL : memchr(address.ptr, '?', address.len);
    size_t path_len = question == NULL ? address.len : (size_t)(question - address.ptr);
    char *memory = ki_malloc(address.len + path_len + 1);
    if (memory == NULL)
        return ki_as_fail_no_memory(failure);
    out->memory = memory;
    if (address.len > 0)
        memcpy(memory, address.ptr, address.len);
    if (path_len > 0)
        memcpy(memory + address.len, address.ptr, path_len);
    char *whole = memory + address.len;
    ptrdiff_t whole_len = ki_as_percent_decode(whole, path_len, false);
    if (whole_len < 1 || whole[0] != '/' || split(memory, path_len, &segments) < 0)
        return ki_as_fail_bad_request(failure, "the path of the request is not URL-encoded UTF-8");
    out->path = (ki_str){whole, (size_t)whole_len};
    if (question != NULL &&
        ki_as_query_parse(memory + path_len + 1, address.len - path_len - 1, &out->query, failure) < 0)
        return -1;
    out->target = read_target(segments, out);
    return check_name(out, failure);
}

void ki_as_request_fini(struct ki_as_request *request)
{
    ki_free(request->memory);
    *request = (struct ki_as_request){0};
}
