/* SPDX-License-Identifier: Apache-2.0 */
/* json - reads JSON text without building a tree, writes it, compares it.
 *
 * A ki_json is a borrowed slice of JSON text. Every read scans the bytes; nothing is allocated. Text that
 * comes from this library, such as that of an object, is valid. Check other text with ki_json_validate()
 * first; reading unchecked text is safe, but the result is unspecified.
 *
 * When a name occurs twice in one object, lookups and comparisons use the first; iterators return both. A
 * NULL pointer finds nothing; a NULL output is KI_ERR_INVALID.
 * Threads: any, for all calls; a writer belongs to one thread at a time.
 */
#ifndef KI_JSON_H
#define KI_JSON_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef enum ki_json_type {
    KI_JSON_NONE = 0, /* no value: a lookup that found nothing, or text that is not a JSON value */
    KI_JSON_NULL,
    KI_JSON_BOOL,
    KI_JSON_NUMBER,
    KI_JSON_STRING,
    KI_JSON_ARRAY,
    KI_JSON_OBJECT
} ki_json_type;

/** One JSON value, borrowed: its text without surrounding white space. A zeroed ki_json has no value: its
 * ki_json_type_of() is KI_JSON_NONE. "Returns KI_JSON_NONE" means: returns a zeroed ki_json. */
typedef struct ki_json {
    ki_str raw;
} ki_json;

/* ---- reading ------------------------------------------------------------------------------------------- */

/**
 * Checks that `text` is exactly one JSON value by RFC 8259, at most 1,000 levels deep.
 *
 * Returns: 0, or a JSON error, with the offset of the offending byte.
 */
KI_API KI_NODISCARD int ki_json_validate(ki_str text, ki_error *err);

/** The value in `text`, without surrounding white space. */
KI_API ki_json ki_json_of(ki_str text);

/** The type, from the first character. */
KI_API ki_json_type ki_json_type_of(ki_json value);

/**
 * Finds a value by JSON Pointer (RFC 6901): "/spec/containers/0/name", "" for the value itself, "~1" for
 * "/" and "~0" for "~" in a name.
 *
 * Returns: the value, or KI_JSON_NONE when nothing is there or the pointer is malformed.
 */
KI_API ki_json ki_json_find(ki_json value, const char *pointer);

/** Like ki_json_find(), for a pointer that is not NUL-terminated. */
KI_API ki_json ki_json_find_str(ki_json value, ki_str pointer);

/** The value of the member `name` (plain text, no escapes) of an object; KI_JSON_NONE when there is no such
 * member, or when it is not an object. */
KI_API ki_json ki_json_member(ki_json object, ki_str name);

/** Iterates over the members of an object or the elements of an array; any other value has none. */
typedef struct ki_json_iter {
    const char *at;
    const char *limit;
    int in_object;
    int state; /* the iterator's own */
} ki_json_iter;

/** An iterator before the first member or element: while (ki_json_next(&iter, &name, &value)) … */
KI_API ki_json_iter ki_json_iterate(ki_json container);

/**
 * Steps to the next member or element. `out_name` is set to the member's name, a JSON string; in an array to
 * KI_JSON_NONE. Both outputs may be NULL.
 *
 * Returns: 1, or 0 at the end (or where unchecked text is malformed).
 */
KI_API int ki_json_next(ki_json_iter *iter, ki_json *out_name, ki_json *out_value);

/**
 * The text of a string that has no escapes, borrowed from the JSON text.
 *
 * Returns: 0, KI_ERR_TYPE when it is not a string, KI_ERR_ESCAPED when it has escapes: use
 *          ki_json_string_copy().
 */
KI_API int ki_json_string(ki_json value, ki_str *out_text);

/**
 * Unescapes a string into `buffer`; value.raw.len bytes are always enough. No NUL is added. After a failure
 * the content of the buffer is undefined.
 *
 * Returns: 0, KI_ERR_TYPE when it is not a string, KI_ERR_TOO_LARGE when the buffer is too small,
 *          KI_ERR_JSON_ESCAPE for unchecked text with a bad escape.
 */
KI_API KI_NODISCARD int ki_json_string_copy(ki_json value, char *buffer, size_t buffer_bytes,
                                            size_t *out_len);

