/* SPDX-License-Identifier: Apache-2.0 */
#include "support/apiserver/patch_run.h"

#include "support/apiserver/trees.h"
#include "support/unit.h"

void assert_patched(patch_cb apply, const char *current, const char *patch, const char *expected)
{
    json_t *trees[] = {tree_of(current), tree_of(patch)};
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    assert_taken(apply(trees[0], trees[1], &out, &failure), &failure);
    assert_tree(out, expected);
    assert_tree(trees[0], current);
    assert_tree(trees[1], patch);
}

void assert_patch_refused(patch_cb apply, const char *current, const char *patch, const char *why)
{
    json_t *trees[] = {tree_of(current), tree_of(patch)};
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    assert_int_equal(apply(trees[0], trees[1], &out, &failure), -1);
    assert_null(out);
    json_t *causes = json_object_get(json_object_get(failure.status, "details"), "causes");
    assert_string_equal(json_string_value(json_object_get(json_array_get(causes, 0), "message")), why);
    assert_refused(&failure, 422, "the server rejected our request due to an error in our request");
    json_decref(trees[0]);
    json_decref(trees[1]);
}

bool patch_is_done(int rc, json_t *out, struct ki_as_failure *failure)
{
    if (rc == 0)
        json_decref(out);
    else
        assert_int_equal(failure->code, 500);
    ki_as_failure_fini(failure);
    return rc == 0;
}

typedef struct attempt {
    patch_cb apply;
    json_t *current;
    json_t *patch;
} attempt;

static bool succeeds(void *user)
{
    const attempt *one = user;
    json_t *out = NULL;
    struct ki_as_failure failure = {0};
    int rc = one->apply(one->current, one->patch, &out, &failure);
    return patch_is_done(rc, out, &failure);
}

void assert_patch_survives_no_memory(patch_cb apply, const char *current, const char *patch)
{
    attempt one = {apply, tree_of(current), tree_of(patch)};
    assert_survives_no_memory(succeeds, &one);
    json_decref(one.current);
    json_decref(one.patch);
}
