/* SPDX-License-Identifier: Apache-2.0 */
/* Passes changes to on_change: runs the user's transform, and reports refused objects. */
#include <assert.h>

#include "api/object/object_layout.h"
#include "reflector/reflector_parts.h"
#include "util/error.h"

/* on_change is ki_informer_take_change() in informer/informer_run.c, or a feed's. */
int ki_reflector_give(ki_reflector *reflector, const ki_change *change)
{
    assert(reflector != NULL);
    int rc = reflector->options.on_change(change, reflector->options.user);
    if (rc < 0)
        return KI_ERR_NO_MEMORY;
    if (rc > 0) {
        reflector->is_full = 1;
        if (reflector->behind_ns == UINT64_MAX)
            reflector->behind_ns = ki_reflector_now_ns(reflector);
    }
    return 0;
}

int ki_reflector_is_of_kind(const ki_reflector *reflector, const ki_object *object)
{
    assert(reflector != NULL);
    const ki_object_plan *plan = reflector->options.plan;
    ki_str kind = ki_object_kind(object);
    return !plan->kind_is_known || kind.len == 0 || ki_str_equal(kind, plan->kind) ||
           ki_str_equal(kind, KI_STR("PartialObjectMetadata"));
}

void ki_reflector_refuse_kind(ki_reflector *reflector, ki_object *object)
{
    assert(reflector != NULL);
    ki_error why = {0};
    ki_fail(&why, KI_ERR_METADATA, "the object of the event is a %.*s, not a %.*s",
            KI_STR_ARGS(ki_object_kind(object)), KI_STR_ARGS(reflector->options.plan->kind));
    ki_reflector_report_refused(reflector, &why, ki_object_key_str(object));
    ki_reflector_want_relist(reflector);
    ki_object_unref(object);
}

static int is_same(const ki_object *a, const ki_object *b)
{
    return ki_str_equal(ki_object_namespace(a), ki_object_namespace(b)) &&
           ki_str_equal(ki_object_name(a), ki_object_name(b)) &&
           ki_str_equal(ki_object_uid(a), ki_object_uid(b)) &&
           ki_str_equal(ki_object_resource_version(a), ki_object_resource_version(b));
}

/* Returns a new reference, or NULL if the object was refused, which has been reported. */
static ki_object *transform(ki_reflector *reflector, ki_object *object)
{
    const ki_informer_options *informer = reflector->options.informer;
    const ki_object *result = object;
    ki_error why = {0};
    int rc = informer->transform(&result, informer->transform_user);
    ki_object *replacement = result == object ? ki_object_ref(object) : (ki_object *)result;
    if (rc < 0)
        ki_fail(&why, rc, "the transform failed: %s", ki_error_text(rc));
    else if (replacement == NULL || !is_same(object, replacement))
        rc = ki_fail(&why, KI_ERR_INVALID,
                     "the transform returned an object with another name, UID or version");
    if (rc >= 0)
        return replacement;
    ki_counter_add(reflector->options.metrics->transform_failures, 1);
    ki_reflector_report_refused(reflector, &why, ki_object_key_str(object));
    return ki_object_unref(replacement);
}

/* Replaces an object that has other references by a copy. The object may be in another store, and an object's
 * mark (informer/apply.c) belongs to one store only. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
static int unshare(ki_object **object)
{
    if (!ki_refcount_is_shared(&(*object)->refs))
        return 0;
    ki_object *copy = ki_object_copy(*object);
    if (copy == NULL)
        return KI_ERR_NO_MEMORY;
    (void)ki_object_unref(*object);
    *object = copy;
    return 0;
}

void ki_reflector_fail_long_version(ki_error *err, const ki_object *object)
{
    ki_fail(err, KI_ERR_TOO_LARGE, "the resourceVersion has %zu bytes; the limit is %d",
            ki_object_resource_version(object).len, KI_RESOURCE_VERSION_BYTES_MAX);
}

/* Refuses and reports an object whose resourceVersion is too long. Returns whether it did. */
static int refuse_long_version(ki_reflector *reflector, const ki_object *object)
{
    ki_error why = {0};
    if (ki_object_resource_version(object).len <= KI_RESOURCE_VERSION_BYTES_MAX)
        return 0;
    ki_reflector_fail_long_version(&why, object);
    ki_reflector_report_refused(reflector, &why, ki_object_key_str(object));
    return 1;
}

