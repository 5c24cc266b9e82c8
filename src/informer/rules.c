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

/* The UID is compared as well: what a projection keeps may be the same for two objects. */
static bool is_same(const ki_object *a, const ki_object *b)
{
    return ki_object_equal(a, b) && ki_str_equal(ki_object_uid(a), ki_object_uid(b));
}

/* Within one history, a number stands for one state. Versions that are not numbers may be the same for two
 * states, or be missing: then the objects are compared. */
static ki_rules_verdict judge_present(const ki_object *object, const ki_standing *standing)
{
    assert(object != NULL && standing->stored != NULL);
    const ki_object *stored = standing->stored;
    ki_str version = ki_object_resource_version(object);
    switch (order_of(version, ki_object_resource_version(stored))) {
    case SAME:
        if (ki_rules_is_number(version) && !standing->of_other_history)
            return KI_RULES_SEEN;
        return is_same(object, stored) ? KI_RULES_SEEN : KI_RULES_PUT;
    case OLDER:
        return standing->of_other_history ? KI_RULES_PUT : KI_RULES_SEEN;
    case NEWER:
    case UNKNOWN:
        break;
    }
    return KI_RULES_PUT;
}

/* A delete before the end of a list is part of the list, and takes effect with its end: another attempt after
 * a cut, from a server that lags behind, may still have the object. */
static ki_rules_verdict judge_delete(const ki_delta *delta, const ki_standing *standing)
{
    assert(delta->change_type == KI_CHANGE_DELETED && delta->object != NULL);
    if (delta->list != 0)
        return KI_RULES_HOLD;
    if (standing->stored == NULL)
        return KI_RULES_IGNORE;
    version_order order =
        order_of(ki_object_resource_version(delta->object), ki_object_resource_version(standing->stored));
    return order == OLDER && !standing->of_other_history ? KI_RULES_IGNORE : KI_RULES_REMOVE;
}

/* Objects in a list that is at least as new as the store exist. An event may be an echo of an object deleted
 * since, and so may an item of a list whose version is not known yet. */
static ki_rules_verdict judge_absent(const ki_delta *delta, ki_str complete)
{
    assert(delta->object != NULL);
    bool is_believed = delta->list != 0 && !delta->is_doubtful;
    if (is_believed || complete.len == 0)
        return KI_RULES_PUT;
    ki_str version = ki_object_resource_version(delta->object);
    version_order order = order_of(version, complete);
    if (order == NEWER || !ki_rules_is_number(version) || order == UNKNOWN)
        return KI_RULES_PUT;
    return delta->list != 0 ? KI_RULES_HOLD : KI_RULES_IGNORE;
}

ki_rules_verdict ki_rules_judge(const ki_delta *delta, const ki_standing *standing)
{
    assert(delta != NULL);
    if (delta->change_type == KI_CHANGE_SEEN)
        return standing->stored == NULL ? KI_RULES_IGNORE : KI_RULES_SEEN;
    if (delta->change_type == KI_CHANGE_DELETED)
        return judge_delete(delta, standing);
    if (standing->stored == NULL)
        return judge_absent(delta, standing->complete);
    return judge_present(delta->object, standing);
}

bool ki_rules_list_covers(const ki_object *object, const ki_resource_version *list_version)
{
    return order_of(ki_object_resource_version(object), ki_resource_version_str(list_version)) != NEWER;
}
