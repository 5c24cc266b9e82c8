/* SPDX-License-Identifier: Apache-2.0 */
/* defaults - the fields that a real server fills in, for the kinds where users and kubectl look at them.
 *
 *   From:     verbs, before validation
 *   To:       the stored object
 *   Locks:    none
 *   Not here: controllers: nobody makes pods of a deployment here
 */
#ifndef KI_APISERVER_DEFAULTS_H
#define KI_APISERVER_DEFAULTS_H

#include "apiserver/resource.h"

/* On create and update; idempotent. For pods restartPolicy, dnsPolicy, terminationGracePeriodSeconds,
 * container defaults, status.phase Pending; services type, ports' protocol and targetPort, sessionAffinity;
 * deployments replicas, strategy, revisionHistoryLimit; namespaces spec.finalizers, status.phase, the label
 * kubernetes.io/metadata.name; … Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree);

/* A new version of a service keeps the address of the old one unless it says another, and loses what that had
 * because of its type. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_service_carry(json_t *tree, const json_t *before);

#endif
