/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/resource_version.h"

#include <string.h>

int ki_resource_version_set(ki_resource_version *version, ki_str text)
{
    if (text.len > KI_RESOURCE_VERSION_BYTES_MAX)
        return KI_ERR_TOO_LARGE;
    memset(version->text, 0, sizeof(version->text));
    if (text.len > 0)
        memcpy(version->text, text.ptr, text.len);
    version->len = (uint8_t)text.len;
    return 0;
}

ki_str ki_resource_version_str(const ki_resource_version *version)
{
    return (ki_str){version->text, version->len};
}

int ki_resource_version_is_newer(const ki_resource_version *a, const ki_resource_version *b)
{
    int order = 0;
    if (!ki_resource_version_is_set(a) || !ki_resource_version_is_set(b))
        return ki_resource_version_is_set(a) && !ki_resource_version_is_set(b);
    return ki_resource_version_compare(ki_resource_version_str(a), ki_resource_version_str(b), &order) == 0 &&
           order > 0;
}

void ki_resource_version_advance(ki_resource_version *version, const ki_resource_version *other)
{
    int order = 0;
    int rc =
        ki_resource_version_compare(ki_resource_version_str(other), ki_resource_version_str(version), &order);
    if (ki_resource_version_is_set(other) && (rc < 0 || order > 0))
        *version = *other;
}
