/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/body.h>
#include <stdbool.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/json/body_check.h"
#include "support/unit.h"

#define OWNER                                                                                                \
    "{\"apiVersion\":\"apps/"                                                                                \
    "v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"namespace\":\"web\",\"name\":\"api\","                     \
    "\"uid\":\"u-1\"}}"
#define REFERENCE                                                                                            \
    "{\"apiVersion\":\"apps/"                                                                                \
    "v1\",\"kind\":\"ReplicaSet\",\"name\":\"api\",\"uid\":\"u-1\",\"controller\":true,"                     \
    "\"blockOwnerDeletion\":true}"

static ki_object *object_of(const char *text)
{
    ki_error err = {0};
    ki_object *object = ki_object_new(NULL, ki_str_of(text), NULL, &err);
    if (object == NULL)
        fail_msg("%s", err.message);
    return object;
}

static ki_body *body_of(const char *text)
{
    return ki_body_copy((ki_json){ki_str_of(text)});
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static void a_body_of_an_object_is_its_text(void **state)
{
    (void)state;
    ki_object *owner = object_of(OWNER);
    ki_body *body = ki_body_of(owner);
    body_assert_text(body, OWNER);
    ki_body_free(body);
    body = ki_body_of(NULL);
    assert_int_equal(ki_body_check(body, NULL), KI_ERR_INVALID);
    ki_body_free(body);
    ki_object_unref(owner);
}

static void optional_fields_have_a_fallback(void **state)
{
    (void)state;
    ki_object *object =
        object_of("{\"kind\":\"X\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"labels\":{"
                  "\"l\":\"v\"},\"annotations\":{\"n\":\"w\"}},\"spec\":{\"replicas\":3,\"paused\":"
                  "true,\"rate\":1.5,\"text\":\"t\\n\",\"large\":1e30}}");
    ki_str other = KI_STR("other");
    assert_int_equal(ki_object_int64_or(object, "/spec/replicas", 1), 3);
    assert_int_equal(ki_object_int64_or(object, "/spec/missing", 1), 1);
    assert_int_equal(ki_object_int64_or(object, "/spec/text", 1), 1);
    assert_int_equal(ki_object_int64_or(object, "/spec/large", 1), 1);
    assert_int_equal(ki_object_int64_or(NULL, "/spec/replicas", -2), -2);
    assert_int_equal(ki_object_bool_or(object, "/spec/paused", 0), 1);
    assert_int_equal(ki_object_bool_or(object, "/spec/replicas", 0), 0);
    assert_true(ki_object_double_or(object, "/spec/rate", 0) > 1.4);
    assert_true(ki_object_double_or(object, "/spec/text", -1) < 0);
    assert_true(ki_str_equal(ki_object_string_or(object, "/spec/text", other), KI_STR("t\n")));
    assert_true(ki_str_equal(ki_object_string_or(object, "/spec/rate", other), other));
    assert_true(ki_str_equal(ki_object_label_or(object, KI_STR("l"), other), KI_STR("v")));
    assert_true(ki_str_equal(ki_object_label_or(object, KI_STR("n"), other), other));
    assert_true(ki_str_equal(ki_object_annotation_or(object, KI_STR("n"), other), KI_STR("w")));
    assert_true(ki_str_equal(ki_object_annotation_or(NULL, KI_STR("n"), other), other));
    ki_object_unref(object);
}

/* ---- labels -------------------------------------------------------------------------------------------- */

static void labels_and_annotations_change_once(void **state)
{
    (void)state;
    ki_body *body = body_of("{}");
    assert_int_equal(ki_body_set_label(body, KI_STR("app.io/a~b"), KI_STR("v")), 1);
    assert_int_equal(ki_body_set_label(body, KI_STR("app.io/a~b"), KI_STR("v")), 0);
    assert_int_equal(ki_body_set_label(body, KI_STR("app.io/a~b"), KI_STR("w")), 1);
    assert_int_equal(ki_body_set_annotation(body, KI_STR("x"), KI_STR("")), 1);
    body_assert_text(body, "{\"metadata\":{\"labels\":{\"app.io/a~b\":\"w\"},\"annotations\":{\"x\":\"\"}}}");
    assert_int_equal(ki_body_set_label(body, KI_STR("a\0b"), KI_STR("v")), KI_ERR_INVALID);
    ki_body_free(body);
}

/* ---- owners -------------------------------------------------------------------------------------------- */

static void a_controller_is_set_once(void **state)
{
    (void)state;
    ki_object *owner = object_of(OWNER);
    ki_body *body = body_of("{\"metadata\":{\"name\":\"a\",\"namespace\":\"web\"}}");
    assert_int_equal(ki_body_set_controller(body, owner), 1);
    body_assert_text(
        body, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"web\",\"ownerReferences\":[" REFERENCE "]}}");
    assert_int_equal(ki_body_set_controller(body, owner), 0);
    ki_object *owned = ki_object_new(NULL, ki_body_json(body).raw, NULL, NULL);
    assert_true(ki_object_is_controlled_by(owned, owner));
    assert_false(ki_object_is_controlled_by(owner, owner));
    assert_false(ki_object_is_controlled_by(owned, owned));
    assert_false(ki_object_is_controlled_by(owned, NULL));
    ki_object *successor = object_of("{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":"
                                     "{\"namespace\":\"web\",\"name\":\"api\",\"uid\":\"u-2\"}}");
    assert_false(ki_object_is_controlled_by(owned, successor)); /* another object with the same name */
    ki_object_unref(successor);
    ki_object_unref(owned);
    ki_body_free(body);
    ki_object_unref(owner);
}

static void other_owners_are_kept(void **state)
{
    (void)state;
    ki_object *owner = object_of(OWNER);
    ki_body *body =
        body_of("{\"metadata\":{\"ownerReferences\":[{\"uid\":\"o\"},{\"uid\":\"u-1\",\"name\":\"old\"},"
                "{\"uid\":\"p\",\"controller\":false}]}}");
    assert_int_equal(ki_body_set_controller(body, owner), 1);
    body_assert_text(body, "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"o\"}," REFERENCE
                           ",{\"uid\":\"p\",\"controller\":false}]}}");
    ki_body_free(body);
    ki_object_unref(owner);
}

static void an_object_controlled_by_another_owner_is_unchanged(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *owner;
        int code;
        const char *message;
    } rows[] = {
        {"{\"metadata\":{\"ownerReferences\":[{\"uid\":\"o\",\"kind\":\"Node\",\"name\":\"n\","
         "\"controller\":true}]}}",
         OWNER, KI_ERR_ALREADY_EXISTS, "body: another owner controls the object: Node n"},
        {"{\"metadata\":{\"ownerReferences\":[{\"uid\":\"u-1\"},{\"uid\":\"o\",\"controller\":true}]}}",
         OWNER, KI_ERR_ALREADY_EXISTS, "body: another owner controls the object:  "},
        {"{\"metadata\":{\"namespace\":\"other\"}}", OWNER, KI_ERR_INVALID,
         "body: the owner is in another namespace"},
        {"{}", "{\"metadata\":{\"name\":\"new\"}}", KI_ERR_INVALID,
         "body: the owner has no UID: it has not been created yet"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_object *owner = object_of(rows[i].owner);
        ki_body *body = body_of(rows[i].body);
        assert_int_equal(ki_body_set_controller(body, owner), rows[i].code);
        ki_error err = {0};
        assert_int_equal(ki_body_check(body, &err), rows[i].code);
        assert_string_equal(err.message, rows[i].message);
        ki_body_free(body);
        ki_object_unref(owner);
    }
    ki_body *body = body_of("{}");
    assert_int_equal(ki_body_set_controller(body, NULL), KI_ERR_INVALID);
    ki_body_free(body);
}

/* ---- finalizers ---------------------------------------------------------------------------------------- */

static void finalizers_are_added_and_removed(void **state)
{
    (void)state;
    ki_body *body = body_of("{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(ki_body_remove_finalizer(body, KI_STR("x/1")), 0);
    assert_int_equal(ki_body_add_finalizer(body, KI_STR("x/1")), 1);
    assert_int_equal(ki_body_add_finalizer(body, KI_STR("x/2")), 1);
    assert_int_equal(ki_body_add_finalizer(body, KI_STR("x/1")), 0);
    ki_object *object = ki_object_new(NULL, ki_body_json(body).raw, NULL, NULL);
    assert_true(ki_object_has_finalizer(object, KI_STR("x/2")));
    assert_false(ki_object_has_finalizer(object, KI_STR("x")));
    assert_false(ki_object_has_finalizer(NULL, KI_STR("x/2")));
    ki_object_unref(object);
    assert_int_equal(ki_body_remove_finalizer(body, KI_STR("x/2")), 1);
    body_assert_text(body, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x/1\"]}}");
    assert_int_equal(ki_body_remove_finalizer(body, KI_STR("x/1")), 1);
    body_assert_text(body, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[]}}");
    ki_body_free(body);
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

#define CONDITION(type, status, generation, time, reason)                                                    \
    "{\"type\":\"" type "\",\"status\":\"" status "\"," generation "\"lastTransitionTime\":\"" time          \
    "\",\"reason\":\"" reason "\",\"message\":\"m\"}"

static ki_condition ready(ki_str status, ki_str reason, int64_t seconds)
{
    return (ki_condition){.condition_type = KI_STR("Ready"),
                          .status = status,
                          .reason = reason,
                          .message = KI_STR("m"),
                          .last_transition_time = {.seconds = seconds, .nanos = 5}};
}

static void the_time_of_a_condition_changes_with_its_status(void **state)
{
    (void)state;
    ki_body *body = body_of("{\"status\":{\"conditions\":[{\"type\":\"Other\"}]}}");
    ki_condition condition = ready(KI_STR("False"), KI_STR("Starting"), 1);
    assert_int_equal(ki_body_set_condition(body, &condition), 1);
    body_assert_text(body, "{\"status\":{\"conditions\":[{\"type\":\"Other\"}," CONDITION(
                               "Ready", "False", "", "1970-01-01T00:00:01Z", "Starting") "]}}");
    condition = ready(KI_STR("False"), KI_STR("Starting"), 2);
    assert_int_equal(ki_body_set_condition(body, &condition), 0);
    condition = ready(KI_STR("False"), KI_STR("Waiting"), 3);
    condition.observed_generation = 4;
    assert_int_equal(ki_body_set_condition(body, &condition), 1);
    body_assert_text(
        body, "{\"status\":{\"conditions\":[{\"type\":\"Other\"}," CONDITION(
                  "Ready", "False", "\"observedGeneration\":4,", "1970-01-01T00:00:01Z", "Waiting") "]}}");
    condition = ready(KI_STR("True"), KI_STR("Waiting"), 4);
    assert_int_equal(ki_body_set_condition(body, &condition), 1);
    body_assert_text(body, "{\"status\":{\"conditions\":[{\"type\":\"Other\"}," CONDITION(
                               "Ready", "True", "", "1970-01-01T00:00:04Z", "Waiting") "]}}");
    ki_body_free(body);
}

static void a_condition_without_a_time_gets_the_current_time(void **state)
{
    (void)state;
    ki_body *body = body_of("{\"metadata\":{\"name\":\"a\"}}");
    ki_condition condition = ready(KI_STR("True"), KI_STR("Up"), 0);
    condition.last_transition_time = (ki_timestamp){0};
    assert_int_equal(ki_body_set_condition(body, &condition), 1);
    ki_object *object = ki_object_new(NULL, ki_body_json(body).raw, NULL, NULL);
    ki_condition read;
    assert_int_equal(ki_object_condition(object, KI_STR("Ready"), &read), 0);
    assert_true(read.last_transition_time.seconds > 1500000000);
    assert_int_equal(read.last_transition_time.nanos, 0);
    assert_true(ki_str_equal(read.condition_type, KI_STR("Ready")) &&
                ki_str_equal(read.status, KI_STR("True")));
    assert_true(ki_str_equal(read.reason, KI_STR("Up")) && ki_str_equal(read.message, KI_STR("m")));
    assert_int_equal(read.observed_generation, 0);
    assert_true(ki_object_condition_is_true(object, KI_STR("Ready")));
    assert_false(ki_object_condition_is_true(object, KI_STR("Other")));
    assert_int_equal(ki_object_condition(object, KI_STR("Other"), &read), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_condition(NULL, KI_STR("Ready"), &read), KI_ERR_INVALID);
    ki_object_unref(object);
    assert_int_equal(ki_body_set_condition(body, &(ki_condition){.condition_type = KI_STR("x")}),
                     KI_ERR_INVALID);
    ki_body_free(body);
}

static void malformed_conditions_are_read_as_far_as_possible(void **state)
{
    (void)state;
    ki_object *object =
        object_of("{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[1,{\"type\":\"R\",\"status\":"
                  "true,\"lastTransitionTime\":\"x\",\"observedGeneration\":\"y\"}]}}");
    ki_condition read;
    assert_int_equal(ki_object_condition(object, KI_STR("R"), &read), 0);
    assert_int_equal(read.status.len, 0);
    assert_int_equal(read.last_transition_time.seconds, 0);
    assert_int_equal(read.observed_generation, 0);
    ki_object_unref(object);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static int change_all(const ki_object *owner)
{
    ki_body *body = ki_body_of(owner);
    ki_condition condition = ready(KI_STR("True"), KI_STR("Up"), 1);
    (void)ki_body_set_label(body, KI_STR("a/b"), KI_STR("c"));
    (void)ki_body_set_controller(body, owner);
    (void)ki_body_add_finalizer(body, KI_STR("x/1"));
    (void)ki_body_set_condition(body, &condition);
    condition.message = KI_STR("other");
    (void)ki_body_set_condition(body, &condition);
    (void)ki_body_remove_finalizer(body, KI_STR("x/1"));
    int rc = ki_body_check(body, NULL);
    ki_body_free(body);
    return rc;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    ki_object *owner = object_of(OWNER);
    size_t failures = 0;
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        failing_allocator_fail_at(n);
        int rc = change_all(owner);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        failures += has_failed;
    }
    assert_true(failures > 10);
    ki_object_unref(owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_body_of_an_object_is_its_text),
        WITH_MEMORY_CHECK(optional_fields_have_a_fallback),
        WITH_MEMORY_CHECK(labels_and_annotations_change_once),
        WITH_MEMORY_CHECK(a_controller_is_set_once),
        WITH_MEMORY_CHECK(other_owners_are_kept),
        WITH_MEMORY_CHECK(an_object_controlled_by_another_owner_is_unchanged),
        WITH_MEMORY_CHECK(finalizers_are_added_and_removed),
        WITH_MEMORY_CHECK(the_time_of_a_condition_changes_with_its_status),
        WITH_MEMORY_CHECK(a_condition_without_a_time_gets_the_current_time),
        WITH_MEMORY_CHECK(malformed_conditions_are_read_as_far_as_possible),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
