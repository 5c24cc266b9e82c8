/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/defaults.h"

#include <assert.h>
#include <kinformer/error.h>

#include "apiserver/kind/prune.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/text/base64.h"

static int fill_by_schema(const json_t *schema, json_t *value)
{
    const char *name = NULL;
    json_t *property = NULL;
    json_t *element = NULL;
    size_t index = 0;
    int rc = 0;
    json_array_foreach(value, index, element)
    {
        if (rc == 0)
            rc = fill_by_schema(json_object_get(schema, "items"), element);
    }
    if (rc < 0 || !json_is_object(value) || !json_is_object(schema))
        return rc;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        const json_t *given = json_object_get(property, "default");
        const json_t *there = json_object_get(value, name);
        bool is_null = json_is_null(there) && !ki_as_tree_is_true(property, "nullable");
        if (given != NULL && (there == NULL || is_null) &&
            json_object_set_new(value, name, ki_as_json_copy(given)) < 0)
            return KI_ERR_NO_MEMORY;
        /* null counts as unset. */
        if (given == NULL && is_null)
            (void)json_object_del(value, name);
        rc = fill_by_schema(property, json_object_get(value, name));
        if (rc < 0)
            return rc;
    }
    const json_t *others = json_object_get(schema, "additionalProperties");
    json_object_foreach(value, name, element)
    {
        if (rc == 0 && json_is_object(others))
            rc = fill_by_schema(others, element);
    }
    return rc;
}

static int encode(json_t *data, const char *key, ki_str text)
{
    char *encoded = ki_malloc(KI_BASE64_ENCODED_BYTES(text.len) + 1);
    if (encoded == NULL)
        return KI_ERR_NO_MEMORY;
    size_t len = ki_base64_encode(text, encoded);
    int rc = json_object_set_new(data, key, json_stringn(encoded, len));
    ki_free(encoded);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* stringData is write-only and replaces members of data. A row of defaults.txt cannot express that. */
static int encode_texts(json_t *secret)
{
    assert(json_is_object(secret));
    json_t *texts = json_object_get(secret, "stringData");
    json_t *data = NULL;
    const char *key = NULL;
    json_t *text = NULL;
    if (!json_is_object(texts))
        return 0;
    int rc = ki_as_tree_object(secret, "data", &data);
    json_object_foreach(texts, key, text)
    {
        if (rc == 0 && data != NULL && json_is_string(text))
            rc = encode(data, key, ki_as_json_str(text));
    }
    if (rc == 0)
        (void)json_object_del(secret, "stringData");
    return rc;
}

int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree)
{
    assert(resource != NULL && tree != NULL);
    int rc = ki_as_prune_and_fill(resource, tree);
    if (rc == 0 && resource->is_custom && resource->schema != NULL)
        rc = fill_by_schema(resource->schema, tree);
    if (rc == 0 && ki_as_resource_is(resource, "", "secrets"))
        rc = encode_texts(tree);
    return rc;
}
