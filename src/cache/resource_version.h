/* SPDX-License-Identifier: Apache-2.0 */
/* resource_version - a resourceVersion by value.
 *
 *   From:     cache/reflector.c, cache/delta_fifo.c, cache/apply.c, which carry versions from thread to
 *             thread
 *   Not here: what a version may claim.
 */
#ifndef KI_CACHE_RESOURCE_VERSION_H
#define KI_CACHE_RESOURCE_VERSION_H

#include <kinformer/object.h>

#define KI_RESOURCE_VERSION_BYTES_MAX 63

/* A zeroed one is "unset". */
typedef struct ki_resource_version {
    uint8_t len;
    char text[KI_RESOURCE_VERSION_BYTES_MAX];
} ki_resource_version;

/* Returns 0, or KI_ERR_TOO_LARGE for a text that no server sends; `version` is untouched then. `text` is not
 * of `version` itself. */
KI_NODISCARD int ki_resource_version_set(ki_resource_version *version, ki_str text);

ki_str ki_resource_version_str(const ki_resource_version *version);

static inline int ki_resource_version_is_set(const ki_resource_version *version)
{
    return version->len != 0;
}

/* 1 when a is newer than b, both being decimal numbers. A set version is newer than none; of versions that
 * cannot be compared neither is newer. */
int ki_resource_version_is_newer(const ki_resource_version *a, const ki_resource_version *b);

/* *version becomes `other` if that is newer, or if they cannot be compared: then the last one received is
 * the one to go on from. An unset `other` changes nothing. */
void ki_resource_version_advance(ki_resource_version *version, const ki_resource_version *other);

#endif
