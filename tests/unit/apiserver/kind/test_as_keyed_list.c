/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are found by their keys; verbs on long lists take time in proportion to their length. */
#include "apiserver/kind/keyed_list.h"

#include <kinformer/error.h>
#include <time.h>

#include "apiserver/patch/patch.h"
#include "support/apiserver/as_rig.h"
#include "support/apiserver/trees.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* FEW, MANY: entries of a list. GROWTH_MAX: how many times more CPU time MANY may take; quadratic time takes
 * 64. */
enum { FEW = 250, MANY = 8 * FEW, GROWTH_MAX = 24, TRIES = 3 };

/* ---- finding ------------------------------------------------------------------------------------------- */

static struct ki_as_identity ports(void)
{
    struct ki_as_identity identity = {.keys = {{KI_STR("port"), KI_STR("protocol")}, 2}};
    return identity;
}

static long find(const struct ki_as_identity *identity, const char *list_text, const char *like_text)
{
    struct ki_as_keyed_list keyed;
    json_t *list = tree_of(list_text);
    json_t *like = tree_of(like_text);
    assert_int_equal(ki_as_keyed_list_init(&keyed, identity, list, 0), 0);
    long at = ki_as_keyed_list_find(&keyed, like);
    ki_as_keyed_list_fini(&keyed);
    json_decref(list);
    json_decref(like);
    return at;
}

#define EIGHT "{'port':1},{'port':2},{'port':3},{'port':4},{'port':5},{'port':6},{'port':7},{'port':8},"

static void the_first_element_with_the_same_keys_is_found(void **state)
{
    (void)state;
    struct ki_as_identity identity = ports();
    const char *few = "[{'port':80,'protocol':'UDP'},{'port':80,'name':'a'},{'port':80,'name':'b'}]";
    assert_int_equal(find(&identity, few, "{'port':80,'protocol':'TCP'}"), 1);
    assert_int_equal(find(&identity, few, "{'port':80}"), 1);
    assert_int_equal(find(&identity, few, "{'port':81}"), -1);
    assert_int_equal(find(&identity, "[]", "{'port':80}"), -1);
}

static void a_long_list_works_like_a_short_one(void **state)
{
    (void)state;
    struct ki_as_identity identity = ports();
    const char *many = "[" EIGHT "{'port':80,'protocol':'UDP'},{'port':80},{'port':80,'protocol':'TCP'}]";
    assert_int_equal(find(&identity, many, "{'port':80,'protocol':'TCP'}"), 9);
    assert_int_equal(find(&identity, many, "{'port':80}"), 9);
    assert_int_equal(find(&identity, many, "{'port':80,'protocol':'SCTP'}"), -1);
    assert_int_equal(find(&identity, many, "{'port':'80'}"), -1);
}

static void without_keys_elements_are_compared_by_value(void **state)
{
    (void)state;
    struct ki_as_identity identity = ki_as_identity_of("");
    const char *many = "[" EIGHT "[1],0.0,null,{'a':1,'b':[true]},{}]";
    assert_int_equal(find(&identity, many, "{'b':[true],'a':1}"), 11);
    assert_int_equal(find(&identity, many, "{'b':[true],'a':2}"), -1);
    assert_int_equal(find(&identity, many, "[1]"), 8);
    assert_int_equal(find(&identity, many, "{}"), 12);
}

static json_t *numbers(size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        assert_int_equal(json_array_append_new(list, json_integer((json_int_t)i)), 0);
    return list;
}

static void each_of_many_elements_is_found(void **state)
{
    (void)state;
    struct ki_as_identity identity = ki_as_identity_of("");
    struct ki_as_keyed_list keyed;
    json_t *list = numbers(MANY);
    assert_int_equal(ki_as_keyed_list_init(&keyed, &identity, NULL, MANY), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(ki_as_keyed_list_add(&keyed, json_array_get(list, i)), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(ki_as_keyed_list_find(&keyed, json_array_get(list, i)), (long)i);
    ki_as_keyed_list_fini(&keyed);
    json_decref(list);
}

static void when_out_of_memory_nothing_is_left(void **state)
{
    (void)state;
    struct ki_as_identity identity = ki_as_identity_of("");
    json_t *list = numbers(FEW);
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        struct ki_as_keyed_list keyed;
        failing_allocator_fail_at(n);
        int rc = ki_as_keyed_list_init(&keyed, &identity, list, 0);
        has_failed = failing_allocator_has_failed();
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        if (rc == 0)
            ki_as_keyed_list_fini(&keyed);
    }
    failing_allocator_fail_at(0);
    json_decref(list);
}

/* ---- verbs on long lists ------------------------------------------------------------------------------- */

/* A deployment with `count` variables that all have this value. */
static json_t *deployment(size_t count, const char *value)
{
    json_t *env = json_array();
    for (size_t i = 0; i < count; i++)
        assert_int_equal(json_array_append_new(
                             env, json_pack("{s:o, s:s}", "name", json_sprintf("V%zu", i), "value", value)),
                         0);
    json_t *tree =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:{s:s}}, s:{s:{s:{s:s}}, s:{s:[{s:s, s:s, s:o}]}}}}",
                  "kind", "Deployment", "apiVersion", "apps/v1", "metadata", "name", "d", "namespace",
                  "default", "spec", "selector", "matchLabels", "a", "b", "template", "metadata", "labels",
                  "a", "b", "spec", "containers", "name", "c", "image", "i", "env", env);
    assert_non_null(tree);
    return tree;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

