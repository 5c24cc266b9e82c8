/* SPDX-License-Identifier: Apache-2.0 */
/* key - "namespace/name", the text that identifies one object of a collection; just "name" without a
 * namespace.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_KEY_H
#define KI_KEY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * Writes the key of the object `name` in the namespace `ns`, which may be empty. Writes as much as fits, and
 * a NUL; a buffer of 0 bytes may be NULL. Every key that a store accepts fits into KI_KEY_BYTES + 1 bytes
 * (<kinformer/store.h>).
 *
 * Returns: the length, like snprintf; KI_ERR_INVALID when the name is empty, when name or namespace contains
 *          a slash, or for a NULL buffer of more than 0 bytes; KI_ERR_TOO_LARGE for a length that does not
 *          fit into an int.
 */
KI_API KI_NODISCARD int ki_key_join(ki_str ns, ki_str name, char *buffer, size_t buffer_bytes);

/**
 * Splits a key. The namespace is empty if the key has no slash, or begins with one. As in client-go the parts
 * are not checked: "" and "ns/" have an empty name.
 *
 * Returns:   0, or KI_ERR_INVALID for a key with two or more slashes, and for NULL.
 * Ownership: both point into `key`.
 */
KI_API int ki_key_split(ki_str key, ki_str *out_ns, ki_str *out_name);

KI_EXTERN_C_END

#endif
