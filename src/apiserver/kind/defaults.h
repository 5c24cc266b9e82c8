/* SPDX-License-Identifier: Apache-2.0 */
/* defaults - the fields that a real server fills in, for the kinds where users and kubectl look at them.
 *
 *   From:     verbs, before validation
 *   To:       the stored object
 *   Locks:    none
 *   Not here: controllers: nobody makes pods of a deployment here
 */
#ifndef KI_APISERVER_KIND_DEFAULTS_H
#define KI_APISERVER_KIND_DEFAULTS_H

#include "apiserver/kind/resource.h"

/* On create and update; idempotent. Unknown fields go. Constants are rows of defaults.txt, by type; in C is
 * what is made of other values: pull policies of containers, requests, qosClass, addresses and ports of
 * services, names of definitions, stringData of secrets, the label of namespaces. Custom kinds have the
 * defaults of their schema. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree);

/* A new version of a service keeps the address of the old one unless it says another, and loses what that had
 * because of its type. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_service_carry(json_t *tree, const json_t *before);

#endif
