/* SPDX-License-Identifier: Apache-2.0 */
/* body - JSON that a program sends: made by a format or from an object it has read, changed, sent, freed.
 *
 *     ki_body *body = ki_body_format("{metadata:{name:%s,namespace:%s},data:{team:%s}}", name, ns, team);
 *     ki_rest_request request = {.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = ns,
 *                                .content = body};
 *     int rc = ki_rest_run(client, &request, &answer, &err);
 *     ki_body_free(body);
 *
 * A body owns one JSON text, and the caller owns the body. Whatever goes into it is copied, and it is valid
 * JSON after every call. The first failure stays in the body: later changes do nothing, ki_body_check() and
 * the request that it is sent with report it, so that no call in between has to be checked. A NULL body, as
 * after a failed allocation, is allowed everywhere: its failure is KI_ERR_NO_MEMORY.
 *
 * To change an object that was read: ki_body_of(), edits, and then
 *
 *   KI_REST_UPDATE  sends the whole object; the server refuses it (KI_ERR_CONFLICT) when somebody else was
 *                   faster. The object has to be complete: what a projection (ki_object_options) left out
 *                   would be deleted.
 *   KI_REST_PATCH   with ki_body_merge_patch() sends only what differs. This is right for projected objects
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
 * Makes a body from a format: JSON in which names need no quotes, strings may have single ones, and values
 * come from arguments. Compilers check these as printf's.
 *
 *     %s                          a string, NUL-terminated
 *     %.*s                        a string with a length: KI_STR_ARGS(text) of a ki_str
 *     %d %i %u                    an integer; with h, hh, l, ll, j, z or t as in printf
 *     %g                          a double, with as few digits as read back as the same
 *     bool(%d)                    true or false
 *     json(%s) json(%.*s)         a JSON value, checked: another body, a part of an object
 *     'web-%s' "%s:%d"            a string with arguments in it; %% is a percent sign
 *     true false null 12 -1.5e3   as they are
 *     {name:…, 'a name':…, %s:…}  an object; a name without quotes has letters, digits and _ - . / $
 *     {name?:…}                   a member that is left out when its value is NULL or empty: a string, 0,
 *                                 false, no JSON, an object or an array without anything in it
 *     […, …]                      an array
 *
 * Arguments are values and nothing else: each string is escaped, whatever it holds. These are errors: a
 * string that is not UTF-8, NULL without `?`, an infinite number, two members of the same name in one object,
 * a backslash in the format (pass such text as an argument), 64 levels of the format, 64 MiB of text. The
 * message says what is wrong and where in the format; `offset` of the ki_error is that place.
 *
 * Returns:   a body to free, also after a failure, see ki_body_check(); NULL when memory is out.
 * Ownership: the caller frees it with ki_body_free().
 */
KI_API KI_NODISCARD ki_body *ki_body_format(const char *format, ...) KI_PRINTF(1, 2);
KI_API KI_NODISCARD ki_body *ki_body_vformat(const char *format, va_list args) KI_PRINTF(1, 0);

/** A copy of an object's JSON, to be changed and written back. NULL counts as an error, KI_ERR_INVALID. */
KI_API KI_NODISCARD ki_body *ki_body_of(const ki_object *object);

/** A copy of any JSON value, which is checked. */
KI_API KI_NODISCARD ki_body *ki_body_copy(ki_json value);

/** NULL is allowed. */
KI_API void ki_body_free(ki_body *body);

/**
 * Returns: 0, or the first failure of the body with its story in `err`.
 */
KI_API int ki_body_check(const ki_body *body, ki_error *err);

/** The text, borrowed until the body is changed or freed; KI_JSON_NONE after a failure. */
KI_API ki_json ki_body_json(const ki_body *body);

/* ---- editing ------------------------------------------------------------------------------------------- */

/**
 * Sets the value at a JSON Pointer ("/spec/replicas"; "~1" is a "/" in a name, "~0" a "~") to what a format
 * says. Objects on the way that are missing, or null, are made, and arrays where "-" comes next. In an array
 * a number replaces that element, and "-" or the number of elements appends one: "/metadata/finalizers/-".
 * The pointer "" replaces all.
 *
 * Returns: 0, or the body's first failure: of the format as ki_body_format(); KI_ERR_INVALID for a malformed
 *          pointer, KI_ERR_TYPE when it leads through a string, number or boolean, KI_ERR_NOT_FOUND for an
 *          element behind the end of an array, KI_ERR_TOO_LARGE, KI_ERR_JSON_DEPTH, KI_ERR_NO_MEMORY.
 */
