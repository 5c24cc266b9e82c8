/* SPDX-License-Identifier: Apache-2.0 */
/* resource_suggest - "did you mean …": the built-in resources whose names are near a mistyped one.
 *
 *   From:     api/resource/resource_find.c
 *   To:       api/resource/resources_table.h
 *   Not here: deciding that a name is unknown.
 */
#ifndef KI_API_RESOURCE_RESOURCE_SUGGEST_H
#define KI_API_RESOURCE_RESOURCE_SUGGEST_H

#include <kinformer/resource.h>

/* Sets `err` (may be NULL) to a message with the name and similar ones. Returns KI_ERR_RESOURCE. */
int ki_resource_fail_unknown(ki_error *err, ki_str name);

#endif
