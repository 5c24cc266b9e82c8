/* SPDX-License-Identifier: Apache-2.0 */
/* defaults - sets the defaults that a real server sets, for fields that users and kubectl look at.
 *
 *   From:     verbs, before validation
 *   To:       the stored object
 *   Locks:    none
 *   Not here: controllers; a deployment gets no pods from here
 */
#ifndef KI_APISERVER_KIND_DEFAULTS_H
#define KI_APISERVER_KIND_DEFAULTS_H

#include "apiserver/kind/resource.h"

/* Called on create and update; idempotent. Removes unknown fields. Constant defaults are rows of
 * defaults.txt, by type. Computed defaults are in C: pull policies of containers, requests, qosClass,
 * addresses and ports of services, names of definitions, stringData of secrets, the label of namespaces.
 * Custom kinds have the defaults of their schema. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree);

/* A new version of a service keeps the old address unless it sets another one, and loses fields that depended
 * on the old type. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_service_carry(json_t *tree, const json_t *before);

#endif
