/* SPDX-License-Identifier: Apache-2.0 */
/* label_syntax - the syntax of label keys and values in Kubernetes.
 *
 *   From:     api/selector/selector_parse.c, controller/event_text.c, controller/recorder.c
 *   Locks:    none; pure functions.
 *   Not here: names of resources, whose parts are shorter: api/resource/resource.c
 */
#ifndef KI_API_RESOURCE_LABEL_SYNTAX_H
#define KI_API_RESOURCE_LABEL_SYNTAX_H

#include <kinformer/common.h>
#include <stdbool.h>

enum { KI_LABEL_NAME_BYTES_MAX = 63, KI_LABEL_PREFIX_BYTES_MAX = 253 };

/* Returns NULL for a valid key (a "qualified name"), such as "app" or "example.com/app"; otherwise the
 * description of what was expected, with its position in *out_at. */
const char *ki_label_key_fault(ki_str key, size_t *out_at);

/* The same for a value, which may be empty. */
const char *ki_label_value_fault(ki_str value, size_t *out_at);

/* Whether the text may be the prefix of a key. Names of most objects have the same syntax. */
bool ki_label_is_prefix(ki_str text);

#endif
