/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_kinds - which built-in kind gets which defaults.
 *
 *   From:     defaults.c
 *   To:       defaults_parts.h
 *   Locks:    none
 *   Not here: pods (defaults_pod.c), custom resources
 */
#ifndef KI_APISERVER_DEFAULTS_KINDS_H
#define KI_APISERVER_DEFAULTS_KINDS_H

#include "apiserver/resource.h"

KI_NODISCARD int ki_as_defaults_of_kind(const struct ki_as_resource *resource, json_t *tree);

#endif
