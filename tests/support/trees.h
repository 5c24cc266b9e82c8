/* SPDX-License-Identifier: Apache-2.0 */
/* trees - JSON trees written as text with single quotes, and what the embedded server refuses.
 *
 *   From:     tests of src/apiserver
 *   To:       jansson, cmocka, the failing allocator
 */
#ifndef KI_TESTS_SUPPORT_TREES_H
#define KI_TESTS_SUPPORT_TREES_H

#include <jansson.h>
#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"

/* {'a':'b'}; anything else than JSON fails the test. */
json_t *tree_of(const char *text);

/* The body of a recorded answer. */
json_t *tree_of_fixture(const char *name);

/* Both trees are equal; takes `actual` over. */
void assert_tree(json_t *actual, const char *expected);

/* The Status has this code and message; forgets it. */
void assert_refused(struct ki_as_failure *failure, int code, const char *message);
/* The same, with a part of the message. */
void assert_refused_with(struct ki_as_failure *failure, int code, const char *part);
/* Nothing failed; says what it was otherwise. */
void assert_taken(int rc, struct ki_as_failure *failure);

/* A built-in resource, namespaced, or "cluster" as its plural's prefix: "cluster/nodes". */
struct ki_as_resource resource_of(const char *api_version, const char *plural, const char *kind);

/* Runs `run` with the n-th allocation (jansson's too) failing, n = 1, 2, …, until none fails. `run`
 * answers whether it succeeded; it must when no allocation failed, and leave nothing behind either way. */
void assert_survives_no_memory(bool (*run)(void *user), void *user);

#endif
