/* SPDX-License-Identifier: Apache-2.0 */
/* trees - JSON trees written as text with single quotes, and checks of failures.
 *
 *   From:     tests of src/apiserver
 *   To:       jansson, cmocka, the failing allocator
 */
#ifndef KI_TESTS_SUPPORT_APISERVER_TREES_H
#define KI_TESTS_SUPPORT_APISERVER_TREES_H

#include <jansson.h>
#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"

/* {'a':'b'}; fails the test if it is not JSON. */
json_t *tree_of(const char *text);

/* The body of a recorded response. */
json_t *tree_of_fixture(const char *name);

/* Both trees must be equal; takes `actual`. */
void assert_tree(json_t *actual, const char *expected);

/* The Status must have this code and message; frees it. */
void assert_refused(struct ki_as_failure *failure, int code, const char *message);
/* The same with a part of the message. */
void assert_refused_with(struct ki_as_failure *failure, int code, const char *part);
/* Nothing may have failed; prints the failure otherwise. */
void assert_taken(int rc, struct ki_as_failure *failure);

/* A built-in resource, namespaced unless the plural starts with "cluster/": "cluster/nodes". */
struct ki_as_resource resource_of(const char *api_version, const char *plural, const char *kind);

/* Fills it with the built-in resources and those of a CustomResourceDefinition. Returns 0, or -1. */
int resources_with(struct ki_as_resources *out, const char *definition);

/* Runs `run` with the n-th allocation (including jansson's) failing, n = 1, 2, …, until none fails. `run`
 * returns whether it succeeded. It must succeed if no allocation failed, and must leak nothing in either
 * case. */
void assert_survives_no_memory(bool (*run)(void *user), void *user);

#endif
