/* SPDX-License-Identifier: Apache-2.0 */
/* pattern - regular expressions of schemas, by PCRE2 within a number of steps.
 *
 *   From:     apiserver/kind/schema_budget.c
 *   To:       PCRE2
 *   Locks:    none of its own; the caller may hold the storage's, which is why the steps are limited.
 *   Not here: what is said about a text that does not match.
 *
 * Whoever defines a resource writes its patterns, and a backtracking matcher can be kept busy for ever by a
 * short one. Every match therefore has a limit of steps; past it the object is refused.
 */
#ifndef KI_APISERVER_VALUE_PATTERN_H
#define KI_APISERVER_VALUE_PATTERN_H

#include <kinformer/common.h>

enum ki_as_pattern_result {
    KI_AS_PATTERN_OUT_OF_MEMORY = -1,
    KI_AS_PATTERN_DIFFERS = 0,
    KI_AS_PATTERN_MATCHES = 1,
    KI_AS_PATTERN_GOOD,     /* it is compiled */
    KI_AS_PATTERN_WRONG,    /* not a regular expression, or too large */
    KI_AS_PATTERN_TOO_LONG, /* the steps were not enough */
};

/* A compiled pattern and the memory to match with it: for one thread. */
struct ki_as_pattern;

/* Counts `*steps` down by what compiling costs. `*out` is set if the pattern is good. */
enum ki_as_pattern_result ki_as_pattern_new(const char *text, size_t *steps, struct ki_as_pattern **out);
void ki_as_pattern_free(struct ki_as_pattern *pattern); /* NULL is allowed */

/* Whether some part of `text` (UTF-8) matches. Counts `*steps` down by what that has cost at most. */
enum ki_as_pattern_result ki_as_pattern_match(struct ki_as_pattern *pattern, ki_str text, size_t *steps);

#endif