KI_API int ki_body_set(ki_body *body, const char *pointer, const char *format, ...) KI_PRINTF(3, 4);
KI_API int ki_body_vset(ki_body *body, const char *pointer, const char *format, va_list args) KI_PRINTF(3, 0);

/**
 * Removes the value at a JSON Pointer.
 *
 * Returns: 1; 0 when there is none; or the body's first failure.
 */
KI_API int ki_body_remove(ki_body *body, const char *pointer);

/**
 * The merge patch (RFC 7386, KI_PATCH_MERGE) that turns `from` into what `to` holds: changed members, null
 * for those that are gone, arrays whole. "{}" when nothing differs: then nothing has to be sent.
 *
 *     ki_body *wanted = ki_body_of(pod);
 *     ki_body_add_finalizer(wanted, KI_STR("example.com/guard"));
 *     ki_body *patch = ki_body_merge_patch(ki_json_of(ki_object_json(pod)), wanted);
 *
 * A patch of an array overwrites what others have put there meanwhile, unless it says which version it is
 * for: ki_body_set(patch, "/metadata/resourceVersion", "%.*s", KI_STR_ARGS(ki_object_resource_version(pod))).
 *
 * Returns: a body to free; NULL when memory is out. Its failure is that of `to` if that has one, KI_ERR_TYPE
 *          when one of both is no object, KI_ERR_JSON_DEPTH when they differ below 100 levels of objects.
 */
KI_API KI_NODISCARD ki_body *ki_body_merge_patch(ki_json from, const ki_body *to);

/* ---- what controllers change --------------------------------------------------------------------------- */

/* These return 1 when the body has changed, 0 when it was so already, and the body's first failure otherwise.
 * A program that gets 0 has nothing to write. */

/** Sets a label or an annotation. */
KI_API int ki_body_set_label(ki_body *body, ki_str name, ki_str value);
KI_API int ki_body_set_annotation(ki_body *body, ki_str name, ki_str value);

/**
 * Makes `owner` the controller of the object: an owner reference with `controller` and `blockOwnerDeletion`.
 * A reference to the same UID is replaced, others stay.
 *
 * Failures: KI_ERR_ALREADY_EXISTS when another owner controls it; KI_ERR_INVALID when `owner` has no UID, as
 * an
 *           object that the server has not seen yet, or is in another namespace.
 */
KI_API int ki_body_set_controller(ki_body *body, const ki_object *owner);

/** metadata.finalizers. To be removed, a finalizer need not be there. */
KI_API int ki_body_add_finalizer(ki_body *body, ki_str name);
KI_API int ki_body_remove_finalizer(ki_body *body, ki_str name);

/** One entry of status.conditions, as most resources have them (metav1.Condition). */
typedef struct ki_condition {
    ki_str type;   /* "Ready" */
    ki_str status; /* "True", "False" or "Unknown" */
    ki_str reason; /* a word: "MinimumReplicasAvailable" */
    ki_str message;
    int64_t observed_generation;       /* 0: not said */
    ki_timestamp last_transition_time; /* when it is set: zero means now */
    uint64_t reserved[4];
} ki_condition;

/**
 * Sets the condition of this type. lastTransitionTime changes only when the status does; without any change
 * nothing is written, whatever last_transition_time says.
 */
KI_API int ki_body_set_condition(ki_body *body, const ki_condition *condition);

/**
 * Reads the condition of a type from status.conditions. Fields that are missing or malformed are empty or
 * zero.
 *
 * Returns: 0, KI_ERR_NOT_FOUND, KI_ERR_INVALID, KI_ERR_NO_MEMORY. The texts belong to the object.
 */
KI_API KI_NODISCARD int ki_object_condition(const ki_object *object, ki_str type,
                                            ki_condition *out_condition);

/** 1 when the object has this condition with the status "True". */
KI_API int ki_object_condition_is_true(const ki_object *object, ki_str type);

KI_EXTERN_C_END

#endif
