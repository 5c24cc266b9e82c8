/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/resource_version.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

static ki_long_version *long_new(ki_str text)
{
    ki_long_version *made = ki_malloc(sizeof(*made) + text.len);
    if (made == NULL)
        return NULL;
    ki_refcount_init(&made->refs);
    made->len = (uint32_t)text.len;
    memcpy(made->text, text.ptr, text.len);
    return made;
}

static int set_long(ki_resource_version *version, ki_str text)
{
    if (text.len > KI_RESOURCE_VERSION_BYTES_MAX)
        return KI_ERR_TOO_LARGE;
    ki_long_version *made = long_new(text);
    if (made == NULL)
        return KI_ERR_NO_MEMORY;
    ki_resource_version_clear(version);
    version->extended.len = KI_RESOURCE_VERSION_IS_LONG;
    version->extended.shared = made;
    return 0;
}

int ki_resource_version_set(ki_resource_version *version, ki_str text)
{
    assert(version != NULL);
    assert(text.ptr != NULL || text.len == 0);
    if (text.len > KI_RESOURCE_VERSION_BRIEF_BYTES)
        return set_long(version, text);
    ki_resource_version_clear(version);
    if (text.len > 0)
        memcpy(version->brief.text, text.ptr, text.len);
    version->brief.len = (uint8_t)text.len;
    return 0;
}

void ki_resource_version_share(const ki_resource_version *version)
{
    assert(version != NULL);
    ki_refcount_ref(&version->extended.shared->refs);
}

void ki_resource_version_release(const ki_resource_version *version)
{
    assert(version != NULL);
    if (ki_refcount_unref(&version->extended.shared->refs))
        ki_free(version->extended.shared);
}

size_t ki_resource_version_write(const ki_resource_version *version, char *buffer, size_t buffer_bytes)
{
    ki_str text = ki_resource_version_str(version);
    if (buffer_bytes > 0) {
        size_t n = text.len < buffer_bytes ? text.len : buffer_bytes - 1;
        memcpy(buffer, text.ptr, n);
        buffer[n] = 0;
    }
    return text.len;
}

bool ki_resource_version_equal(const ki_resource_version *a, const ki_resource_version *b)
{
    return ki_str_equal(ki_resource_version_str(a), ki_resource_version_str(b));
}

int ki_resource_version_text_is_newer(ki_str a, ki_str b)
{
    assert((a.ptr != NULL || a.len == 0) && (b.ptr != NULL || b.len == 0));
    int order = 0;
    if (a.len == 0 || b.len == 0)
        return a.len > 0 && b.len == 0;
    return ki_resource_version_compare(a, b, &order) == 0 && order > 0;
}

int ki_resource_version_is_newer(const ki_resource_version *a, const ki_resource_version *b)
{
    return ki_resource_version_text_is_newer(ki_resource_version_str(a), ki_resource_version_str(b));
}

const ki_resource_version *ki_resource_version_latest(const ki_resource_version *version,
                                                      const ki_resource_version *other)
{
    int order = 0;
    int rc =
        ki_resource_version_compare(ki_resource_version_str(other), ki_resource_version_str(version), &order);
    return ki_resource_version_is_set(other) && (rc < 0 || order > 0) ? other : version;
}

bool ki_resource_version_advance(ki_resource_version *version, const ki_resource_version *other)
{
    int order = 0;
    ki_str text = ki_resource_version_str(version);
    ki_str other_text = ki_resource_version_str(other);
    bool is_comparable = ki_resource_version_compare(other_text, text, &order) == 0;
    if (is_comparable ? order <= 0 : other_text.len == 0 || ki_str_equal(other_text, text))
        return false;
    ki_resource_version_copy(version, other);
    return true;
}
