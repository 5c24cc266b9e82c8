/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/strict.h"

#include <stdio.h>

#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"

static void unknown_fields_are_warned_about_or_refused(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    json_t *body = tree_of("{'metadata':{'nam':'a'},'dat':{}}");
    call.warnings = json_array();
    assert_taken(ki_as_strict_body(&call, body, &rig.failure), &rig.failure);
    assert_tree(body, "{'metadata':{}}");
    assert_tree(json_incref(call.warnings),
                "['unknown field \\\"metadata.nam\\\"','unknown field \\\"dat\\\"']");
    body = tree_of("{'dat':{}}");
    call.strictness = KI_AS_FIELDS_STRICT;
    assert_int_equal(ki_as_strict_body(&call, body, &rig.failure), -1);
    assert_refused_with(&rig.failure, 400, "strict decoding error: unknown field \"dat\"");
    json_decref(body);
    body = tree_of("{'dat':{}}");
    call.strictness = KI_AS_FIELDS_IGNORE;
    assert_taken(ki_as_strict_body(&call, body, &rig.failure), &rig.failure);
    assert_tree(body, "{'dat':{}}");
    json_decref(call.warnings);
    as_rig_fini(&rig);
}

static void at_most_a_hundred_fields_are_named(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    struct ki_as_call call = as_rig_call(&rig, "configmaps", "default/");
    json_t *body = json_object();
    for (int i = 0; i < 150; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "x%d", i);
        assert_int_equal(json_object_set_new(body, name, json_null()), 0);
    }
    call.warnings = json_array();
    assert_taken(ki_as_strict_body(&call, body, &rig.failure), &rig.failure);
    assert_int_equal(json_array_size(call.warnings), 100);
    assert_int_equal(json_object_size(body), 0);
    json_decref(body);
    json_decref(call.warnings);
    as_rig_fini(&rig);
}

/* One patch of an event through the API group whose form is not stored. */
struct trial {
    enum ki_as_patch_type type;
    enum ki_as_strictness strictness;
    const char *patch;
    bool is_taken;
};

static bool run_trial(void *user)
{
    const struct trial *trial = user;
    static const char resource[] = "events.events.k8s.io";
    struct as_rig rig;
    struct ki_as_object *object = NULL;
    bool is_done = as_rig_try_init_seeded(&rig) &&
                   as_rig_try_create(&rig, resource, "default/",
                                     "{\"metadata\":{\"name\":\"a\"},\"note\":\"n\",\"regarding\":{\"name\":"
                                     "\"x\"}}");
    json_t *patch = json_loads(trial->patch, 0, NULL);
    json_t *warnings = json_array();
    is_done = is_done && patch != NULL && warnings != NULL;
    struct ki_as_call call = {0};
    if (is_done)
        call = as_rig_call(&rig, resource, "default/a");
    call.warnings = warnings;
    call.field_manager = KI_STR("me");
    call.strictness = trial->strictness;
    is_done = is_done &&
              (ki_as_patch(&call, trial->type, patch, &object, NULL, &rig.failure) == 0) == trial->is_taken;
    is_done = is_done && (trial->is_taken || rig.failure.status != NULL);
    ki_as_object_unref(object);
    json_decref(patch);
    json_decref(warnings);
    as_rig_fini(&rig);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    struct trial warned = {KI_AS_PATCH_MERGE, KI_AS_FIELDS_WARN, "{\"x\":1,\"note\":\"m\"}", true};
    struct trial refused = {KI_AS_PATCH_MERGE, KI_AS_FIELDS_STRICT, "{\"x\":1,\"y\":\"m\"}", false};
    struct trial applied = {KI_AS_PATCH_APPLY, KI_AS_FIELDS_WARN,
                            "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"x\":1,\"y\":2}",
                            false};
    assert_survives_no_memory(run_trial, &warned);
    assert_survives_no_memory(run_trial, &refused);
    assert_survives_no_memory(run_trial, &applied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields_are_warned_about_or_refused),
        cmocka_unit_test(at_most_a_hundred_fields_are_named),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
