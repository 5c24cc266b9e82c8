/* SPDX-License-Identifier: Apache-2.0 */
/* body - JSON to send to the server: made from a format or from an object, then edited.
 *
 *     ki_body *body = ki_body_format("{metadata:{name:%s,namespace:%s},data:{team:%s}}", name, ns, team);
 *     ki_rest_request request = {.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = ns,
 *                                .content = body};
 *     int rc = ki_rest_run(client, &request, &answer, &err);
 *     ki_body_free(body);
 *
 * A body owns one JSON text, and the caller owns the body. Everything put into it is copied, and it is valid
 * JSON after every call. The body remembers the first failure: it has no text from then on, later edits do
 * nothing, and ki_body_check() and the request that sends the body report it. So the calls in between need no
 * check. A NULL body, as after a failed allocation, is allowed everywhere; its failure is KI_ERR_NO_MEMORY.
 *
 * To change an object that was read: ki_body_of(), edits, and then
 *
 *   KI_REST_UPDATE  sends the whole object; the server rejects it (KI_ERR_CONFLICT) if the object has changed
 *                   since it was read. The object must be complete: fields that a projection
 *                   (ki_object_options) left out would be deleted.
 *   KI_REST_PATCH   with ki_body_merge_patch() sends only the differences. This works for projected objects
 *                   too.
 *
 * Threads: any; a body belongs to one thread at a time.
 */
#ifndef KI_BODY_H
#define KI_BODY_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/object.h>
#include <kinformer/timestamp.h>
#include <stdarg.h>

KI_EXTERN_C_BEGIN

typedef struct ki_body ki_body;

/* ---- making and freeing -------------------------------------------------------------------------------- */

/**
 * Makes a body from a format: JSON in which names of members need no quotes and strings may be in single
 * quotes. A string value needs quotes, {app:'web'}, unless it is an argument alone, {app:%s}. Compilers check
 * the arguments as they check those of printf.
 *
 *     %s                          a string, NUL-terminated
 *     %.*s                        a string with a length: KI_STR_ARGS(text) of a ki_str
 *     %d %i %u                    an integer; with h, hh, l, ll, j, z or t as in printf
 *     %g                          a double, with the fewest digits that read back as the same number
 *     bool(%d)                    true or false
 *     json(%s) json(%.*s)         a JSON value, which is validated: another body, a part of an object
 *     'web-%s' "%s:%d"            a string with arguments in it; %% is a percent sign
 *     true false null 12 -1.5e3   literals
 *     {name:…, 'a name':…, %s:…}  an object; a name without quotes has letters, digits and _ - . / $
 *     {name?:…}                   a member that is left out when its value is NULL, 0, false, or empty (a
 *                                 string, JSON text, an object, an array); gcc warns of a literal NULL
 *     […, …]                      an array
 *
 * An argument never adds JSON syntax, except in json(): every string is escaped. The following are errors: a
 * string that is not UTF-8, NULL without `?`, an infinite number, two members with the same name in one
 * object, a backslash in the format (pass such text as an argument), a format more than 64 levels deep, more
 * than 64 MiB of text. The message of the failure says what is wrong and where in the format; the field
 * `offset` of the ki_error is the position.
 *
 * Returns:   a body to free, also after a failure: see ki_body_check(). NULL when out of memory.
 * Ownership: the caller frees it with ki_body_free().
 */
KI_API KI_NODISCARD ki_body *ki_body_format(const char *format, ...) KI_PRINTF(1, 2);
KI_API KI_NODISCARD ki_body *ki_body_vformat(const char *format, va_list args) KI_PRINTF(1, 0);

/** A copy of an object's JSON, to be edited and written back. For NULL the body's failure is
 * KI_ERR_INVALID. */
KI_API KI_NODISCARD ki_body *ki_body_of(const ki_object *object);

/** A copy of any JSON value, which is validated: for text that is not JSON, the body's failure is a JSON
 * error. */
KI_API KI_NODISCARD ki_body *ki_body_copy(ki_json value);

/** NULL is allowed. */
KI_API void ki_body_free(ki_body *body);

/**
 * Returns: 0, or the first failure of the body, with its message in `err`.
 */
KI_API int ki_body_check(const ki_body *body, ki_error *err);

/** The text, borrowed until the body is changed or freed; KI_JSON_NONE after a failure. A NUL follows it:
 * `raw.ptr` is a C string, as ki_apiserver_put() takes it, and NULL after a failure. */
KI_API ki_json ki_body_json(const ki_body *body);

/* ---- editing ------------------------------------------------------------------------------------------- */

