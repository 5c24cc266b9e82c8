/* SPDX-License-Identifier: Apache-2.0 */
/* selector - parses label and field selectors as Kubernetes does, and matches objects.
 *
 *   From:     apiserver/serve/handle_list.c, apiserver/serve/handle_watch.c, apiserver/serve/handle_write.c
 *             (deletecollection), which parse the query's; apiserver/storage/page.c,
 *             apiserver/storage/watch.c, which match objects; apiserver/serve/stream.c, which frees one that
 *             no watch has
 *   To:       apiserver/object/selector_labels.c, apiserver/object/selector_fields.c
 *   Locks:    none
 *   Not here: which fields a resource offers (apiserver/object/fields.h)
 */
#ifndef KI_APISERVER_OBJECT_SELECTOR_H
#define KI_APISERVER_OBJECT_SELECTOR_H

#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/object/object.h"

struct ki_as_selector; /* label requirements and field requirements together */

/* Either text may be empty. Every field must be selectable in `resource`; otherwise fails with 400 "field
 * label not supported: …". The messages are those of Kubernetes (see tests/fixtures/error-400-*.http). If
 * both texts are empty, `*out` is NULL, which matches everything. */
KI_NODISCARD int ki_as_selector_parse(ki_str labels, ki_str fields, const struct ki_as_resource *resource,
                                      struct ki_as_selector **out, struct ki_as_failure *failure);
void ki_as_selector_free(struct ki_as_selector *selector);
/* A NULL selector matches everything. */
bool ki_as_selector_matches(const struct ki_as_selector *selector, const struct ki_as_object *object);
/* The name required by metadata.name=, or empty. Lists and watches of one object use it to avoid a scan. */
ki_str ki_as_selector_name(const struct ki_as_selector *selector);

#endif
