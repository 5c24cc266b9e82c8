/* SPDX-License-Identifier: Apache-2.0 */
/* selector - which objects are meant: "app=web,tier in (front,back),!canary".
 *
 * A label selector is requirements with commas between them, all of which must hold:
 *
 *   key = value   key == value      the label has this value
 *   key != value                    it has another one, or the object has no such label
 *   key in (a, b)                   the label has one of these values
 *   key notin (a, b)                it has none of them, or the object has no such label
 *   key           !key              the object has the label, or has it not
 *   key > 5       key < 5           the label is a whole number above, or below
 *
 * An empty value is a value ("key=", "key in (a,)"); an empty selector means every object. Keys and values
 * are checked as Kubernetes does: a key is a name of at most 63 characters, perhaps with a DNS subdomain and
 * a slash before it; a value has at most 63 characters. White space is space, tab, carriage return and
 * newline, and may stand between any two parts.
 *
 * A selector does not change once it is made.
 * Threads: any, for all calls.
 */
#ifndef KI_SELECTOR_H
#define KI_SELECTOR_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

typedef struct ki_selector ki_selector;

/** The longest text of a selector, label or field. */
#define KI_SELECTOR_BYTES_MAX (256 * 1024)

/**
 * Reads a label selector.
 *
 * Returns:   a selector, or NULL with KI_ERR_SELECTOR (the offset is that of the offending byte, the message
 *            shows it and says what was expected there), KI_ERR_TOO_LARGE, KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_selector_free(). The text is copied.
 */
KI_API KI_NODISCARD ki_selector *ki_selector_parse(ki_str text, ki_error *err);

/** NULL is allowed. */
KI_API void ki_selector_free(ki_selector *selector);

/** The selector of every object, and that of none. They live for ever and are not freed. */
KI_API const ki_selector *ki_selector_everything(void);
KI_API const ki_selector *ki_selector_nothing(void);

/** 1 when it has no requirement, as that of an empty text. */
KI_API int ki_selector_is_everything(const ki_selector *selector);

/**
 * 1 when the labels of the object meet every requirement. Allocates nothing. An object whose labels a
 * projection has left out has none. NULL, as from a text that could not be read, selects nothing.
 */
KI_API int ki_selector_matches(const ki_selector *selector, const ki_object *object);

/** The same for labels found elsewhere: a JSON object of strings, or KI_JSON_NONE for none. */
KI_API int ki_selector_matches_labels(const ki_selector *selector, ki_json labels);

/**
 * Writes the selector as text that reads back as the same one. Selectors with the same requirements give the
 * same text, however they were written: sorted by key, each requirement and each value once, "==" as "=", a
 * set of one value as "=" or "!=", no white space that is not needed. That of ki_selector_nothing() is
 * "nothing,!nothing".
 *
 * Returns: the length as snprintf does, or KI_ERR_INVALID.
 */
KI_API KI_NODISCARD int ki_selector_format(const ki_selector *selector, char *buffer, size_t buffer_bytes);

/**
 * Checks a field selector, "metadata.name=web,status.phase!=Running", and writes it in the one way that all
 * its spellings share: sorted, each term once, "==" as "=". Terms are a field, then =, == or !=, then a
 * value, in which a comma, an equals sign and a backslash stand behind a backslash; white space counts. Which
 * fields there are, and which objects match, is known to the server alone.
 *
 * Returns: the length as snprintf does; KI_ERR_SELECTOR with the place, KI_ERR_TOO_LARGE, KI_ERR_NO_MEMORY,
 *          KI_ERR_INVALID without a buffer.
 */
KI_API KI_NODISCARD int ki_field_selector_format(ki_str text, char *buffer, size_t buffer_bytes,
                                                 ki_error *err);

KI_EXTERN_C_END

#endif
