/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and sets status.conditions, in objects and in bodies. */
#include <kinformer/body.h>
#include <stdbool.h>

#include "api/object/body_fail.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

static const char conditions[] = "/status/conditions";

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Finds the first condition of this type. Duplicates are invalid, and ignored. */
static ki_element find_condition(ki_json array, ki_str type)
{
    ki_json_iter iter = ki_json_iterate(array);
    ki_element element = {0};
    ki_json value;
    while (ki_json_next(&iter, NULL, &value)) {
        if (ki_json_string_equals(ki_json_member(value, KI_STR("type")), type))
            return (ki_element){value, element.index};
        element.index++;
    }
    return element;
}

/* *out_text is empty if the member is missing or not a string. Returns 0 or KI_ERR_NO_MEMORY. */
static int text_of(const ki_object *object, ki_json condition, ki_str name, ki_str *out_text)
{
    int rc = ki_object_text(object, ki_json_member(condition, name), out_text);
    return rc == KI_ERR_NO_MEMORY ? rc : 0;
}

int ki_object_condition(const ki_object *object, ki_str type, ki_condition *out_condition)
{
    if (object == NULL || out_condition == NULL)
        return KI_ERR_INVALID;
    ki_json found = find_condition(ki_object_find(object, conditions), type).value;
    if (ki_json_type_of(found) == KI_JSON_NONE)
        return KI_ERR_NOT_FOUND;
    ki_condition condition = {0};
    ki_str time = {0};
    int rc = text_of(object, found, KI_STR("type"), &condition.condition_type);
    if (rc == 0)
        rc = text_of(object, found, KI_STR("status"), &condition.status);
    if (rc == 0)
        rc = text_of(object, found, KI_STR("reason"), &condition.reason);
    if (rc == 0)
        rc = text_of(object, found, KI_STR("message"), &condition.message);
    if (rc == 0)
        rc = text_of(object, found, KI_STR("lastTransitionTime"), &time);
    if (rc < 0)
        return rc;
    if (ki_json_int64(ki_json_member(found, KI_STR("observedGeneration")), &condition.observed_generation) <
        0)
        condition.observed_generation = 0;
    if (ki_timestamp_parse(time, &condition.last_transition_time) < 0)
        condition.last_transition_time = (ki_timestamp){0};
    *out_condition = condition;
    return 0;
}

int ki_object_condition_is_true(const ki_object *object, ki_str type)
{
    ki_json found = find_condition(ki_object_find(object, conditions), type).value;
    return ki_json_string_equals(ki_json_member(found, KI_STR("status")), KI_STR("True"));
}

/* ---- setting ------------------------------------------------------------------------------------------- */

/* Writes whole seconds, like metav1.Time of Kubernetes. */
static int format_time(ki_timestamp time, char out_text[KI_TIMESTAMP_BYTES])
{
    if (time.seconds == 0 && time.nanos == 0)
        time.seconds = ki_clock_wall_ns(ki_clock_real()) / (int64_t)KI_NS_PER_S;
    time.nanos = 0;
    return ki_timestamp_format(time, out_text);
}

/* Keeps the transition time if the status does not change. */
static ki_body *make_condition(const ki_condition *condition, ki_json old, const char *now)
{
    ki_json since = ki_json_member(old, KI_STR("lastTransitionTime"));
    bool is_same = ki_json_string_equals(ki_json_member(old, KI_STR("status")), condition->status) &&
                   ki_json_type_of(since) == KI_JSON_STRING;
    ki_body *made = ki_body_format("{type:%.*s,status:%.*s,observedGeneration?:%lld,lastTransitionTime:%s,"
                                   "reason:%.*s,message:%.*s}",
                                   KI_STR_ARGS(condition->condition_type), KI_STR_ARGS(condition->status),
                                   (long long)condition->observed_generation, now,
                                   KI_STR_ARGS(condition->reason), KI_STR_ARGS(condition->message));
    if (is_same)
        (void)ki_body_set(made, "/lastTransitionTime", "json(%.*s)", KI_STR_ARGS(since.raw));
    return made;
}

int ki_body_set_condition(ki_body *body, const ki_condition *condition)
{
    char now[KI_TIMESTAMP_BYTES];
    int rc = ki_body_check(body, NULL);
    if (rc < 0)
        return rc;
    if (condition == NULL || condition->condition_type.len == 0 || condition->status.len == 0)
        return ki_body_fail_with(body, KI_ERR_INVALID, "a condition needs a type and a status");
    rc = format_time(condition->last_transition_time, now);
    if (rc < 0)
        return ki_body_fail_with(body, rc, "the time of the condition is out of range");
    ki_element old = find_condition(ki_json_find(ki_body_json(body), conditions), condition->condition_type);
    ki_body *made = make_condition(condition, old.value, now);
    rc = ki_body_set_element(body, conditions, &old, made);
    ki_body_free(made);
    return rc;
}