typedef int (*change_cb)(struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                         struct ki_as_failure *failure);

static int change_by_update(struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                            struct ki_as_failure *failure)
{
    return ki_as_update(call, body, out, NULL, failure);
}

static int change_by_patch(struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                           struct ki_as_failure *failure)
{
    return ki_as_patch(call, KI_AS_PATCH_STRATEGIC, body, out, NULL, failure);
}

static int change_by_apply(struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                           struct ki_as_failure *failure)
{
    call->is_forced = true;
    return ki_as_patch(call, KI_AS_PATCH_APPLY, body, out, NULL, failure);
}

/* The time to create the deployment, and to let another manager change all its variables. */
static int64_t cost_of(change_cb change, size_t count)
{
    struct as_rig rig;
    struct ki_as_object *object = NULL;
    as_rig_init_seeded(&rig);
    json_t *first = deployment(count, "old");
    json_t *second = deployment(count, "new");
    int64_t start = cpu_ns();
    struct ki_as_call call = as_rig_call(&rig, "deployments.apps", "default/");
    call.field_manager = KI_STR("one");
    assert_taken(ki_as_create(&call, first, &object, &rig.failure), &rig.failure);
    ki_as_object_unref(object);
    call = as_rig_call(&rig, "deployments.apps", "default/d");
    call.field_manager = KI_STR("two");
    assert_taken(change(&call, second, &object, &rig.failure), &rig.failure);
    int64_t cost = cpu_ns() - start;
    ki_as_object_unref(object);
    json_t *tree = as_rig_get(&rig, "deployments.apps", "default/d");
    assert_string_equal(as_rig_text(tree, "spec.template.spec.containers.0.env.7.value"), "new");
    json_decref(first);
    json_decref(second);
    as_rig_fini(&rig);
    return cost;
}

static int64_t least_cost_of(change_cb change, size_t count)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        int64_t cost = cost_of(change, count);
        least = cost < least ? cost : least;
    }
    return least;
}

static void assert_no_square(change_cb change)
{
    int64_t few = least_cost_of(change, FEW);
    assert_in_range(least_cost_of(change, MANY) / (few + 1), 0, GROWTH_MAX);
}

static void updates_do_not_take_quadratic_time(void **state)
{
    (void)state;
    assert_no_square(change_by_update);
}

static void strategic_patches_do_not_take_quadratic_time(void **state)
{
    (void)state;
    assert_no_square(change_by_patch);
}

static void applies_do_not_take_quadratic_time(void **state)
{
    (void)state;
    assert_no_square(change_by_apply);
}

static bool patch_without_memory(void *user)
{
    json_t **trees = user;
    struct ki_as_failure failure = {0};
    json_t *out = NULL;
    int rc = ki_as_patch_strategic(trees[0], trees[1], &out, &failure);
    assert_int_equal(failure.code, rc < 0 ? 500 : 0);
    ki_as_failure_fini(&failure);
    json_decref(out);
    return rc == 0;
}

static bool apply_without_memory(void *user)
{
    json_t **trees = user;
    struct ki_as_failure failure = {0};
    struct ki_as_resource resource = resource_of("apps/v1", "deployments", "Deployment");
    struct ki_as_apply apply = {&resource, trees[0], trees[1], "me", "", true};
    json_t *out = NULL;
    int rc = ki_as_patch_apply(&apply, &out, &failure);
    assert_int_equal(failure.code, rc < 0 ? 500 : 0);
    ki_as_failure_fini(&failure);
    json_decref(out);
    return rc == 0;
}

static void each_allocation_for_long_lists_may_fail(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    struct ki_as_resource resource = resource_of("apps/v1", "deployments", "Deployment");
    json_t *trees[] = {NULL, deployment(KI_AS_KEYED_NEAR_MAX + 4, "old")};
    struct ki_as_apply apply = {&resource, NULL, trees[1], "me", "", false};
    assert_taken(ki_as_patch_apply(&apply, &trees[0], &failure), &failure);
    json_decref(trees[1]);
    trees[1] = deployment(KI_AS_KEYED_NEAR_MAX + 1, "new");
    assert_survives_no_memory(patch_without_memory, trees);
    assert_survives_no_memory(apply_without_memory, trees);
    json_decref(trees[0]);
    json_decref(trees[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_element_with_the_same_keys_is_found),
        cmocka_unit_test(a_long_list_works_like_a_short_one),
        cmocka_unit_test(without_keys_elements_are_compared_by_value),
        cmocka_unit_test(each_of_many_elements_is_found),
        cmocka_unit_test(when_out_of_memory_nothing_is_left),
        cmocka_unit_test(updates_do_not_take_quadratic_time),
        cmocka_unit_test(strategic_patches_do_not_take_quadratic_time),
        cmocka_unit_test(applies_do_not_take_quadratic_time),
        cmocka_unit_test(each_allocation_for_long_lists_may_fail),
    };
    return RUN_TESTS(tests);
}
