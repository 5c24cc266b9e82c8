/* SPDX-License-Identifier: Apache-2.0 */
/* schema - what is known of the values at each place of an object: their types, and how lists of them are
 * merged.
 *
 *   From:     apiserver/patch/, apiserver/validate/, apiserver/show/openapi_schemas.c
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

/* One place. Zeroed: nothing is known. Passed by value; borrows all. */
struct ki_as_shape {
    const struct ki_as_schema_field *field; /* whose value it is; NULL for an element, or the whole object */
    const struct ki_as_schema *schema; /* the fields that it has; NULL: a scalar, a list, a map, or unknown */
    const json_t *custom;              /* instead, for custom kinds: a JSON schema */
    bool is_root;                      /* the whole object, whose metadata is as that of all kinds */
};

enum ki_as_list_kind {
    KI_AS_LIST_ATOMIC, /* replaced as a whole */
    KI_AS_LIST_SET,    /* scalars, each there once */
    KI_AS_LIST_KEYED,  /* objects that some of their fields tell apart */
};

enum { KI_AS_KEYS_MAX = 4 };

struct ki_as_keys {
    ki_str names[KI_AS_KEYS_MAX];
    size_t count;
};

/* The kind's own schema, that of another version of it, or NULL. */
const struct ki_as_schema *ki_as_schema_find(ki_str api_version, ki_str kind);
const struct ki_as_schema_field *ki_as_schema_field(const struct ki_as_schema *schema, ki_str name);
/* The schema of a type of the table, or NULL for types without fields. */
const struct ki_as_schema *ki_as_schema_of_type(uint16_t type);

struct ki_as_shape ki_as_shape_of(const struct ki_as_resource *resource);
struct ki_as_shape ki_as_shape_of_kind(const json_t *object); /* built-in kinds, by kind and apiVersion */
struct ki_as_shape ki_as_shape_metadata(void);                /* of all kinds, custom ones too */
struct ki_as_shape ki_as_shape_member(struct ki_as_shape shape, ki_str name);
struct ki_as_shape ki_as_shape_element(struct ki_as_shape shape);

/* For apply. Keys are ordered. */
enum ki_as_list_kind ki_as_shape_list(struct ki_as_shape shape, struct ki_as_keys *out_keys);
bool ki_as_shape_is_atomic(struct ki_as_shape shape); /* of an object */
/* What a missing key of an element stands for; NULL: nothing.
 * Borrowed or static text, as JSON in `custom`. */
const char *ki_as_shape_key_default(struct ki_as_shape element, ki_str key);

/* For strategic patches: whether the list is merged; *out_key is "" for scalars. */
bool ki_as_shape_is_merged(struct ki_as_shape shape, const char **out_key);

#endif