/* Refuses and reports an object whose key is too long for the destination. Returns whether it did. */
static int refuse_long_key(ki_reflector *reflector, const ki_object *object)
{
    ki_error why = {0};
    ki_str key = ki_object_key_str(object);
    size_t bytes_max = reflector->options.key_bytes_max;
    if (bytes_max == 0 || key.len <= bytes_max)
        return 0;
    ki_fail(&why, KI_ERR_TOO_LARGE, "the key has %zu bytes; the limit is %zu", key.len, bytes_max);
    ki_reflector_report_refused(reflector, &why, key);
    return 1;
}

/* Checks and transforms an object. *out_usable is a new reference, to the same object or to another, or NULL
 * if the object was refused, which has been reported. Returns 0 or KI_ERR_NO_MEMORY. */
static int make_usable(ki_reflector *reflector, ki_object *object, ki_object **out_usable)
{
    if (refuse_long_key(reflector, object) || refuse_long_version(reflector, object)) {
        *out_usable = NULL;
        return 0;
    }
    ki_object *usable =
        reflector->options.informer->transform == NULL ? ki_object_ref(object) : transform(reflector, object);
    if (usable != NULL && usable != object && unshare(&usable) < 0) {
        (void)ki_object_unref(usable);
        return KI_ERR_NO_MEMORY;
    }
    *out_usable = usable;
    return 0;
}

/* An invalid item still proves that the object exists. */
static int give_seen(ki_reflector *reflector, ki_str key)
{
    reflector->list.has_given = 1;
    return ki_reflector_give(
        reflector, &(ki_change){.change_type = KI_CHANGE_SEEN, .list = reflector->list.number, .key = key});
}

/* Whether the version of the list is not known yet, so that the list may be older than the store. It comes
 * last in a stream, and may come last in a LIST. */
static int is_doubtful(const ki_reflector *reflector)
{
    return !ki_resource_version_is_set(&reflector->list.version) && !ki_reflector_is_trusted(reflector);
}

void ki_reflector_give_item(ki_reflector *reflector, ki_object *object)
{
    assert(reflector != NULL);
    ki_object *usable = NULL;
    ki_counter_add(reflector->options.metrics->list_items, 1);
    ki_reflector_note_item(reflector, object);
    reflector->list.has_given = 1;
    int rc = make_usable(reflector, object, &usable);
    if (rc == 0 && usable == NULL)
        rc = give_seen(reflector, ki_object_key_str(object));
    else if (rc == 0)
        rc = ki_reflector_give(reflector, &(ki_change){.change_type = KI_CHANGE_REPLACED,
                                                       .list = reflector->list.number,
                                                       .is_doubtful = is_doubtful(reflector),
                                                       .object = usable});
    ki_object_unref(usable);
    ki_object_unref(object);
    if (rc < 0)
        ki_reflector_abandon_no_memory(reflector);
}

void ki_reflector_give_refused(ki_reflector *reflector, const ki_refused *refused)
{
    ki_str key = ki_buf_str(&refused->key);
    ki_reflector_report_refused(reflector, &refused->error, key);
    if (key.len > 0 && give_seen(reflector, key) < 0)
        ki_reflector_abandon_no_memory(reflector);
}

int ki_reflector_give_event(ki_reflector *reflector, ki_change_type type, ki_object *object,
                            const ki_resource_version *version)
{
    assert(reflector != NULL);
    ki_object *usable = NULL;
    int rc = make_usable(reflector, object, &usable);
    if (usable != NULL)
        rc = ki_reflector_give(
            reflector, &(ki_change){.change_type = type,
                                    .list = reflector->doing == KI_STEP_STREAM ? reflector->list.number : 0,
                                    .object = usable,
                                    .version = ki_resource_version_str(version)});
    int was_given = usable != NULL && rc == 0;
    ki_object_unref(usable);
    ki_object_unref(object);
    if (rc < 0)
        ki_reflector_abandon_no_memory(reflector);
    return was_given;
}
