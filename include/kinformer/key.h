/* SPDX-License-Identifier: Apache-2.0 */
/* key - "namespace/name", the text that names one object of a collection; just "name" without a namespace.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_KEY_H
#define KI_KEY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * Writes the key of the object `name` in the namespace `ns`, which may be empty. What fits into the buffer
 * is ended by a NUL; a buffer of 0 bytes may be NULL. Every key that a store takes fits into KI_KEY_BYTES + 1
 * bytes (<kinformer/store.h>).
 *
 * Returns: the length as snprintf does; KI_ERR_INVALID when the name is empty, when one of the two has a
 *          slash in it, or without a buffer; KI_ERR_TOO_LARGE for a length that an int does not hold.
 */
KI_API KI_NODISCARD int ki_key_join(ki_str ns, ki_str name, char *buffer, size_t buffer_bytes);

/**
 * The two parts of a key; the namespace of one without a slash, or with nothing in front of it, is empty. As
 * in client-go the parts are not checked: "" has an empty name, and so has "ns/".
 *
 * Returns:   0, or KI_ERR_INVALID for two slashes or more.
 * Ownership: both point into `key`.
 */
KI_API KI_NODISCARD int ki_key_split(ki_str key, ki_str *out_ns, ki_str *out_name);

KI_EXTERN_C_END

#endif
