/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_selector - the embedded server's selectors from any bytes: a label selector, a NUL, a field
 * selector. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/resource.h"
#include "apiserver/object/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* A refused selector has a message; an accepted one gives the same result twice. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const nothing[] = {NULL};
    static const struct ki_as_pair labels[] = {{{"a", 1}, {"b", 1}}, {{"n", 1}, {"12", 2}}};
    const struct ki_as_resource pods = {.group = "",
                                        .version = "v1",
                                        .plural = "pods",
                                        .kind = "Pod",
                                        .api_version = "v1",
                                        .qualified = "pods",
                                        .is_namespaced = true,
                                        .short_names = nothing,
                                        .categories = nothing};
    const struct ki_as_object object = {.name = {"x", 1}, .ns = {"y", 1}, .labels = labels, .label_count = 2};
    const char *bytes = (const char *)data;
    const char *end = size > 0 ? memchr(bytes, 0, size) : NULL;
    size_t len = end == NULL ? size : (size_t)(end - bytes);
    size_t rest = end == NULL ? size : len + 1;
    struct ki_as_selector *selector = NULL;
    struct ki_as_failure failure = {0};
    int rc = ki_as_selector_parse((ki_str){bytes, len}, (ki_str){bytes + rest, size - rest}, &pods, &selector,
                                  &failure);
    if (rc < 0)
        require(failure.code == 400 && failure.status != NULL);
    else
        require(ki_as_selector_matches(selector, &object) == ki_as_selector_matches(selector, &object));
    ki_as_selector_free(selector);
    ki_as_failure_fini(&failure);
    return 0;
}