/**
 * Sets the value at a JSON Pointer ("/spec/replicas"; "~1" is a "/" in a name, "~0" a "~"). The value is made
 * from a format, as in ki_body_format(). A parent that is missing or null is created: as an array if the next
 * part is "-", otherwise as an object. In an array a number replaces that element; "-" or the number of
 * elements appends one: "/metadata/finalizers/-". The pointer "" replaces the whole body.
 *
 * Returns: 0, or the body's first failure: the errors of ki_body_format(); KI_ERR_INVALID for a malformed
 *          pointer, KI_ERR_TYPE when it leads through a string, number or boolean, KI_ERR_NOT_FOUND for an
 *          element past the end of an array, KI_ERR_TOO_LARGE, KI_ERR_JSON_DEPTH, KI_ERR_NO_MEMORY.
 */
KI_API int ki_body_set(ki_body *body, const char *pointer, const char *format, ...) KI_PRINTF(3, 4);
KI_API int ki_body_vset(ki_body *body, const char *pointer, const char *format, va_list args) KI_PRINTF(3, 0);

/**
 * Removes the value at a JSON Pointer.
 *
 * Returns: 1 when it was removed; 0 when there is no such value; or the body's first failure: KI_ERR_INVALID
 *          for a malformed pointer and for "", KI_ERR_NO_MEMORY.
 */
KI_API int ki_body_remove(ki_body *body, const char *pointer);

/**
 * The merge patch (RFC 7386, KI_PATCH_MERGE) that turns `old` into `wanted`: changed members, null for
 * removed ones, arrays as a whole. It is "{}" when nothing differs, and need not be sent then.
 *
 *     ki_body *wanted = ki_body_of(pod);
 *     ki_body_add_finalizer(wanted, KI_STR("example.com/guard"));
 *     ki_body *patch = ki_body_merge_patch(ki_json_of(ki_object_json(pod)), wanted);
 *
 * A patch of an array overwrites what other clients have written to it in the meantime. To have the server
 * reject it in that case, add the version that the patch is for: ki_body_set(patch,
 * "/metadata/resourceVersion", "%.*s", KI_STR_ARGS(ki_object_resource_version(pod))).
 *
 * Returns: a body to free; NULL when out of memory. If `wanted` has failed, the patch has the same failure.
 *          Other failures: KI_ERR_TYPE when `old` or `wanted` is not a JSON object; KI_ERR_JSON_DEPTH when
 *          they differ more than 100 levels deep.
 */
KI_API KI_NODISCARD ki_body *ki_body_merge_patch(ki_json old, const ki_body *wanted);

/* ---- edits that controllers make ----------------------------------------------------------------------- */

/* These return 1 when the body was changed, 0 when no change was needed, or the body's first failure. After 0
 * there is nothing to write. */

/** Sets a label or an annotation. */
KI_API int ki_body_set_label(ki_body *body, ki_str name, ki_str value);
KI_API int ki_body_set_annotation(ki_body *body, ki_str name, ki_str value);

/**
 * Makes `owner` the controller of the object: an owner reference with `controller` and `blockOwnerDeletion`.
 * A reference with the same UID is replaced; others stay.
 *
 * Failures, which stay with the body like all others: KI_ERR_ALREADY_EXISTS when another owner controls it;
 *          KI_ERR_INVALID when `owner` has no UID, as before it was created on the server, or is in another
 *          namespace.
 */
KI_API int ki_body_set_controller(ki_body *body, const ki_object *owner);

/** Adds a name to metadata.finalizers, or removes it. Removing a name that is not there is not an error. */
KI_API int ki_body_add_finalizer(ki_body *body, ki_str name);
KI_API int ki_body_remove_finalizer(ki_body *body, ki_str name);

/** One entry of status.conditions, as most resources have them (metav1.Condition). */
typedef struct ki_condition {
    ki_str condition_type; /* "Ready" */
    ki_str status;         /* "True", "False" or "Unknown" */
    ki_str reason;         /* a word: "MinimumReplicasAvailable" */
    ki_str message;
    int64_t observed_generation;       /* 0: left out */
    ki_timestamp last_transition_time; /* for setting: zero means now; written in whole seconds */
    uint64_t reserved[4];
} ki_condition;

/**
 * Sets the condition of this type; type and status must not be empty. lastTransitionTime changes only when
 * the status does. When nothing but last_transition_time differs, the body is not changed.
 */
KI_API int ki_body_set_condition(ki_body *body, const ki_condition *condition);

/**
 * Reads the condition of a type from status.conditions. Fields that are missing or malformed are empty or
 * zero.
 *
 * Returns: 0, KI_ERR_NOT_FOUND, KI_ERR_INVALID, KI_ERR_NO_MEMORY. The texts belong to the object.
 */
KI_API int ki_object_condition(const ki_object *object, ki_str condition_type, ki_condition *out_condition);

/** 1 when the object has this condition with the status "True". */
KI_API int ki_object_condition_is_true(const ki_object *object, ki_str condition_type);

KI_EXTERN_C_END

#endif
