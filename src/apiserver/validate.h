/* SPDX-License-Identifier: Apache-2.0 */
/* validate - whether an object's metadata (and what Kubernetes demands most of its spec) may be stored.
 *
 *   From:     verbs
 *   To:       a 422 with every cause
 *   Locks:    none
 *   Not here: schemas of built-in kinds
 */
#ifndef KI_APISERVER_VALIDATE_H
#define KI_APISERVER_VALIDATE_H

#include "apiserver/failure.h"
#include "apiserver/resource.h"

/* A complete object, as it would be stored: names (RFC 1123 subdomain or label, or 1035, by kind),
 * generateName, namespace, labels, annotations (256 KiB), finalizers, ownerReferences, types of the metadata
 * fields; required fields of the kinds people meet first (a pod needs containers with names and images, a
 * service ports, a deployment a selector
 * that matches its template's labels, a configmap's keys, a CustomResourceDefinition its names and versions,
 * …); a custom object against its schema (types, required, enum, minimum, pattern, …). */
KI_NODISCARD int ki_as_validate(const struct ki_as_resource *resource, const json_t *tree,
                                struct ki_as_failure *failure);

/* The same without what a kind's spec must have: who fills a server for a test writes no more than the test
 * needs. */
KI_NODISCARD int ki_as_validate_sketch(const struct ki_as_resource *resource, const json_t *tree,
                                       struct ki_as_failure *failure);

/* Whether a stored object lacks such things. What it lacked before, a change of it may lack, too. */
bool ki_as_is_sketch(const struct ki_as_resource *resource, const json_t *tree);

/* What an update may not change: uid, name, namespace, creationTimestamp, deletionTimestamp; fields that are
 * immutable in Kubernetes (a deployment's selector, a service's clusterIP,
 * an immutable configmap or secret, …). */
KI_NODISCARD int ki_as_validate_update(const struct ki_as_resource *resource, const json_t *before,
                                       const json_t *after, struct ki_as_failure *failure);

#endif
