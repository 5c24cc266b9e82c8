/* SPDX-License-Identifier: Apache-2.0 */
#include "informer/rules.h"

#include <assert.h>

typedef enum version_order { OLDER = -1, SAME = 0, NEWER = 1, UNKNOWN = 2 } version_order;

static version_order order_of(ki_str version, ki_str other)
{
    int order = 0;
    if (ki_resource_version_compare(version, other, &order) < 0)
        return ki_str_equal(version, other) ? SAME : UNKNOWN;
    return order < 0 ? OLDER : order > 0 ? NEWER : SAME;
}

bool ki_rules_is_number(ki_str version)
{
    assert(version.ptr != NULL || version.len == 0);
    int order = 0;
    return ki_resource_version_compare(version, version, &order) == 0;
}

/* Compares the UID as well, because the fields that a projection keeps may be the same for two objects. */
static bool is_same(const ki_object *a, const ki_object *b)
{
    return ki_object_equal(a, b) && ki_str_equal(ki_object_uid(a), ki_object_uid(b));
}

/* Whether everything up to this version is in the store. */
static bool is_covered(ki_str version, ki_str complete)
{
    version_order order = order_of(version, complete);
    return complete.len > 0 && ki_rules_is_number(version) && (order == OLDER || order == SAME);
}

/* There is no stored object whose version could be compared. An item of a list that is not older than the
 * store proves that the object exists. An event may be an echo of an earlier state, even of an object that
 * has been deleted since; so may an item of a list whose version is not known yet. */
static ki_rules_verdict judge_alone(const ki_delta *delta, ki_str complete)
{
    assert(delta->object != NULL);
    bool is_authoritative = delta->list != 0 && !delta->is_doubtful;
    if (is_authoritative || !is_covered(ki_object_resource_version(delta->object), complete))
        return KI_RULES_PUT;
    return delta->list != 0 ? KI_RULES_HOLD : KI_RULES_IGNORE;
}

/* Within one history, a numeric version identifies one state. Versions that are not numbers may be the same
 * for two states, or be missing; then the objects are compared. */
static ki_rules_verdict judge_present(const ki_delta *delta, const ki_standing *standing)
{
    assert(delta->object != NULL && standing->stored != NULL);
    ki_str version = ki_object_resource_version(delta->object);
    version_order order = order_of(version, ki_object_resource_version(standing->stored));
    bool is_known = order == OLDER || (order == SAME && ki_rules_is_number(version));
    if (is_known && !standing->of_other_history)
        return KI_RULES_KEEP; /* without comparing the objects, which are large */
    if (order == SAME && is_same(delta->object, standing->stored))
        return KI_RULES_KEEP;
    return standing->of_other_history ? judge_alone(delta, standing->complete) : KI_RULES_PUT;
}

/* A delete before the end of a streamed list is part of the list, and takes effect at its end. If the stream
 * is cut before, the next attempt may go to a server that lags behind and still has the object. */
static ki_rules_verdict judge_delete(const ki_delta *delta, const ki_standing *standing)
{
    assert(delta->change_type == KI_CHANGE_DELETED && delta->object != NULL);
    if (delta->list != 0)
        return KI_RULES_HOLD;
    if (standing->stored == NULL)
        return KI_RULES_IGNORE;
    ki_str version = ki_object_resource_version(delta->object);
    bool is_echo = standing->of_other_history
                       ? is_covered(version, standing->complete)
                       : order_of(version, ki_object_resource_version(standing->stored)) == OLDER;
    return is_echo ? KI_RULES_IGNORE : KI_RULES_REMOVE;
}

ki_rules_verdict ki_rules_judge(const ki_delta *delta, const ki_standing *standing)
{
    assert(delta != NULL);
    if (delta->change_type == KI_CHANGE_SEEN)
        return standing->stored == NULL ? KI_RULES_IGNORE : KI_RULES_KEEP;
    if (delta->change_type == KI_CHANGE_DELETED)
        return judge_delete(delta, standing);
    if (standing->stored == NULL)
        return judge_alone(delta, standing->complete);
    return judge_present(delta, standing);
}

bool ki_rules_list_covers(const ki_object *object, const ki_resource_version *list_version)
{
    return order_of(ki_object_resource_version(object), ki_resource_version_str(list_version)) != NEWER;
}
