/* SPDX-License-Identifier: Apache-2.0 */
/* object - one Kubernetes object of any resource: immutable, reference-counted, in one block of memory.
 *
 * An object is its minified JSON text, with the positions of its metadata stored beside it. Fields are read
 * from the text by JSON Pointer; no tree is built. The text is complete: kind and apiVersion are added when
 * the server leaves them out, as it does in lists. Only metadata.managedFields is removed, unless asked for.
 * A projection (ki_object_options) keeps less.
 *
 * All text that these functions return, except JSON, is unescaped. It belongs to the object and lives as long
 * as the caller's reference. A NULL object is treated as an empty one; functions that return a code return
 * KI_ERR_INVALID for it, and for a NULL output. A NULL JSON Pointer finds nothing.
 * Threads: any, for all calls.
 */
#ifndef KI_OBJECT_H
#define KI_OBJECT_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/resource.h>
#include <kinformer/timestamp.h>

KI_EXTERN_C_BEGIN

typedef struct ki_object ki_object;

/* ---- making and sharing -------------------------------------------------------------------------------- */

/** Which fields of an object are kept. Zeroed: everything but metadata.managedFields. */
typedef struct ki_object_options {
    const char *const *keep; /* paths, NULL-terminated; only these are kept. NULL or empty: all are */
    const char *const *drop; /* paths, NULL-terminated; these are removed. NULL: none */
    int keep_managed_fields; /* 0: metadata.managedFields is removed, unless `keep` has exactly this path; 1:
                              * it is like any other field */
    uint32_t depth_max;      /* levels of nesting; 0: 1,000; at most 1,024 */
    size_t bytes_max;        /* of the text that is kept; 0: 64 MiB; at most 1 GiB */
    uint64_t reserved[4];
} ki_object_options;

/**
 * Makes an object from JSON text, as informers do from what a server sends. `resource` supplies kind and
 * apiVersion when the text has none; those in the text are not checked against it. If neither has a kind, it
 * is empty.
 *
 * A path is a JSON Pointer in which the part * stands for every element of an array or every value of a map;
 * or "label:" and the name of a label, in which no character is special (KI_PATH_LABEL() in
 * <kinformer/store.h>). Array elements can only be selected with *, since removing single ones would renumber
 * the rest; a number is the name of a member. If several paths match a field, the longest decides; the same
 * path in `keep` and `drop` is an error. Objects and arrays around a kept field stay, even if the field is
 * missing; a string, number, boolean or null where they should be is removed. Name, namespace, uid,
 * resourceVersion, apiVersion and kind are available whatever is kept of the text.
 *
 * Returns:   a new object, or NULL with a JSON error, KI_ERR_METADATA (not a JSON object, no name or an
 *            invalid one, or metadata of the wrong type), KI_ERR_TOO_LARGE, KI_ERR_INVALID (a bad path or
 *            resource), KI_ERR_NO_MEMORY.
 * Ownership: the caller drops it with ki_object_unref(). `resource` and `options` may be NULL and are not
 *            kept.
 */
KI_API KI_NODISCARD ki_object *ki_object_new(const ki_resource *resource, ki_str json,
                                             const ki_object_options *options, ki_error *err);

/** Takes another reference; returns its argument. NULL is allowed. An object must never be written to: the
 * result is not const only because ki_object_unref() takes such a pointer. */
KI_API ki_object *ki_object_ref(const ki_object *object);

/** Drops a reference; the last one frees the object. NULL is allowed. Always returns NULL. */
KI_API ki_object *ki_object_unref(ki_object *object);

/** The memory that the object uses, in bytes. */
KI_API size_t ki_object_bytes(const ki_object *object);

/* ---- metadata: available without searching the text ---------------------------------------------------- */

/** "namespace/name", or "name" when there is no namespace; NUL-terminated. "" for NULL. */
KI_API const char *ki_object_key(const ki_object *object);

/** The key of ki_object_key(), with its length. */
KI_API ki_str ki_object_key_str(const ki_object *object);

