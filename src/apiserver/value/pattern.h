/* SPDX-License-Identifier: Apache-2.0 */
/* pattern - the regular expressions of schemas, matched by PCRE2 with limits for steps, depth and memory.
 *
 *   From:     apiserver/kind/schema_budget.c
 *   To:       PCRE2
 *   Locks:    none; the caller may hold the storage's lock, which is why the steps are limited.
 *   Not here: the message for a text that does not match.
 *
 * Patterns come from clients that define resources, and a short pattern can keep a backtracking matcher busy
 * forever, or make it hold much memory. Every match therefore has limits; an object that exceeds one is
 * rejected.
 */
#ifndef KI_APISERVER_VALUE_PATTERN_H
#define KI_APISERVER_VALUE_PATTERN_H

#include <kinformer/common.h>

enum ki_as_pattern_result {
    KI_AS_PATTERN_OUT_OF_MEMORY = -1,
    KI_AS_PATTERN_DIFFERS = 0,
    KI_AS_PATTERN_MATCHES = 1,
    KI_AS_PATTERN_GOOD,     /* the pattern is valid */
    KI_AS_PATTERN_WRONG,    /* not a regular expression, or too large */
    KI_AS_PATTERN_TOO_LONG, /* a limit was exceeded: of steps, depth or memory */
};

/* A compiled pattern with its match memory. For one thread at a time. */
struct ki_as_pattern;

/* Subtracts the cost of compiling from `*steps`. Sets `*out` if the pattern is valid. */
enum ki_as_pattern_result ki_as_pattern_new(const char *text, size_t *steps, struct ki_as_pattern **out);
void ki_as_pattern_free(struct ki_as_pattern *pattern); /* NULL is allowed */

/* Tests whether some part of `text` (UTF-8) matches. Subtracts an upper bound of the cost from `*steps`.
 * Never returns KI_AS_PATTERN_GOOD or KI_AS_PATTERN_WRONG. */
enum ki_as_pattern_result ki_as_pattern_match(struct ki_as_pattern *pattern, ki_str text, size_t *steps);

#endif
