/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_scalar - what a scalar of YAML is in JSON, as Kubernetes reads it: YAML 1.1 with "yes" and "0123".
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

/* A scalar without quotes or tag: null, a boolean, a number, or the string that it is. NULL without
 * memory; or, for infinities and what is no number, which JSON does not have, with *out_is_unsupported. */
json_t *ki_as_yaml_resolve(ki_str text, bool *out_is_unsupported);

#endif
