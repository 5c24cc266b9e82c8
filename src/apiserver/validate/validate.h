/* SPDX-License-Identifier: Apache-2.0 */
/* validate - checks whether an object may be stored.
 *
 *   From:     apiserver/verbs/create.c, apiserver/verbs/update.c, apiserver/verbs/check_body.c
 *   To:       a 422 with every cause
 *   Locks:    none
 *   Not here: setting defaults (apiserver/kind/defaults.h); conflicts of versions (apiserver/verbs/update.c)
 *
 * The check of a single field is a row of rules.txt. Functions make only the checks that a row cannot
 * express: those of definitions, of workloads, of custom objects, and of the changes of an update.
 */
#ifndef KI_APISERVER_VALIDATE_VALIDATE_H
#define KI_APISERVER_VALIDATE_VALIDATE_H

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"

/* Checks a complete object, as it would be stored: names (by kind an RFC 1123 subdomain or label, or a path
 * segment), generateName, namespace, labels, annotations (256 KiB), finalizers, ownerReferences; the types of
 * all fields and the rules of those types (rules.txt); that a workload selects its own pods; the names,
 * versions and schemas of a CustomResourceDefinition; a custom object against its schema (types, required,
 * enum, minimum, pattern, ...). docs/apiserver.md lists what is not checked. */
KI_NODISCARD int ki_as_validate(const struct ki_as_resource *resource, const json_t *tree,
                                struct ki_as_failure *failure);

/* Like ki_as_validate(), but without rules.txt and selectors, so that tests can load incomplete objects.
 * Definitions are checked in full. */
KI_NODISCARD int ki_as_validate_sketch(const struct ki_as_resource *resource, const json_t *tree,
                                       struct ki_as_failure *failure);

/* Whether a stored object is incomplete, because it fails checks that ki_as_validate_sketch() omits. An
 * update of such an object may be incomplete, too. */
bool ki_as_is_sketch(const struct ki_as_resource *resource, const json_t *tree);

/* Checks metadata and status as the client sent them, before the server sets its own values. Fails with 400
 * if a field has a value of the wrong type. */
KI_NODISCARD int ki_as_check_own_types(const struct ki_as_resource *resource, const json_t *tree,
                                       struct ki_as_failure *failure);

/* Checks the changes of an update. Immutable are uid, name, namespace, creationTimestamp, deletionTimestamp,
 * and the fields that are immutable in Kubernetes (a deployment's selector, a service's clusterIP, an
 * immutable ConfigMap or Secret, ...). An object that is being deleted must not get new finalizers. */
KI_NODISCARD int ki_as_validate_update(const struct ki_as_resource *resource, const json_t *before,
                                       const json_t *after, struct ki_as_failure *failure);

#endif