/** 1 when `value` is a string whose unescaped text equals `text`. */
KI_API int ki_json_string_equals(ki_json value, ki_str text);

/**
 * Reads an integer: 12, -3, 1e3, 5.0.
 *
 * Returns: 0; KI_ERR_TYPE when it is not a number, or not a whole number, such as 1.5; KI_ERR_RANGE when it
 *          does not fit into an int64_t, such as 1e19.
 */
KI_API int ki_json_int64(ki_json value, int64_t *out_number);

/** Reads a number as the nearest double. Returns: 0, KI_ERR_TYPE, or KI_ERR_RANGE when it is larger than the
 * largest double. */
KI_API int ki_json_double(ki_json value, double *out_number);

/** Reads true and false as 1 and 0. Returns: 0, or KI_ERR_TYPE. */
KI_API int ki_json_bool(ki_json value, int *out_flag);

/**
 * Compares the values, not the text: the order of names, white space and the spelling of escapes and of
 * numbers are ignored (1.0 equals 1, 1e2 equals 100; compared as exact decimals). Two missing values are
 * equal.
 *
 * Returns: 1 equal, 0 different; KI_ERR_NO_MEMORY; KI_ERR_JSON_DEPTH past 1,000 levels; KI_ERR_JSON_SYNTAX
 *          for unchecked text if a syntax error comes before the first difference.
 *          Errors are not 0: compare with == 1.
 */
KI_API KI_NODISCARD int ki_json_equal(ki_json a, ki_json b);

/* ---- writing ------------------------------------------------------------------------------------------- */

/** Writes one JSON text into its own memory, and adds commas, colons and escapes. */
typedef struct ki_json_writer ki_json_writer;

typedef struct ki_json_writer_options {
    int indent;       /* spaces per level; 0 or less: compact */
    size_t bytes_max; /* 0: 64 MiB */
    uint64_t reserved[2];
} ki_json_writer_options;

/** Returns: a writer to free, or NULL when out of memory. `options` may be NULL. */
KI_API KI_NODISCARD ki_json_writer *ki_json_writer_new(const ki_json_writer_options *options);

/** NULL is allowed. */
KI_API void ki_json_writer_free(ki_json_writer *writer);

/* The calls below return nothing: the writer remembers the first failure (out of memory, too large, a name
 * missing in an object, one value too many), later calls do nothing, and ki_json_writer_finish() reports it.
 * A NULL writer, as from a failed ki_json_writer_new(), is allowed; finishing it returns KI_ERR_INVALID. */
KI_API void ki_json_write_object_begin(ki_json_writer *writer);
KI_API void ki_json_write_object_end(ki_json_writer *writer);
KI_API void ki_json_write_array_begin(ki_json_writer *writer);
KI_API void ki_json_write_array_end(ki_json_writer *writer);
/** The name of the next member. Names and strings are UTF-8 text; malformed UTF-8 is an error. */
KI_API void ki_json_write_name(ki_json_writer *writer, ki_str name);
KI_API void ki_json_write_string(ki_json_writer *writer, ki_str text);
KI_API void ki_json_write_int64(ki_json_writer *writer, int64_t number);
/** Writes the fewest digits that read back as the same double, in the format of ECMAScript and Go; infinities
 * and NaN are errors. */
KI_API void ki_json_write_double(ki_json_writer *writer, double number);
KI_API void ki_json_write_bool(ki_json_writer *writer, int flag);
KI_API void ki_json_write_null(ki_json_writer *writer);
/** Writes a whole value, re-formatted according to the options. It must be valid JSON. The text must begin
 * with the value, not with white space, as those from ki_json_of() and lookups do;
 * KI_JSON_NONE is an error. */
KI_API void ki_json_write_value(ki_json_writer *writer, ki_json value);

/**
 * Ends the text.
 *
 * Returns:   0 with the text in `out_text`, not NUL-terminated; the first error; KI_ERR_INVALID when an array
 *            or object has not been ended, or nothing was written.
 * Ownership: borrowed until the writer is reset or freed.
 */
KI_API KI_NODISCARD int ki_json_writer_finish(ki_json_writer *writer, ki_str *out_text, ki_error *err);

/** Clears the text and the error, so that another text can be written; keeps the memory. */
KI_API void ki_json_writer_reset(ki_json_writer *writer);

KI_EXTERN_C_END

#endif
