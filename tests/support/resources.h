/* SPDX-License-Identifier: Apache-2.0 */
/* resources - built-in resources by their names, and the paths they must have. */
#ifndef KI_TESTS_SUPPORT_RESOURCES_H
#define KI_TESTS_SUPPORT_RESOURCES_H

#include <kinformer/resource.h>

/* Fails the test when there is none of that name. */
const ki_resource *resource_found(const char *name);

/* Fails the test unless ki_resource_path() gives just that; "" stands for what is left out. */
void resource_assert_path(const ki_resource *resource, const char *ns, const char *name,
                          const char *subresource, const char *expected);

#endif
