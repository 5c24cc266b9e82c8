/* SPDX-License-Identifier: Apache-2.0 */
/* resource - identifies a collection of the API: "deployments of apps/v1".
 *
 * The 147 built-in resources are constants in <kinformer/resources.h>, named KI_GROUP_VERSION_PLURAL: the
 * group up to its first dot, CORE for the core group. So pods are KI_CORE_V1_PODS, and
 * `discovery.k8s.io/v1 endpointslices` is KI_DISCOVERY_V1_ENDPOINTSLICES. Custom resources are made at run
 * time. A ki_resource is plain data: one on the stack or in a static variable works as well.
 * Threads: any, for all calls.
 */
#ifndef KI_RESOURCE_H
#define KI_RESOURCE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef enum ki_scope {
    KI_SCOPE_CLUSTER = 0,
    KI_SCOPE_NAMESPACED = 1,
} ki_scope;

/** The layout never changes: the constants are compiled into programs. Unused strings are "". Only functions
 * that say so accept NULL, as ki_resource_new() does. */
typedef struct ki_resource {
    const char *group;   /* "apps"; "" for the core group */
    const char *version; /* "v1" */
    const char *plural;  /* "deployments": the name in REST paths */
    const char *kind;    /* "Deployment" */
    ki_scope scope;      /* zero means cluster-scoped: set it for a namespaced resource */
    int32_t reserved;    /* 0 */
} ki_resource;

/** The 147 resources that client-go has informers for (so not CustomResourceDefinitions and APIServices),
 * sorted by group, version, plural. */
KI_API extern const ki_resource ki_resources[];
KI_API extern const size_t ki_resource_count;

/**
 * Makes a custom resource: a copy of `like` and its strings. Group, version and plural must be valid in
 * Kubernetes: lower-case letters, digits and '-'; dots only in the group. A kind may also have upper-case
 * letters. Group and kind may be "" or NULL; in the new resource they are "" then.
 *
 * Returns:   the resource, or NULL with KI_ERR_INVALID for an invalid part, or KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_resource_free().
 */
KI_API KI_NODISCARD ki_resource *ki_resource_new(const ki_resource *like, ki_error *err);

/** Frees what ki_resource_new() and ki_resource_parse() made, and what discovery found. NULL is allowed. */
KI_API void ki_resource_free(ki_resource *resource);

/** 1 when group, version and plural are the same, and when both are NULL. */
KI_API int ki_resource_equal(const ki_resource *a, const ki_resource *b);

/**
 * Writes "apps/v1", or "v1" for the core group.
 *
 * Returns: the length, like snprintf; KI_ERR_INVALID without a resource,
 *          or for a NULL buffer of more than 0 bytes.
 */
KI_API KI_NODISCARD int ki_resource_api_version(const ki_resource *resource, char *buffer,
                                                size_t buffer_bytes);

/**
 * Writes the REST path of a collection or of one object: "/apis/apps/v1/namespaces/web/deployments/api". An
 * empty `ns` means all namespaces (or a cluster-scoped resource); `name` and `subresource` may be empty.
 * Names are percent-encoded where needed.
 *
 * Returns: the length, like snprintf; KI_ERR_INVALID: a namespace for a cluster-scoped resource, a name
 *          without a namespace for a namespaced one, a subresource without a name, a name (or namespace, or
 *          subresource) that is "." or "..", contains '/' or '%' or is not UTF-8, or a resource that
 *          ki_resource_new() would refuse; KI_ERR_TOO_LARGE for a length that does not fit into an int.
 */
KI_API KI_NODISCARD int ki_resource_path(const ki_resource *resource, ki_str ns, ki_str name,
                                         ki_str subresource, char *buffer, size_t buffer_bytes);

/**
 * Finds a built-in resource by a name that kubectl accepts, in upper or lower case: plural "pods", singular
 * "pod", short name "po", kind "Pod"; with the group "deployments.apps", or its beginning
 * "storageclasses.storage"; with version and group "deployments.v1.apps"; with the version only "pods.v1."
 * (note the final dot). Of several versions it takes the one a server prefers (v2, v1, v1beta1, v1alpha1); of
 * several groups the one kubectl takes (core, then apps, …).
 *
 * Returns: a pointer into ki_resources, or NULL with KI_ERR_RESOURCE and a message that suggests similar
 *          names.
 */
KI_API const ki_resource *ki_resource_find(ki_str name, ki_error *err);

/**
 * Reads "plural.version.group", such as "widgets.v1.example.com": such a name needs no discovery. For a
 * built-in resource the result is a copy of it. For any other, the kind is "" (objects from the server have
 * it) and the scope is namespaced; make a cluster-scoped one with ki_resource_new() or discovery. The version
 * must begin with 'v' and a digit, so that "widgets.example.com" is not misread; ki_resource_new() accepts
 * any version.
 *
 * Returns:   a resource to free, or NULL with KI_ERR_RESOURCE when it does not have this form,
 *            KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_resource_free().
 */
KI_API KI_NODISCARD ki_resource *ki_resource_parse(ki_str name, ki_error *err);

/** The short names of a built-in resource ("po"), NULL-terminated and not to be freed; an empty list for
 * others. */
KI_API const char *const *ki_resource_short_names(const ki_resource *resource);

KI_EXTERN_C_END

#endif
