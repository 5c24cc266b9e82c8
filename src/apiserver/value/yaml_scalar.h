/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_scalar - converts YAML scalars to JSON as Kubernetes does: YAML 1.1 with "yes" and "0123".
 *
 *   From:     apiserver/value/yaml.c
 *   Locks:    none
 *   Not here: structure
 */
#ifndef KI_APISERVER_VALUE_YAML_SCALAR_H
#define KI_APISERVER_VALUE_YAML_SCALAR_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

/* A scalar without quotes or tag becomes null, a boolean, a number or a string. Returns NULL if out of
 * memory, and also for infinities and NaN, which JSON does not have; then sets *out_is_unsupported. */
json_t *ki_as_yaml_resolve(ki_str text, bool *out_is_unsupported);

#endif
