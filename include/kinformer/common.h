/* SPDX-License-Identifier: Apache-2.0 */
/* common - what every public header needs: linkage, attributes, borrowed text, the version.
 *
 * Threads: any, for all calls.
 */
#ifndef KI_COMMON_H
#define KI_COMMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KI_EXTERN_C_BEGIN extern "C" {
#define KI_EXTERN_C_END }
#else
#define KI_EXTERN_C_BEGIN
#define KI_EXTERN_C_END
#endif

#if defined(__GNUC__) || defined(__clang__)
#define KI_API __attribute__((visibility("default")))
#define KI_NODISCARD __attribute__((warn_unused_result))
#define KI_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define KI_API
#define KI_NODISCARD
#define KI_PRINTF(format_index, first_index)
#endif

/* KI_NODISCARD marks calls that return something to free, calls whose result alone says that the work was not
 * done, and calls that may have left a buffer unwritten. Calls that read a value into an output, which keeps
 * its value on failure, do not have it; nor do calls whose failure a program may ignore.
 *
 * Members of structs that are named `reserved…` are 0, unless they are said to be the library's. */

/** The version of these headers. As a number it has 8 bits for each part: 1.2.3 is 0x010203. */
#define KI_VERSION_MAJOR 0
#define KI_VERSION_MINOR 1
#define KI_VERSION_PATCH 0
#define KI_VERSION_NUMBER (KI_VERSION_MAJOR << 16 | KI_VERSION_MINOR << 8 | KI_VERSION_PATCH)

KI_EXTERN_C_BEGIN

/**
 * Borrowed text: a pointer and a length, not NUL-terminated. A zeroed ki_str is the empty string; a lookup
 * that finds nothing returns it.
 */
typedef struct ki_str {
    const char *ptr;
    size_t len;
} ki_str;

/** A ki_str of a string literal: KI_STR("default"). */
#ifdef __cplusplus
#define KI_STR(literal) (ki_str{"" literal, sizeof(literal) - 1})
#else
#define KI_STR(literal) ((ki_str){"" literal, sizeof(literal) - 1})
#endif

/** For printf's "%.*s": printf("%.*s\n", KI_STR_ARGS(text)). Evaluates `text` three times; its length must
 * fit into an int. */
#define KI_STR_ARGS(text) (int)(text).len, ((text).len ? (text).ptr : "")

/** The text of a NUL-terminated string; NULL gives the empty string. */
KI_API ki_str ki_str_of(const char *text);

/** The text of `len` bytes; NULL gives the empty string. */
KI_API ki_str ki_str_from(const char *ptr, size_t len);

/** 1 when both hold the same bytes, else 0. */
KI_API int ki_str_equal(ki_str a, ki_str b);

/** Compares bytes, as memcmp() does. Returns a negative number, 0 or a positive number. A prefix sorts before
 * the longer text. */
KI_API int ki_str_compare(ki_str a, ki_str b);

/** The version of the library at run time: as text, "1.2.3", and as a number, like KI_VERSION_NUMBER. */
KI_API const char *ki_version(void);
KI_API int ki_version_number(void);

/**
 * The size of a public struct, by name, as the library was compiled: ki_struct_bytes("ki_client_options").
 * Bindings for other languages compare it with their own idea of the layout.
 *
 * Returns: 0 for an unknown name, and for NULL.
 */
KI_API size_t ki_struct_bytes(const char *name);

KI_EXTERN_C_END

#endif
