/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/resource.h>

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/bounded_text.h"
#include "api/resource/resource_parts.h"
#include "json/text.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/byte.h"

/* RFC 1123, as Kubernetes applies it to the names of groups, versions and resources. */
enum { LABEL_BYTES_MAX = 63, SUBDOMAIN_BYTES_MAX = 253 };

/* The length of a path is an int. Three segments of this length cannot overflow it, even if each byte is
 * escaped as three. */
enum { SEGMENT_BYTES_MAX = INT_MAX / 16 };

static int is_label(ki_str text)
{
    if (text.len == 0 || text.len > LABEL_BYTES_MAX)
        return 0;
    if (!ki_byte_is_lower_or_digit(text.ptr[0]) || !ki_byte_is_lower_or_digit(text.ptr[text.len - 1]))
        return 0;
    for (size_t i = 0; i < text.len; i++)
        if (!ki_byte_is_lower_or_digit(text.ptr[i]) && text.ptr[i] != '-')
            return 0;
    return 1;
}

static int is_subdomain(ki_str text)
{
    if (text.len > SUBDOMAIN_BYTES_MAX)
        return 0;
    for (size_t start = 0; start <= text.len;) {
        size_t end = start;
        while (end < text.len && text.ptr[end] != '.')
            end++;
        if (!is_label((ki_str){text.ptr + start, end - start}))
            return 0;
        start = end + 1;
    }
    return 1;
}

/* The kind is not part of a path, but it is written into JSON, where a valid kind needs no escapes. */
static int is_kind(ki_str text)
{
    if (text.len > LABEL_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < text.len; i++)
        if (!ki_byte_is_letter_or_digit(text.ptr[i]) && text.ptr[i] != '-')
            return 0;
    return 1;
}

const char *ki_resource_parts_fault(const ki_resource_parts *parts)
{
    assert(parts != NULL);
    if (parts->group.len > 0 && !is_subdomain(parts->group))
        return "group";
    if (!is_label(parts->version))
        return "version";
    if (!is_label(parts->plural))
        return "plural";
    if (!is_kind(parts->kind))
        return "kind";
    if (parts->scope != KI_SCOPE_CLUSTER && parts->scope != KI_SCOPE_NAMESPACED)
        return "scope";
    return NULL;
}

ki_resource_parts ki_resource_parts_of(const ki_resource *resource)
{
    assert(resource != NULL);
    return (ki_resource_parts){
        .group = ki_str_of(resource->group),
        .version = ki_str_of(resource->version),
        .plural = ki_str_of(resource->plural),
        .kind = ki_str_of(resource->kind),
        .scope = resource->scope,
    };
}

static const char *copy_string(char **cursor, ki_str text)
{
    char *copy = *cursor;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *cursor = copy + text.len + 1;
    return copy;
}

ki_resource *ki_resource_from_parts(const ki_resource_parts *parts)
{
    assert(ki_resource_parts_fault(parts) == NULL);
    size_t text_bytes = parts->group.len + parts->version.len + parts->plural.len + parts->kind.len + 4;
    ki_resource *resource = ki_malloc(sizeof(*resource) + text_bytes);
    if (resource == NULL)
        return NULL;
    char *cursor = (char *)(resource + 1);
    *resource = (ki_resource){.scope = (ki_scope)parts->scope};
    resource->group = copy_string(&cursor, parts->group);
    resource->version = copy_string(&cursor, parts->version);
    resource->plural = copy_string(&cursor, parts->plural);
    resource->kind = copy_string(&cursor, parts->kind);
    return resource;
}

ki_resource *ki_resource_new(const ki_resource *like, ki_error *err)
{
    if (like == NULL) {
        ki_fail(err, KI_ERR_INVALID, "the resource to copy is NULL");
        return NULL;
    }
    ki_resource_parts parts = ki_resource_parts_of(like);
    const char *fault = ki_resource_parts_fault(&parts);
    if (fault != NULL) {
        ki_fail(err, KI_ERR_INVALID, "the %s of the resource is missing or malformed", fault);
        return NULL;
    }
    ki_resource *resource = ki_resource_from_parts(&parts);
    if (resource == NULL)
        ki_fail_no_memory(err);
    return resource;
}

