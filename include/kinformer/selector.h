/* SPDX-License-Identifier: Apache-2.0 */
/* selector - selects objects by their labels: "app=web,tier in (front,back),!canary".
 *
 * A label selector is a list of requirements, separated by commas, all of which must be met:
 *
 *   key = value, key == value       the label has this value
 *   key != value                    the label has another value, or the object does not have it
 *   key in (a, b)                   the label has one of these values
 *   key notin (a, b)                the label has none of these values, or the object does not have it
 *   key                             the object has the label
 *   !key                            the object does not have the label
 *   key > 5                         the label is an integer greater than this
 *   key < 5                         the label is an integer less than this
 *
 * An empty value is a value ("key=", "key in (a,)"); an empty selector matches every object. Keys and values
 * follow the rules of Kubernetes: a key is a name of at most 63 characters, optionally with a DNS subdomain
 * and a slash before it; a value has at most 63 characters. White space (space, tab, carriage return,
 * newline) is allowed between any two parts.
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

/** The maximum length of the text of a label or field selector. */
#define KI_SELECTOR_BYTES_MAX (256 * 1024)

/**
 * Parses a label selector.
 *
 * Returns:   a selector, or NULL with KI_ERR_SELECTOR (the offset is that of the offending byte, the message
 *            shows it and says what was expected there), KI_ERR_TOO_LARGE, KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_selector_free(). The text is copied.
 */
KI_API KI_NODISCARD ki_selector *ki_selector_parse(ki_str text, ki_error *err);

/** NULL is allowed. */
KI_API void ki_selector_free(ki_selector *selector);

/** A selector that matches every object, and one that matches none. They are static and not to be freed. */
KI_API const ki_selector *ki_selector_everything(void);
KI_API const ki_selector *ki_selector_nothing(void);

/** 1 if it has no requirements (for example, parsed from an empty text); 0 for NULL. */
KI_API int ki_selector_is_everything(const ki_selector *selector);

/**
 * 1 when the labels of the object meet every requirement. Allocates nothing. An object whose labels were
 * removed by a projection has none. A NULL selector, as from a text that could not be parsed, matches nothing
 * here, but everything in a lister. No selector matches a NULL object.
 */
KI_API int ki_selector_matches(const ki_selector *selector, const ki_object *object);

/** The same for other labels: a JSON object of strings, or KI_JSON_NONE for no labels. */
KI_API int ki_selector_matches_labels(const ki_selector *selector, ki_json labels);

/**
 * Writes the selector as text that can be parsed again. Selectors with the same requirements give the same
 * text, however they were written: sorted by key, each requirement and each value once, "==" as "=", a set of
 * one value as "=" or "!=", no unnecessary white space. The text of ki_selector_nothing() is
 * "nothing,!nothing".
 *
 * Returns: the length, like snprintf; KI_ERR_INVALID for a NULL selector,
 *          or a NULL buffer of more than 0 bytes.
 */
KI_API KI_NODISCARD int ki_selector_format(const ki_selector *selector, char *buffer, size_t buffer_bytes);

/**
 * Checks a field selector, "metadata.name=web,status.phase!=Running", and writes it in canonical form:
 * sorted, each term once, "==" as "=". A term is a field, then =, == or !=, then a value, in which commas,
 * equals signs and backslashes are escaped with a backslash. White space is significant. The text must be
 * UTF-8. Only the server knows which fields exist and which objects match.
 *
 * Returns: the length, like snprintf; KI_ERR_SELECTOR with the offset of the error, KI_ERR_TOO_LARGE,
 *          KI_ERR_NO_MEMORY, KI_ERR_INVALID for a NULL buffer of more than 0 bytes.
 */
KI_API KI_NODISCARD int ki_field_selector_format(ki_str text, char *buffer, size_t buffer_bytes,
                                                 ki_error *err);

KI_EXTERN_C_END

#endif
