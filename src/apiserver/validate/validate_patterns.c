/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the patterns of a definition, so that an invalid regular expression is rejected before it is used on
 * objects. */
#include <assert.h>
#include <string.h>

#include "apiserver/kind/schema_budget.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

enum { DEPTH_MAX = 64 };

struct search {
    struct ki_as_check *check;
    struct ki_as_schema_budget budget;
    size_t depth;
};

static void search_schema(struct search *search, const struct ki_as_path *path, const json_t *schema);

/* "properties" contains schemas by name. */
static void search_members(struct search *search, const struct ki_as_path *path, const json_t *schemas)
{
    const char *name = NULL;
    json_t *schema = NULL;
    json_object_foreach((json_t *)schemas, name, schema)
    {
        search_schema(search, KI_AS_KEY(path, name), schema);
    }
}

static void check_pattern(struct search *search, const struct ki_as_path *path, const json_t *pattern)
{
    if (ki_as_json_str(pattern).len == 0)
        return;
    enum ki_as_pattern_result result =
        ki_as_schema_match(&search->budget, path, json_string_value(pattern), (ki_str){0});
    if (result == KI_AS_PATTERN_WRONG)
        ki_as_check_invalid(search->check, path, pattern, "must be a valid regular expression, but isn't");
    else if (result == KI_AS_PATTERN_OUT_OF_MEMORY)
        ki_as_check_no_memory(search->check);
}

static void search_schema(struct search *search, const struct ki_as_path *path, const json_t *schema)
{
    assert(search->depth <= DEPTH_MAX);
    static const char *const single[] = {"items", "additionalProperties", "not"};
    static const char *const several[] = {"allOf", "anyOf", "oneOf"};
    if (!json_is_object(schema) || search->depth == DEPTH_MAX)
        return;
    search->depth++;
    check_pattern(search, KI_AS_MEMBER(path, "pattern"), json_object_get(schema, "pattern"));
    search_members(search, KI_AS_MEMBER(path, "properties"), json_object_get(schema, "properties"));
    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
        search_schema(search, KI_AS_MEMBER(path, single[i]), json_object_get(schema, single[i]));
    for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++) {
        const struct ki_as_path *list = KI_AS_MEMBER(path, several[i]);
        const json_t *schemas = json_object_get(schema, several[i]);
        for (size_t j = 0; j < json_array_size(schemas); j++)
            search_schema(search, KI_AS_ELEMENT(list, j), json_array_get(schemas, j));
    }
    search->depth--;
}

void ki_as_check_patterns(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    struct search search = {.check = check};
    search_schema(&search, path, schema);
    assert(search.depth == 0);
    if (search.budget.is_spent)
        ki_as_check_forbidden(check, path, "its patterns are too costly to validate");
    ki_as_schema_budget_fini(&search.budget);
}
