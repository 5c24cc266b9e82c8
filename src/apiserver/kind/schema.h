/* SPDX-License-Identifier: Apache-2.0 */
/* schema - describes the values at each path of an object: their types, and how lists are merged.
 *
 *   From:     apiserver/patch/, apiserver/validate/, apiserver/show/openapi_schemas.c,
 *             apiserver/verbs/managed.c, apiserver/kind/
 *   To:       apiserver/kind/schemas_table.h for built-in kinds, openAPIV3Schema for custom ones
 *   Locks:    none; custom schemas belong to their resource
 *   Not here: merging
 */
#ifndef KI_APISERVER_KIND_SCHEMA_H
#define KI_APISERVER_KIND_SCHEMA_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/kind/schemas_table.h"

struct ki_as_resource;

/* The description of one value. A zeroed struct describes nothing.
 * It is passed by value and borrows all pointers. */
struct ki_as_shape {
    const struct ki_as_schema_field *field; /* of the value; NULL for an element or the whole object */
    const struct ki_as_schema *schema;      /* of the value's fields; NULL without fields, or if unknown */
    const json_t *custom; /* a JSON schema, for custom kinds; then `field` and `schema` are NULL */
    bool is_root;         /* the whole object, whose metadata is that of all kinds */
};

enum ki_as_list_kind {
    KI_AS_LIST_ATOMIC, /* replaced as a whole */
    KI_AS_LIST_SET,    /* unique scalars */
    KI_AS_LIST_KEYED,  /* objects identified by some of their fields */
};

enum { KI_AS_KEYS_MAX = 4 };

struct ki_as_keys {
    ki_str names[KI_AS_KEYS_MAX];
    size_t count;
};

/* The schema of the kind in this version or, if there is none, in another version;
 * NULL if the kind is unknown. */
const struct ki_as_schema *ki_as_schema_find(ki_str api_version, ki_str kind);
const struct ki_as_schema_field *ki_as_schema_field(const struct ki_as_schema *schema, ki_str name);
/* Finds a schema by its name, "io.k8s.api.core.v1.Pod"; NULL if there is none. */
const struct ki_as_schema *ki_as_schema_named(const char *name);
/* The schema of a type in the table; NULL for types without fields. */
const struct ki_as_schema *ki_as_schema_of_type(uint16_t type);

struct ki_as_shape ki_as_shape_of(const struct ki_as_resource *resource);
struct ki_as_shape ki_as_shape_of_kind(const json_t *object); /* built-in kinds, by kind and apiVersion */
struct ki_as_shape ki_as_shape_metadata(void); /* the same for all kinds, including custom ones */
struct ki_as_shape ki_as_shape_member(struct ki_as_shape shape, ki_str name);
struct ki_as_shape ki_as_shape_element(struct ki_as_shape shape);

/* How apply merges the list. The keys are sorted. */
enum ki_as_list_kind ki_as_shape_list(struct ki_as_shape shape, struct ki_as_keys *out_keys);
bool ki_as_shape_is_atomic(struct ki_as_shape shape); /* for an object */
/* The default of a key that an element lacks; NULL if there is none. The text is borrowed or static. */
const char *ki_as_shape_key_default(struct ki_as_shape element, ki_str key);

/* Whether strategic patches merge the list. *out_key is the key of its elements, "" for scalars. */
bool ki_as_shape_is_merged(struct ki_as_shape shape, const char **out_key);

#endif
