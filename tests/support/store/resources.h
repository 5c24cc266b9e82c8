/* SPDX-License-Identifier: Apache-2.0 */
/* resources - built-in resources by name, and checks of their paths. */
#ifndef KI_TESTS_SUPPORT_STORE_RESOURCES_H
#define KI_TESTS_SUPPORT_STORE_RESOURCES_H

#include <kinformer/resource.h>

/* Fails the test if there is no resource of that name. */
const ki_resource *resource_found(const char *name);

/* Fails the test unless ki_resource_path() gives exactly that; "" means no namespace or name. */
void resource_assert_path(const ki_resource *resource, const char *ns, const char *name,
                          const char *subresource, const char *expected);

#endif
