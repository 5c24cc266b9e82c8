/* SPDX-License-Identifier: Apache-2.0 */
/* resource_version - an owned resourceVersion.
 *
 *   From:     reflector/, queue/, informer/, which pass versions between threads; also feed/feed_apply.c
 *   Locks:    none; each value has one owner. Values share long texts by reference count.
 *   Not here: what a version proves.
 *
 * Kubernetes' own versions are numbers of at most 20 digits and are stored in the value. Others may be up
 * to KI_RESOURCE_VERSION_BYTES_MAX long. Such a text is allocated once, when it is set, and copies share
 * it, so only ki_resource_version_set() can fail. Do not assign values with =; copy them with
 * ki_resource_version_copy(), and clear them at the end.
 */
#ifndef KI_API_OBJECT_RESOURCE_VERSION_H
#define KI_API_OBJECT_RESOURCE_VERSION_H

#include <kinformer/object.h>
#include <stdbool.h>

#include "util/refcount.h"

/* The longest text that is stored in the value itself; and the length that marks a value with a shared
 * text. */
enum { KI_RESOURCE_VERSION_BRIEF_BYTES = 23, KI_RESOURCE_VERSION_IS_LONG = 255 };

/* A long text that values share. Only the count changes. */
typedef struct ki_long_version {
    ki_refcount refs;
    uint32_t len;
    char text[];
} ki_long_version;

/* A zeroed struct is unset. Both forms begin with a length, which distinguishes them. */
typedef struct ki_resource_version {
    union {
        struct {
            uint8_t len;
            char text[KI_RESOURCE_VERSION_BRIEF_BYTES];
        } brief;
        struct {
            uint8_t len; /* KI_RESOURCE_VERSION_IS_LONG */
            ki_long_version *shared;
        } extended;
    };
} ki_resource_version;

_Static_assert(sizeof(ki_resource_version) == KI_RESOURCE_VERSION_BRIEF_BYTES + 1,
               "both forms have the documented size");

static inline bool ki_resource_version_is_long(const ki_resource_version *version)
{
    return version->brief.len == KI_RESOURCE_VERSION_IS_LONG;
}

static inline bool ki_resource_version_is_set(const ki_resource_version *version)
{
    return version->brief.len != 0;
}

/* Replaces the value. Returns 0; KI_ERR_TOO_LARGE if the text is longer than KI_RESOURCE_VERSION_BYTES_MAX;
 * or KI_ERR_NO_MEMORY. On failure `version` is unchanged. `text` must not belong to `version` itself. */
KI_NODISCARD int ki_resource_version_set(ki_resource_version *version, ki_str text);

/* Only for the two functions below: one more value, or one less, shares the long text. */
void ki_resource_version_share(const ki_resource_version *version);
void ki_resource_version_release(const ki_resource_version *version);

static inline void ki_resource_version_clear(ki_resource_version *version)
{
    if (ki_resource_version_is_long(version))
        ki_resource_version_release(version);
    *version = (ki_resource_version){0};
}

/* Replaces the value by a copy of `other`, which may be `version`. */
static inline void ki_resource_version_copy(ki_resource_version *version, const ki_resource_version *other)
{
    if (ki_resource_version_is_long(other))
        ki_resource_version_share(other);
    if (ki_resource_version_is_long(version))
        ki_resource_version_release(version);
    *version = *other;
}

/* Borrowed from the value. */
static inline ki_str ki_resource_version_str(const ki_resource_version *version)
{
    if (ki_resource_version_is_long(version))
        return (ki_str){version->extended.shared->text, version->extended.shared->len};
    return (ki_str){version->brief.text, version->brief.len};
}

/* Writes the text and a NUL, as far as it fits. Returns the length, like snprintf. */
size_t ki_resource_version_write(const ki_resource_version *version, char *buffer, size_t buffer_bytes);

bool ki_resource_version_equal(const ki_resource_version *a, const ki_resource_version *b);

/* 1 if a is newer than b, both being decimal numbers. A set version is newer than an unset one. If the
 * versions cannot be compared, neither is newer. */
int ki_resource_version_is_newer(const ki_resource_version *a, const ki_resource_version *b);

/* Like ki_resource_version_is_newer(), for texts; an empty text is unset. */
int ki_resource_version_text_is_newer(ki_str a, ki_str b);

/* The version to resume from if `other` was received after `version`: the newer of the two or, if they
 * cannot be compared, `other`. An unset `other` is ignored. */
const ki_resource_version *ki_resource_version_latest(const ki_resource_version *version,
                                                      const ki_resource_version *other);

/* Sets *version to the latest of the two. Returns whether it has changed. */
bool ki_resource_version_advance(ki_resource_version *version, const ki_resource_version *other);

#endif
