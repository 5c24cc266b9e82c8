/* SPDX-License-Identifier: Apache-2.0 */
/* schema_budget - limits the total work of validating one object against its schema.
 *
 *   From:     apiserver/validate/validate_schema.c, apiserver/validate/validate_patterns.c,
 *             apiserver/validate/validate_structural.c
 *   To:       apiserver/value/pattern.h
 *   Locks:    none; the storage's lock is held meanwhile, which is why the work is limited
 *   Not here: the checks
 */
#ifndef KI_APISERVER_KIND_SCHEMA_BUDGET_H
#define KI_APISERVER_KIND_SCHEMA_BUDGET_H

#include "apiserver/kind/check.h"
#include "apiserver/value/pattern.h"

/* KI_AS_SCHEMA_STEPS_MAX: the steps of about a second. KI_AS_SCHEMA_PATTERNS: the size of the cache of
 * compiled patterns. */
enum { KI_AS_SCHEMA_STEPS_MAX = 50 * 1000 * 1000, KI_AS_SCHEMA_PATTERNS = 32 };

struct ki_as_schema_pattern {
    const char *text; /* owned by the schema, so an equal address means an equal text */
    struct ki_as_pattern *pattern;
    enum ki_as_pattern_result result;
};

/* A zeroed struct has spent nothing. */
struct ki_as_schema_budget {
    size_t steps;
    bool is_spent;
    char where[KI_AS_PATH_BYTES]; /* where the budget ran out */
    struct ki_as_schema_pattern patterns[KI_AS_SCHEMA_PATTERNS];
};

void ki_as_schema_budget_fini(struct ki_as_schema_budget *budget);

/* Adds the steps to those spent. If it returns false, the budget is spent and the check must stop. */
bool ki_as_schema_charge(struct ki_as_schema_budget *budget, const struct ki_as_path *path, size_t steps);

/* The cost of comparing or printing a value. */
size_t ki_as_schema_weight(const json_t *value);

/* Compiles a pattern of the schema, unless it is cached, and tests whether `text` matches. If `text.ptr` is
 * NULL, it tests only whether the pattern is valid. */
enum ki_as_pattern_result ki_as_schema_match(struct ki_as_schema_budget *budget,
                                             const struct ki_as_path *path, const char *pattern, ki_str text);

#endif
