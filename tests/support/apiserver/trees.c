/* SPDX-License-Identifier: Apache-2.0 */
#include "support/apiserver/trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/fixtures.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/alloc.h"

json_t *tree_of(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *c = copy; *c != 0; c++) {
        if (*c == '\'')
            *c = '"';
    }
    json_error_t err;
    json_t *tree = json_loads(copy, JSON_DECODE_ANY, &err);
    free(copy);
    if (tree == NULL)
        fail_msg("%s: %s", err.text, text);
    return tree;
}

json_t *tree_of_fixture(const char *name)
{
    fixture file = {0};
    fixture_http answer = {0};
    assert_int_equal(fixture_load(&file, name, NULL), 0);
    assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
    json_t *tree = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    assert_non_null(tree);
    fixture_free(&file);
    return tree;
}

static char *shown(const json_t *tree)
{
    char *text = json_dumps(tree, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);
    assert_non_null(text);
    return text;
}

void assert_tree(json_t *actual, const char *expected)
{
    json_t *wanted = tree_of(expected);
    assert_non_null(actual);
    char *actual_text = shown(actual);
    char *wanted_text = shown(wanted);
    assert_string_equal(actual_text, wanted_text);
    free(actual_text);
    free(wanted_text);
    json_decref(wanted);
    json_decref(actual);
}

static const char *message_of(const struct ki_as_failure *failure)
{
    const char *message = json_string_value(json_object_get(failure->status, "message"));
    return message == NULL ? "" : message;
}

void assert_refused(struct ki_as_failure *failure, int code, const char *message)
{
    assert_string_equal(message_of(failure), message);
    assert_int_equal(failure->code, code);
    ki_as_failure_fini(failure);
}

void assert_refused_with(struct ki_as_failure *failure, int code, const char *part)
{
    if (strstr(message_of(failure), part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, message_of(failure));
    assert_int_equal(failure->code, code);
    ki_as_failure_fini(failure);
}

void assert_taken(int rc, struct ki_as_failure *failure)
{
    if (rc != 0)
        fail_msg("%d %s", failure->code, message_of(failure));
    assert_int_equal(failure->code, 0);
}

struct ki_as_resource resource_of(const char *api_version, const char *plural, const char *kind)
{
    static const char *const nothing[] = {NULL};
    static char groups[8][64];
    static unsigned used;
    const char *slash = strchr(api_version, '/');
    bool is_cluster = strncmp(plural, "cluster/", 8) == 0;
    char *group = groups[used++ % 8];
    (void)snprintf(group, sizeof(groups[0]), "%.*s", slash == NULL ? 0 : (int)(slash - api_version),
                   api_version);
    plural += is_cluster ? 8 : 0;
    return (struct ki_as_resource){
        .group = group,
        .version = slash == NULL ? api_version : slash + 1,
        .plural = plural,
        .singular = plural,
        .kind = kind,
        .list_kind = "List",
        .short_names = nothing,
        .categories = nothing,
        .api_version = api_version,
        .qualified = plural,
        .is_namespaced = !is_cluster,
    };
}

void assert_survives_no_memory(bool (*run)(void *user), void *user)
{
    json_malloc_t old_malloc;
    json_free_t old_free;
    json_get_alloc_funcs(&old_malloc, &old_free);
    failing_allocator_install();
    json_set_alloc_funcs(ki_malloc, ki_free);
    bool has_succeeded = false;
    for (size_t n = 1; !has_succeeded; n++) {
        failing_allocator_fail_at(n);
        bool is_good = run(user);
        has_succeeded = !failing_allocator_has_failed();
        assert_true(is_good || !has_succeeded);
        failing_allocator_fail_at(0);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    json_set_alloc_funcs(old_malloc, old_free);
    failing_allocator_remove();
}

int resources_with(struct ki_as_resources *out, const char *definition)
{
    struct ki_as_failure failure = {0};
    json_t *tree = tree_of(definition);
    int rc = ki_as_resources_init(out);
    if (rc == 0)
        rc = ki_as_resources_define(out, tree, &failure);
    json_decref(tree);
    return rc;
}
