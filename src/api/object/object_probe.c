/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/object_probe.h"

#include <assert.h>
#include <stdio.h>

#include "json/projection.h"

_Thread_local ki_object_probe *ki_object_probe_current;

void ki_object_probe_note(const ki_object *object, const char *pointer, ki_str label)
{
    char path[sizeof(ki_object_probe_current->path)];
    ki_object_probe *probe = ki_object_probe_current;
    assert(probe != NULL);
    if (probe->object != object || probe->path[0] != 0)
        return;
    int n = pointer == NULL ? snprintf(path, sizeof(path), "label:%.*s", KI_STR_ARGS(label))
                            : snprintf(path, sizeof(path), "%s", pointer);
    /* A truncated path would name another field. */
    if (n > 0 && (size_t)n < sizeof(path) &&
        ki_projection_fate_of(probe->projection, path) == KI_PROJECTION_DROPS)
        (void)snprintf(probe->path, sizeof(probe->path), "%s", path);
}

struct ki_projection *ki_object_kept_ref(struct ki_projection *projection)
{
    return ki_projection_ref(projection);
}

void ki_object_kept_unref(struct ki_projection *projection)
{
    ki_projection_free(projection);
}

int ki_object_kept_lacks(const struct ki_projection *projection, const char *path)
{
    assert(path != NULL);
    return projection != NULL && ki_projection_fate_of(projection, path) != KI_PROJECTION_KEEPS;
}