/* Each text is empty when the object does not have it. */
KI_API ki_str ki_object_namespace(const ki_object *object);
KI_API ki_str ki_object_name(const ki_object *object);
KI_API ki_str ki_object_uid(const ki_object *object);
KI_API ki_str ki_object_resource_version(const ki_object *object);
KI_API ki_str ki_object_api_version(const ki_object *object);
KI_API ki_str ki_object_kind(const ki_object *object);

/* A projection may have removed the following. */

/** metadata.generation, or 0. */
KI_API int64_t ki_object_generation(const ki_object *object);

/** Reads metadata.creationTimestamp. Returns: 0, KI_ERR_NOT_FOUND when there is none,
 * KI_ERR_TIMESTAMP when it is malformed. */
KI_API int ki_object_creation_time(const ki_object *object, ki_timestamp *out_time);

/** Reads metadata.deletionTimestamp: an object that has it is being deleted. Returns: as
 * ki_object_creation_time(). */
KI_API int ki_object_deletion_time(const ki_object *object, ki_timestamp *out_time);

/** The JSON of metadata.labels and so on, for ki_json_iterate(); KI_JSON_NONE when there is none. */
KI_API ki_json ki_object_labels(const ki_object *object);
KI_API ki_json ki_object_annotations(const ki_object *object);
KI_API ki_json ki_object_owner_references(const ki_object *object);
KI_API ki_json ki_object_finalizers(const ki_object *object);

/**
 * The value of one label or annotation.
 *
 * Returns: 0, KI_ERR_NOT_FOUND when there is none, KI_ERR_NO_MEMORY.
 */
KI_API int ki_object_label(const ki_object *object, ki_str name, ki_str *out_value);
KI_API int ki_object_annotation(const ki_object *object, ki_str name, ki_str *out_value);

/** One entry of metadata.ownerReferences. Texts that it does not have are empty. */
typedef struct ki_owner {
    ki_str api_version;
    ki_str kind;
    ki_str name;
    ki_str uid;
    int is_controller;
    int blocks_deletion;
    uint64_t reserved[2];
} ki_owner;

/**
 * Reads owner reference number `index`, from 0.
 *
 * Returns: 0, KI_ERR_NOT_FOUND past the last one, KI_ERR_NO_MEMORY.
 */
KI_API int ki_object_owner(const ki_object *object, size_t index, ki_owner *out_owner);

/** Reads the reference to the owner that controls the object. Returns: as ki_object_owner(); KI_ERR_NOT_FOUND
 * when no owner controls it. */
KI_API int ki_object_controller(const ki_object *object, ki_owner *out_owner);

/** 1 when `owner` controls the object. UIDs are compared: the result is 0 for an owner that was deleted and
 * created again, and for an owner without a UID. */
KI_API int ki_object_is_controlled_by(const ki_object *object, const ki_object *owner);

/** 1 when metadata.finalizers contains this name. */
KI_API int ki_object_has_finalizer(const ki_object *object, ki_str name);

/* ---- fields ------------------------------------------------------------------------------------------- */

/** The whole text: one line of JSON. */
KI_API ki_str ki_object_json(const ki_object *object);

/** The value at a JSON Pointer, "/spec/containers/0/name"; KI_JSON_NONE when nothing is there. */
KI_API ki_json ki_object_find(const ki_object *object, const char *pointer);

/** The string at a JSON Pointer; empty when nothing is there, when it is not a string, or when there is no
 * memory to unescape it. */
KI_API ki_str ki_object_string(const ki_object *object, const char *pointer);

/** Reads the string at a JSON Pointer. Returns: 0, KI_ERR_NOT_FOUND,
 * KI_ERR_TYPE (also for null), KI_ERR_NO_MEMORY. */
KI_API int ki_object_get_string(const ki_object *object, const char *pointer, ki_str *out_text);

/** Reads the integer, number or boolean at a JSON Pointer. Returns: 0, KI_ERR_NOT_FOUND, or as
 * ki_json_int64(), ki_json_double(), ki_json_bool(). */
