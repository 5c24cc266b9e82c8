/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/schema_budget.h"

#include <assert.h>

#include "apiserver/value/tree.h"

/* BYTES_PER_STEP: how many bytes of a text are compared or copied in one step. */
enum { BYTES_PER_STEP = 16 };

void ki_as_schema_budget_fini(struct ki_as_schema_budget *budget)
{
    for (size_t i = 0; i < KI_AS_SCHEMA_PATTERNS; i++)
        ki_as_pattern_free(budget->patterns[i].pattern);
}

bool ki_as_schema_charge(struct ki_as_schema_budget *budget, const struct ki_as_path *path, size_t steps)
{
    assert(budget->steps <= KI_AS_SCHEMA_STEPS_MAX);
    assert(!budget->is_spent || budget->steps == KI_AS_SCHEMA_STEPS_MAX);
    if (budget->is_spent)
        return false;
    if (steps < KI_AS_SCHEMA_STEPS_MAX - budget->steps) {
        budget->steps += steps;
        return true;
    }
    budget->steps = KI_AS_SCHEMA_STEPS_MAX;
    budget->is_spent = true;
    ki_as_path_write(path, budget->where);
    return false;
}

size_t ki_as_schema_weight(const json_t *value)
{
    size_t weight = 1;
    size_t index = 0;
    const char *name = NULL;
    json_t *inner = NULL;
    if (json_is_string(value))
        return 1 + json_string_length(value) / BYTES_PER_STEP;
    json_array_foreach(value, index, inner)
    {
        weight += ki_as_schema_weight(inner);
    }
    json_object_foreach((json_t *)value, name, inner)
    {
        weight += 1 + ki_str_of(name).len / BYTES_PER_STEP + ki_as_schema_weight(inner);
    }
    return weight;
}

/* Two patterns that hash to the same slot evict each other, and are compiled (and charged) each time. */
static struct ki_as_schema_pattern *place_of(struct ki_as_schema_budget *budget, const char *text)
{
    uintptr_t bits = (uintptr_t)text;
    return &budget->patterns[(bits >> 4 ^ bits >> 9 ^ bits >> 14) % KI_AS_SCHEMA_PATTERNS];
}

enum ki_as_pattern_result ki_as_schema_match(struct ki_as_schema_budget *budget,
                                             const struct ki_as_path *path, const char *pattern, ki_str text)
{
    assert(pattern != NULL);
    struct ki_as_schema_pattern *place = place_of(budget, pattern);
    size_t left = KI_AS_SCHEMA_STEPS_MAX - budget->steps;
    size_t steps = left;
    if (place->text != pattern) {
        ki_as_pattern_free(place->pattern);
        *place = (struct ki_as_schema_pattern){.text = pattern};
        place->result = ki_as_pattern_new(pattern, &steps, &place->pattern);
    }
    enum ki_as_pattern_result result = place->result;
    assert((place->pattern != NULL) == (result == KI_AS_PATTERN_GOOD));
    if (result == KI_AS_PATTERN_GOOD && text.ptr != NULL)
        result = ki_as_pattern_match(place->pattern, text, &steps);
    assert(steps <= left);
    return ki_as_schema_charge(budget, path, left - steps) ? result : KI_AS_PATTERN_TOO_LONG;
}
