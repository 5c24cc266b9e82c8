/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl may switch from client-side apply, which keeps the last applied configuration in an annotation, to
 * server-side apply and back. While the manager of an apply is "kubectl", it owns the fields in the
 * annotation, and the server keeps the annotation up to date. */
#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/prune.h"
#include "apiserver/patch/apply_parts.h"
#include "apiserver/patch/field_set.h"
#include "apiserver/patch/patch.h"
#include "apiserver/value/tree.h"

#define ANNOTATION "kubectl.kubernetes.io/last-applied-configuration"

/* The size limit of annotations. */
enum { LAST_BYTES_MAX = 256 * 1024 };

static json_t *annotations_of(const json_t *object)
{
    return json_object_get(json_object_get(object, "metadata"), "annotations");
}

/* The annotation; NULL if there is none, or if the manager is not kubectl. */
static const char *last_applied(const struct ki_as_apply *apply)
{
    assert(apply->manager != NULL && apply->subresource != NULL);
    if (strcmp(apply->manager, "kubectl") != 0 || apply->subresource[0] != 0)
        return NULL;
    return json_string_value(json_object_get(annotations_of(apply->current), ANNOTATION));
}

int ki_as_apply_last_fields(const struct ki_as_apply *apply, struct ki_as_shape shape, json_t **out)
{
    assert(out != NULL);
    const char *text = last_applied(apply);
    json_t *config = text == NULL ? NULL : json_loads(text, 0, NULL);
    json_t *set = NULL;
    int rc = 0;
    /* The annotation may contain anything. */
    if (json_is_object(config)) {
        rc = ki_as_prune_applied(apply->resource, config);
        if (rc == 0)
            rc = ki_as_field_set_of(shape, NULL, config, &set);
    }
    json_decref(config);
    if (rc == 0)
        *out = set;
    return rc;
}

int ki_as_apply_last_write(const struct ki_as_apply *apply, json_t *result)
{
    assert(json_is_object(result));
    json_t *annotations = annotations_of(result);
    if (last_applied(apply) == NULL || json_object_get(annotations, ANNOTATION) == NULL)
        return 0;
    json_t *config = ki_as_json_copy(apply->config);
    (void)json_object_del(annotations_of(config), ANNOTATION);
    char *text = config == NULL ? NULL : json_dumps(config, JSON_COMPACT | JSON_SORT_KEYS);
    int rc = KI_ERR_NO_MEMORY;
    if (text != NULL) {
        bool is_short = strlen(text) < LAST_BYTES_MAX;
        json_t *value = is_short ? json_sprintf("%s\n", text) : json_string("");
        rc = json_object_set_new(annotations, ANNOTATION, value) < 0 ? KI_ERR_NO_MEMORY : 0;
    }
    free(text);
    json_decref(config);
    return rc;
}
