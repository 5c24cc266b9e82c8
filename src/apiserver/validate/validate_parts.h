/* SPDX-License-Identifier: Apache-2.0 */
/* validate_parts - the checks of one object, one file a subject.
 *
 *   From:     apiserver/validate/validate.c
 *   To:       apiserver/kind/check.h
 *   Locks:    none
 *   Not here: what changes may be made (apiserver/validate/validate_update.c)
 */
#ifndef KI_APISERVER_VALIDATE_VALIDATE_PARTS_H
#define KI_APISERVER_VALIDATE_VALIDATE_PARTS_H

#include "apiserver/kind/check.h"
#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"
#include "apiserver/kind/schema.h"

/* Ends the check: 422 with the causes, and how many more there are, or nothing. */
KI_NODISCARD int ki_as_check_conclude(struct ki_as_check *check, const struct ki_as_resource *resource,
                                      const json_t *tree, struct ki_as_failure *failure);

bool ki_as_is_resource(const struct ki_as_resource *resource, const char *group, const char *plural);

void ki_as_check_metadata(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *metadata);
/* A map of labels. */
void ki_as_check_labels(struct ki_as_check *check, const struct ki_as_path *path, const json_t *labels);

/* That a workload selects its own pods. Looks at nothing else. */
void ki_as_check_workload(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *tree);
void ki_as_check_definition(struct ki_as_check *check, const json_t *tree);
/* A value against a JSON schema, as custom resources have it. */
void ki_as_check_schema(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        const json_t *value);
/* The same at the cost of the budget that the check has. */
void ki_as_check_schema_within(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                               const json_t *value);

/* Whether a string or a number is what a JSON schema calls so. */
bool ki_as_is_of_format(const char *format, const json_t *value);

/* Of a schema of a definition: each place has one type. */
void ki_as_check_structural(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema);
/* Of a schema of a definition: each is a regular expression. */
void ki_as_check_patterns(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema);

/* 400 when a field of a built-in kind holds something of another type. What the rules of the types find goes
 * to `check`, unless that is NULL. */
KI_NODISCARD int ki_as_check_types(const struct ki_as_resource *resource, const json_t *tree,
                                   struct ki_as_check *check, struct ki_as_failure *failure);
/* The same of what is the server's own, metadata and status, before it puts its own there. */
KI_NODISCARD int ki_as_check_own_types(const struct ki_as_resource *resource, const json_t *tree,
                                       struct ki_as_failure *failure);
/* An object against the rules of its type (rules.txt). */
void ki_as_check_rules(struct ki_as_check *check, const struct ki_as_path *path,
                       const struct ki_as_schema *schema, const json_t *object);

#endif
