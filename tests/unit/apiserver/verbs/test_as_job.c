/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/value/tree.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

#define JOB(metadata, spec)                                                                                  \
    "{'metadata':{'name':'j'" metadata "},'spec':{" spec                                                     \
    "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}}}"

#define UID "batch.kubernetes.io/controller-uid"
#define NAME "batch.kubernetes.io/job-name"

static void assert_labels(const json_t *labels, const char *uid)
{
    assert_int_equal(json_object_size(labels), 4);
    assert_string_equal(json_string_value(json_object_get(labels, UID)), uid);
    assert_string_equal(json_string_value(json_object_get(labels, "controller-uid")), uid);
    assert_string_equal(json_string_value(json_object_get(labels, NAME)), "j");
    assert_string_equal(json_string_value(json_object_get(labels, "job-name")), "j");
}

static void a_job_selects_its_own_pods(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree = as_rig_create(&rig, "jobs.batch", "default/", JOB("", ""));
    const char *uid = ki_as_tree_text(tree, "metadata.uid");
    const json_t *selected = ki_as_tree_at(tree, "spec.selector.matchLabels");
    assert_int_equal(json_object_size(selected), 1);
    assert_string_equal(json_string_value(json_object_get(selected, UID)), uid);
    assert_labels(ki_as_tree_at(tree, "spec.template.metadata.labels"), uid);
    assert_labels(ki_as_tree_at(tree, "metadata.labels"), uid);
    assert_true(json_is_false(ki_as_tree_at(tree, "spec.manualSelector")));
    json_decref(tree);
    as_rig_fini(&rig);
}

static void labels_of_a_job_are_not_changed(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree = as_rig_create(&rig, "jobs.batch", "default/", JOB(",'labels':{'a':'b'}", ""));
    assert_tree(json_incref(ki_as_tree_at(tree, "metadata.labels")), "{'a':'b'}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static void a_job_with_a_manual_selector_is_unchanged(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree = as_rig_create(
        &rig, "jobs.batch", "default/",
        "{'metadata':{'name':'j'},'spec':{'manualSelector':true,'selector':{'matchLabels':{'a':'b'}},"
        "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{"
        "'name':'c','image':'i'}]}}}}");
    assert_tree(json_incref(ki_as_tree_at(tree, "spec.selector")), "{'matchLabels':{'a':'b'}}");
    assert_tree(json_incref(ki_as_tree_at(tree, "spec.template.metadata.labels")), "{'a':'b'}");
    json_decref(tree);
    as_rig_fini(&rig);
}

static void a_job_without_a_name_is_refused_with_that_reason(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    as_rig_refuse_create(&rig, "jobs.batch", "default/",
                         "{'metadata':{},'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[{"
                         "'name':'c','image':'i'}]}}}}");
    assert_refused(
        &rig.failure, 422,
        "Job.batch \"\" is invalid: metadata.name: Required value: name or generateName is required");
    as_rig_fini(&rig);
}

static void a_work_queue_job_has_no_completions(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init_seeded(&rig);
    json_t *tree = as_rig_create(&rig, "jobs.batch", "default/", JOB("", "'parallelism':3,"));
    assert_int_equal(as_rig_number(tree, "spec.completions"), -1);
    assert_true(as_rig_delete(&rig, "jobs.batch", "default/j"));
    tree = as_rig_create(&rig, "jobs.batch", "default/", JOB("", ""));
    assert_int_equal(as_rig_number(json_incref(tree), "spec.completions"), 1);
    assert_int_equal(as_rig_number(tree, "spec.parallelism"), 1);
    as_rig_fini(&rig);
}

static bool seed_and_create(void *user)
{
    (void)user;
    struct as_rig rig;
    bool is_done = as_rig_try_init_seeded(&rig) &&
                   as_rig_try_create(&rig, "jobs.batch", "default/",
                                     "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{"
                                     "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":"
                                     "\"i\"}]}}}}");
    as_rig_fini(&rig);
    return is_done;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_survives_no_memory(seed_and_create, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_selects_its_own_pods),
        cmocka_unit_test(labels_of_a_job_are_not_changed),
        cmocka_unit_test(a_job_with_a_manual_selector_is_unchanged),
        cmocka_unit_test(a_job_without_a_name_is_refused_with_that_reason),
        cmocka_unit_test(a_work_queue_job_has_no_completions),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
