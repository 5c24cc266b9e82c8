/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/resources.h"

#include <string.h>

#include "support/unit.h"

const ki_resource *resource_found(const char *name)
{
    ki_error err = {0};
    const ki_resource *resource = ki_resource_find(ki_str_of(name), &err);
    if (resource == NULL)
        fail_msg("\"%s\": %s", name, err.message);
    assert_int_equal(err.code, 0);
    return resource;
}

void resource_assert_path(const ki_resource *resource, const char *ns, const char *name,
                          const char *subresource, const char *expected)
{
    char path[512];
    int length = ki_resource_path(resource, ki_str_of(ns), ki_str_of(name), ki_str_of(subresource), path,
                                  sizeof(path));
    assert_int_equal(length, strlen(expected));
    assert_string_equal(path, expected);
}
