/* SPDX-License-Identifier: Apache-2.0 */
/* duplicates - the members of objects that stand twice in a text of JSON, of which a tree has only the last.
 *
 *   From:     handle.c, once the decoder has met one
 *   To:       strict.h, which refuses or warns
 *   Locks:    none
 *   Not here: YAML, whose reader sees them itself
 */
#ifndef KI_APISERVER_DUPLICATES_H
#define KI_APISERVER_DUPLICATES_H

#include <jansson.h>
#include <kinformer/common.h>

/* As many as Kubernetes names at the most. */
enum { KI_AS_DUPLICATES_MAX = 100 };

/* An array of 'duplicate field "spec.containers[0].image"', each field once and in the order of the text,
 * which is JSON. NULL without memory. */
json_t *ki_as_duplicates(ki_str text);

#endif