void ki_resource_free(ki_resource *resource)
{
    ki_free(resource);
}

int ki_resource_equal(const ki_resource *a, const ki_resource *b)
{
    if (a == b || a == NULL || b == NULL)
        return a == b;
    return ki_str_equal(ki_str_of(a->plural), ki_str_of(b->plural)) &&
           ki_str_equal(ki_str_of(a->version), ki_str_of(b->version)) &&
           ki_str_equal(ki_str_of(a->group), ki_str_of(b->group));
}

int ki_resource_api_version(const ki_resource *resource, char *buffer, size_t buffer_bytes)
{
    if (resource == NULL || resource->version == NULL || (buffer == NULL && buffer_bytes > 0))
        return KI_ERR_INVALID;
    if (resource->group == NULL || resource->group[0] == 0)
        return snprintf(buffer, buffer_bytes, "%s", resource->version);
    return snprintf(buffer, buffer_bytes, "%s/%s", resource->group, resource->version);
}

/* Whether the character needs no escape in a path: pchar of RFC 3986. Names of RBAC objects contain colons,
 * which should stay readable in the server's audit log. */
static int stands_in_path(char c)
{
    return ki_byte_is_letter_or_digit(c) || (c != 0 && strchr("-._~!$&'()*+,;=:@", c) != NULL);
}

static void put_segment(ki_bounded_text *path, ki_str text)
{
    static const char hex[] = "0123456789ABCDEF";
    ki_bounded_put_byte(path, '/');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (stands_in_path(text.ptr[i])) {
            ki_bounded_put_byte(path, text.ptr[i]);
        } else {
            ki_bounded_put_byte(path, '%');
            ki_bounded_put_byte(path, hex[byte >> 4]);
            ki_bounded_put_byte(path, hex[byte & 15]);
        }
    }
}

/* A slash, a percent sign, "." or ".." could make the path address a different object. Names are UTF-8. */
static int is_segment(ki_str text)
{
    if (ki_utf8_valid_len(text.ptr, text.len) != text.len)
        return 0;
    if (ki_str_equal(text, KI_STR(".")) || ki_str_equal(text, KI_STR("..")))
        return 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '/' || text.ptr[i] == '%')
            return 0;
    return 1;
}

static int path_is_sound(const ki_resource_parts *parts, ki_str ns, ki_str name, ki_str subresource)
{
    if (ki_resource_parts_fault(parts) != NULL)
        return 0;
    if (!is_segment(ns) || !is_segment(name) || !is_segment(subresource))
        return 0;
    if (subresource.len > 0 && name.len == 0)
        return 0;
    if (parts->scope == KI_SCOPE_CLUSTER)
        return ns.len == 0;
    return ns.len > 0 || name.len == 0;
}

int ki_resource_path(const ki_resource *resource, ki_str ns, ki_str name, ki_str subresource, char *buffer,
                     size_t buffer_bytes)
{
    if (resource == NULL || (buffer == NULL && buffer_bytes > 0))
        return KI_ERR_INVALID;
    ki_resource_parts parts = ki_resource_parts_of(resource);
    if (!path_is_sound(&parts, ns, name, subresource))
        return KI_ERR_INVALID;
    if (ns.len > SEGMENT_BYTES_MAX || name.len > SEGMENT_BYTES_MAX || subresource.len > SEGMENT_BYTES_MAX)
        return KI_ERR_TOO_LARGE;

    ki_bounded_text path = ki_bounded_text_in(buffer, buffer_bytes);
    ki_bounded_put(&path, parts.group.len > 0 ? KI_STR("/apis") : KI_STR("/api"));
    if (parts.group.len > 0)
        put_segment(&path, parts.group);
    put_segment(&path, parts.version);
    if (ns.len > 0) {
        ki_bounded_put(&path, KI_STR("/namespaces"));
        put_segment(&path, ns);
    }
    put_segment(&path, parts.plural);
    if (name.len > 0)
        put_segment(&path, name);
    if (subresource.len > 0)
        put_segment(&path, subresource);
    return ki_bounded_finish(&path);
}
