/* SPDX-License-Identifier: Apache-2.0 */
/* validate_parts - the checks of one object, one file per subject.
 *
 *   From:     apiserver/validate/validate.c, apiserver/validate/validate_update.c
 *   To:       apiserver/kind/check.h
 *   Locks:    none
 *   Not here: immutable fields (apiserver/validate/validate_update.c)
 */
#ifndef KI_APISERVER_VALIDATE_VALIDATE_PARTS_H
#define KI_APISERVER_VALIDATE_VALIDATE_PARTS_H

#include "apiserver/kind/check.h"
#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"
#include "apiserver/kind/schema.h"

/* Ends the check. If there are causes, fails with 422, these causes and the number of omitted ones. */
KI_NODISCARD int ki_as_check_conclude(struct ki_as_check *check, const struct ki_as_resource *resource,
                                      const json_t *tree, struct ki_as_failure *failure);

void ki_as_check_metadata(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *metadata);
/* Checks a map of labels. */
void ki_as_check_labels(struct ki_as_check *check, const struct ki_as_path *path, const json_t *labels);

/* Checks only that a workload selects its own pods. */
void ki_as_check_workload(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *tree);
void ki_as_check_definition(struct ki_as_check *check, const json_t *tree);
/* Checks a value against a JSON schema, as for custom resources. */
void ki_as_check_schema(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *value);
/* Like ki_as_check_schema(), but charged to the budget of `check`. */
void ki_as_check_schema_within(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                               const json_t *value);

/* Whether a string or a number has the given format of JSON schema. */
bool ki_as_is_of_format(const char *format, const json_t *value);

/* Checks that the schema of a definition is structural: each path has one type. */
void ki_as_check_structural(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema);
/* Checks that each pattern in the schema of a definition is a regular expression. */
void ki_as_check_patterns(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema);

/* Fails with 400 if a field of a built-in kind has a value of the wrong type. Violations of the types' rules
 * are added to `check`, unless it is NULL. */
KI_NODISCARD int ki_as_check_types(const struct ki_as_resource *resource, const json_t *tree,
                                   struct ki_as_check *check, struct ki_as_failure *failure);
/* Checks an object against the rules of its type (rules.txt). */
void ki_as_check_rules(struct ki_as_check *check, const struct ki_as_path *path,
                       const struct ki_as_schema *schema, const json_t *object);

#endif
