/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_patch - patches of every kind, from any JSON, applied to an object from any JSON.
 *
 * Input: a byte that chooses the kind, the object, a NUL, the patch. Neither is modified. Applying a merge
 *        patch a second time changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/defaults.h"
#include "apiserver/patch/patch.h"
#include "apiserver/validate/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const nothing[] = {NULL};
static const struct ki_as_resource pods = {.group = "",
                                           .version = "v1",
                                           .plural = "pods",
                                           .singular = "pod",
                                           .kind = "Pod",
                                           .list_kind = "PodList",
                                           .api_version = "v1",
                                           .qualified = "pods",
                                           .is_namespaced = true,
                                           .short_names = nothing,
                                           .categories = nothing};

static void require(int condition)
{
    if (!condition)
        abort();
}

static int patch_once(unsigned kind, const json_t *current, const json_t *patch, json_t **out)
{
    struct ki_as_failure failure = {0};
    struct ki_as_apply apply = {&pods, current, patch, "fuzz", "", true};
    int rc = kind == 0   ? ki_as_patch_json(current, patch, out, &failure)
             : kind == 1 ? ki_as_patch_merge(current, patch, out, &failure)
             : kind == 2 ? ki_as_patch_strategic(current, patch, out, &failure)
                         : ki_as_patch_apply(&apply, out, &failure);
    require(rc == 0 || (failure.code >= 400 && failure.status != NULL));
    ki_as_failure_fini(&failure);
    return rc;
}

static void run(unsigned kind, const json_t *current, const json_t *patch)
{
    json_t *once = NULL;
    json_t *twice = NULL;
    if (patch_once(kind, current, patch, &once) < 0)
        return;
    if (kind == 1) {
        require(patch_once(kind, once, patch, &twice) == 0);
        require(json_equal(once, twice));
    }
    struct ki_as_failure failure = {0};
    if (json_is_object(once) && ki_as_defaults_apply(&pods, once) == 0) {
        require((ki_as_validate(&pods, once, &failure) < 0) == (failure.code != 0));
        ki_as_failure_fini(&failure);
        require((ki_as_validate_update(&pods, current, once, &failure) < 0) == (failure.code != 0));
        ki_as_failure_fini(&failure);
    }
    json_decref(once);
    json_decref(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 1;
    const char *end = memchr(bytes, 0, size - 1);
    if (end == NULL)
        return 0;
    size_t len = (size_t)(end - bytes);
    json_t *current = json_loadb(bytes, len, 0, NULL);
    json_t *patch = json_loadb(end + 1, size - len - 2, 0, NULL);
    if (json_is_object(current) && patch != NULL) {
        json_t *current_copy = json_deep_copy(current);
        json_t *patch_copy = json_deep_copy(patch);
        run(data[0] % 4, current, patch);
        require(json_equal(current, current_copy) && json_equal(patch, patch_copy));
        json_decref(current_copy);
        json_decref(patch_copy);
    }
    json_decref(current);
    json_decref(patch);
    return 0;
}
