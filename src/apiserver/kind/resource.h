/* SPDX-License-Identifier: Apache-2.0 */
/* resource - what the server serves: the built-in resources and those that a CustomResourceDefinition adds.
 *
 *   From:     resources.tsv (compiled in), CustomResourceDefinitions
 *   To:       routing, discovery, tables, storage
 *   Locks:    none of its own: the storage's mutex guards the set; a resource never changes once it is in
 *   Not here: objects
 */
#ifndef KI_APISERVER_KIND_RESOURCE_H
#define KI_APISERVER_KIND_RESOURCE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "util/refcount.h"

struct ki_as_schema;

/* One (group, version, plural). Versions of one (group, plural) share their objects. Counted: a request or a
 * watch keeps it beyond the deletion of its definition. */
struct ki_as_resource {
    ki_refcount refs;
    const char *group;   /* "" for core */
    const char *version; /* "v1" */
    const char *plural;
    const char *singular;
    const char *kind;
    const char *list_kind;
    const char *const *short_names; /* ended by NULL, as the next */
    const char *const *categories;
    const char *api_version; /* "apps/v1" */
    const char *qualified;   /* "deployments.apps", "pods": as messages name it */
    bool is_namespaced;
    bool is_custom;
    bool has_status; /* a status subresource */
    bool has_scale;
    bool has_generation;              /* metadata.generation is counted */
    const struct ki_as_schema *known; /* the fields of a built-in one; NULL: not looked up, or unknown */
    /* Of pods that name none, else NULL; in the trees of all of them, and nobody changes them. */
    json_t *tolerations;
    json_t *schema;     /* openAPIV3Schema of a custom one, or NULL */
    json_t *columns;    /* additionalPrinterColumns of a custom one, or NULL */
    json_t *scale;      /* where a custom one has its replicas (subresources.scale), or NULL */
    json_t *selectable; /* selectableFields of this version of a custom one, or NULL */
    json_t *versions;   /* all of a custom one, whose selectable fields its objects are kept with, or NULL */
};

struct ki_as_resource *ki_as_resource_ref(struct ki_as_resource *resource);
void ki_as_resource_unref(struct ki_as_resource *resource);

/* The set. A zeroed one is empty. */
struct ki_as_resources {
    struct ki_as_resource **entries; /* ordered by group, version, plural */
    size_t count;
};

/* All built-in ones. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_resources_init(struct ki_as_resources *resources);
void ki_as_resources_fini(struct ki_as_resources *resources);

/* Borrowed, or NULL. */
struct ki_as_resource *ki_as_resources_find(const struct ki_as_resources *resources, ki_str group,
                                            ki_str version, ki_str plural);
/* By kind, as apply and load need it. */
struct ki_as_resource *ki_as_resources_find_kind(const struct ki_as_resources *resources, ki_str api_version,
                                                 ki_str kind);

/* Adds every served version of a CustomResourceDefinition that passed validation, or takes all of its (group,
 * plural) away again. Replaces what an older version of the definition had added;
 * nothing changes on failure. */
KI_NODISCARD int ki_as_resources_define(struct ki_as_resources *resources, const json_t *definition,
                                        struct ki_as_failure *failure);
/* What its objects are while not one version is served: the version that is stored. A new reference, or NULL
 * without memory. */
struct ki_as_resource *ki_as_resource_of_definition(const json_t *definition);
void ki_as_resources_undefine(struct ki_as_resources *resources, ki_str group, ki_str plural);

#endif
