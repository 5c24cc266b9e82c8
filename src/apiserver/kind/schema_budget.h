/* SPDX-License-Identifier: Apache-2.0 */
/* schema_budget - how much work one object may be against its schema, all parts of it together.
 *
 *   From:     apiserver/validate/validate_schema.c, apiserver/validate/validate_patterns.c
 *   To:       apiserver/value/pattern.h
 *   Locks:    none of its own; the storage's is held meanwhile, which is why there is an end
 *   Not here: what is right or wrong
 */
#ifndef KI_APISERVER_KIND_SCHEMA_BUDGET_H
#define KI_APISERVER_KIND_SCHEMA_BUDGET_H

#include "apiserver/kind/check.h"
#include "apiserver/value/pattern.h"

/* KI_AS_SCHEMA_STEPS_MAX: about a second. KI_AS_SCHEMA_PATTERNS: that are kept compiled. */
enum { KI_AS_SCHEMA_STEPS_MAX = 50 * 1000 * 1000, KI_AS_SCHEMA_PATTERNS = 32 };

struct ki_as_schema_pattern {
    const char *text; /* of the schema: the same address is the same text */
    struct ki_as_pattern *pattern;
    enum ki_as_pattern_result result;
};

/* Zeroed: nothing spent. */
struct ki_as_schema_budget {
    size_t steps;
    bool is_spent;
    char where[KI_AS_PATH_BYTES]; /* it was spent */
    struct ki_as_schema_pattern patterns[KI_AS_SCHEMA_PATTERNS];
};

void ki_as_schema_budget_fini(struct ki_as_schema_budget *budget);

/* False: it is spent, and nothing more may be done. */
bool ki_as_schema_charge(struct ki_as_schema_budget *budget, const struct ki_as_path *path, size_t steps);

/* What it costs to hold a value against another one, or to show it. */
size_t ki_as_schema_weight(const json_t *value);

/* Compiles a pattern of the schema unless that is done already, and, for a text, tells whether it matches;
 * without (its `ptr` is NULL) whether it is good. */
enum ki_as_pattern_result ki_as_schema_match(struct ki_as_schema_budget *budget,
                                             const struct ki_as_path *path, const char *pattern, ki_str text);

#endif