KI_API int ki_object_get_int64(const ki_object *object, const char *pointer, int64_t *out_number);
KI_API int ki_object_get_double(const ki_object *object, const char *pointer, double *out_number);
KI_API int ki_object_get_bool(const ki_object *object, const char *pointer, int *out_flag);

/* For optional fields: the value at the pointer, or `fallback` when nothing is there, when the value has
 * another type, or when it does not fit; for strings also when there is no memory to unescape them. */
KI_API ki_str ki_object_string_or(const ki_object *object, const char *pointer, ki_str fallback);
KI_API int64_t ki_object_int64_or(const ki_object *object, const char *pointer, int64_t fallback);
KI_API double ki_object_double_or(const ki_object *object, const char *pointer, double fallback);
KI_API int ki_object_bool_or(const ki_object *object, const char *pointer, int fallback);
KI_API ki_str ki_object_label_or(const ki_object *object, ki_str name, ki_str fallback);
KI_API ki_str ki_object_annotation_or(const ki_object *object, ki_str name, ki_str fallback);

/**
 * The unescaped text of a JSON string of this object (a value, or a name from an iterator).
 *
 * Strings without escapes are returned in place. The first call that meets an escaped string unescapes all
 * strings of the object, once; that memory counts in ki_object_bytes().
 *
 * Returns: 0, KI_ERR_TYPE when it is not a string, KI_ERR_INVALID when it does not belong to this object,
 *          KI_ERR_NO_MEMORY.
 */
KI_API int ki_object_text(const ki_object *object, ki_json string, ki_str *out_text);

/**
 * Which fields to copy, and where to. Set everything but `bytes_needed` once; the struct can then be used for
 * any number of calls, one at a time.
 */
typedef struct ki_fields {
    const char *const *pointers; /* JSON Pointers, as for ki_object_find() */
    ki_str *texts;               /* one for each pointer: what a call has found */
    size_t count;                /* the number of pointers, and of texts */
    char *buffer;                /* what the texts point into */
    size_t buffer_bytes;
    size_t bytes_needed; /* set by a call: how much of the buffer it used, or would have used */
    uint64_t reserved[4];
} ki_fields;

/**
 * Copies the fields at some JSON Pointers. A string is unescaped; any other value is its JSON text: 8080,
 * true, {"app":"web"}. Each text in the buffer has a NUL after it, which does not count in its length. A
 * field that is missing or null gives a zeroed text, whose pointer is NULL, unlike that of an empty string.
 * Name, namespace, uid, resourceVersion, apiVersion and kind are found whatever a projection has kept.
 * Nothing is allocated.
 *
 * Returns: 0; KI_ERR_TOO_LARGE when the buffer is too small: a buffer of `bytes_needed` bytes is enough for
 *          this object; KI_ERR_INVALID if `object` or `fields` is NULL, if `pointers` or `texts` is NULL
 *          while `count` is not 0, or if `buffer` is NULL while `buffer_bytes` is not 0.
 *          On failure all texts are zeroed.
 */
KI_API KI_NODISCARD int ki_object_copy_fields(const ki_object *object, ki_fields *fields);

/* ---- comparing ---------------------------------------------------------------------------------------- */

/** 1 when both have the same text, byte for byte, and when both are NULL. Fields that a projection has
 * removed, such as the version, are not compared. */
KI_API int ki_object_equal(const ki_object *a, const ki_object *b);

/** The longest resource version that informers and feeds accept; a buffer for one needs a byte more. Those of
 * Kubernetes have at most 20 digits; those of aggregating proxies may have a part for each cluster.
 */
#define KI_RESOURCE_VERSION_BYTES_MAX 4096

/**
 * Compares two resource versions as decimal numbers.
 *
 * Returns: 0 with -1, 0 or 1 in `out_order`; KI_ERR_TYPE when one of them is not a decimal number: then they
 *          can only be compared for equality.
 */
KI_API int ki_resource_version_compare(ki_str a, ki_str b, int *out_order);

KI_EXTERN_C_END

#endif
