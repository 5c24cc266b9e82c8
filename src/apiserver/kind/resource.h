/* SPDX-License-Identifier: Apache-2.0 */
/* resource - the served resources: built-in ones (src/api/resource/resources.tsv, compiled in) and those
 * added by CustomResourceDefinitions.
 *
 *   From:     all code that handles a request for a resource
 *   To:       routing, discovery, tables, storage
 *   Locks:    none; the storage's mutex guards the set, and a resource never changes once it is in the set
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

/* One (group, version, plural). Versions of one (group, plural) share their objects. Reference-counted: a
 * request or a watch keeps it alive after its definition is deleted. */
struct ki_as_resource {
    ki_refcount refs;
    const char *group;   /* "" for core */
    const char *version; /* "v1" */
    const char *plural;
    const char *singular;
    const char *kind;
    const char *list_kind;
    const char *const *short_names; /* ends with NULL, like `categories` */
    const char *const *categories;
    const char *api_version; /* "apps/v1" */
    const char *qualified;   /* "deployments.apps", "pods": as in messages */
    bool is_namespaced;
    bool is_custom;
    bool has_status; /* has a status subresource */
    bool has_scale;
    bool has_generation;              /* metadata.generation is maintained */
    const struct ki_as_schema *known; /* the fields of a built-in kind; NULL if not looked up, or unknown */
    json_t *schema;                   /* openAPIV3Schema of a custom resource, or NULL */
    json_t *columns;                  /* additionalPrinterColumns of a custom resource, or NULL */
    json_t *scale;      /* the paths of a custom resource's replicas (subresources.scale), or NULL */
    json_t *selectable; /* selectableFields of this version of a custom resource, or NULL */
    json_t *versions;   /* of a custom resource, for the selectable fields of its objects, or NULL */
};

struct ki_as_resource *ki_as_resource_ref(struct ki_as_resource *resource);
void ki_as_resource_unref(struct ki_as_resource *resource);
/* True if the resource has this group and plural, in any version. */
bool ki_as_resource_is(const struct ki_as_resource *resource, const char *group, const char *plural);

/* The set of resources. A zeroed struct is empty. */
struct ki_as_resources {
    struct ki_as_resource **entries; /* ordered by group, version, plural */
    size_t count;
};

/* Adds all built-in resources. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_resources_init(struct ki_as_resources *resources);
void ki_as_resources_fini(struct ki_as_resources *resources);

/* The resource, borrowed; NULL if there is none. */
struct ki_as_resource *ki_as_resources_find(const struct ki_as_resources *resources, ki_str group,
                                            ki_str version, ki_str plural);
/* Finds a resource by kind, for apply and load. */
struct ki_as_resource *ki_as_resources_find_kind(const struct ki_as_resources *resources, ki_str api_version,
                                                 ki_str kind);

/* Adds every served version of a validated CustomResourceDefinition, in place of all resources that an older
 * version of the definition has added. On failure nothing changes. */
KI_NODISCARD int ki_as_resources_define(struct ki_as_resources *resources, const json_t *definition,
                                        struct ki_as_failure *failure);
/* The resource of a definition's storage version, for its objects while no version is served. A new
 * reference; NULL if out of memory. */
struct ki_as_resource *ki_as_resource_of_definition(const json_t *definition);
/* Removes all versions of a custom resource. */
void ki_as_resources_undefine(struct ki_as_resources *resources, ki_str group, ki_str plural);

#endif
