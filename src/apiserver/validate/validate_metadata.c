/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

enum { ANNOTATION_BYTES_MAX = 256 * 1024, NAME_BYTES_MAX = 1024 };

/* The check for names of this kind: most names are subdomains. */
static ki_as_name_check name_check_of(const struct ki_as_resource *resource)
{
    static const char *const segments[][2] = {
        {"", "events"},
        {"apiregistration.k8s.io", "apiservices"},
        {"certificates.k8s.io", "certificatesigningrequests"},
        {"certificates.k8s.io", "clustertrustbundles"},
        {"internal.apiserver.k8s.io", "storageversions"},
        {"networking.k8s.io", "ipaddresses"},
        {"policy", "poddisruptionbudgets"},
    };
    if (strcmp(resource->group, "rbac.authorization.k8s.io") == 0)
        return ki_as_check_path_segment;
    if (ki_as_resource_is(resource, "", "namespaces") || ki_as_resource_is(resource, "", "services") ||
        ki_as_resource_is(resource, "apps", "statefulsets"))
        return ki_as_check_label;
    for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
        if (ki_as_resource_is(resource, segments[i][0], segments[i][1]))
            return ki_as_check_path_segment;
    }
    return ki_as_check_subdomain;
}

/* A prefix may end with '-' although a name must not, because the generated suffix follows. */
static void check_generate_name(struct ki_as_check *check, const struct ki_as_path *path, ki_str prefix,
                                ki_as_name_check name_check)
{
    char masked[NAME_BYTES_MAX];
    struct ki_as_complaints complaints = {0};
    bool is_masked = prefix.len > 1 && prefix.len < sizeof(masked) && prefix.ptr[prefix.len - 1] == '-';
    if (is_masked) {
        memcpy(masked, prefix.ptr, prefix.len);
        masked[prefix.len - 2] = 'a';
        complaints = name_check((ki_str){masked, prefix.len - 1});
    } else
        complaints = name_check(prefix);
    for (size_t i = 0; i < complaints.count; i++)
        ki_as_check_invalid_text(check, path, prefix, complaints.texts[i]);
}

static void check_names(struct ki_as_check *check, const struct ki_as_path *path,
                        const struct ki_as_resource *resource, const json_t *metadata)
{
    ki_as_name_check name_check = name_check_of(resource);
    ki_str generate_name = ki_as_json_str(json_object_get(metadata, "generateName"));
    ki_str name = ki_as_json_str(json_object_get(metadata, "name"));
    ki_str ns = ki_as_json_str(json_object_get(metadata, "namespace"));
    if (generate_name.len > 0)
        check_generate_name(check, KI_AS_MEMBER(path, "generateName"), generate_name, name_check);
    if (name.len == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "name"), "name or generateName is required");
    else
        ki_as_check_name(check, KI_AS_MEMBER(path, "name"), name, name_check);
    if (!resource->is_namespaced && ns.len > 0)
        ki_as_check_forbidden(check, KI_AS_MEMBER(path, "namespace"), "not allowed on this type");
    else if (resource->is_namespaced && ns.len == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "namespace"), "");
    else if (resource->is_namespaced)
        ki_as_check_name(check, KI_AS_MEMBER(path, "namespace"), ns, ki_as_check_label);
}

void ki_as_check_labels(struct ki_as_check *check, const struct ki_as_path *path, const json_t *labels)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)labels, key, value)
    {
        ki_as_check_name(check, path, ki_str_of(key), ki_as_check_label_key);
        ki_as_check_name(check, path, ki_as_json_str(value), ki_as_check_label_value);
    }
}

static ki_str lower(ki_str text, char buffer[NAME_BYTES_MAX])
{
    if (text.len > NAME_BYTES_MAX)
        return text;
    for (size_t i = 0; i < text.len; i++)
        buffer[i] = (char)(text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? text.ptr[i] + 32 : text.ptr[i]);
    return (ki_str){buffer, text.len};
}

static void check_annotations(struct ki_as_check *check, const struct ki_as_path *path,
                              const json_t *annotations)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t bytes = 0;
    json_object_foreach((json_t *)annotations, key, value)
    {
        char buffer[NAME_BYTES_MAX];
        struct ki_as_complaints complaints = ki_as_check_label_key(lower(ki_str_of(key), buffer));
        for (size_t i = 0; i < complaints.count; i++)
            ki_as_check_invalid_text(check, path, ki_str_of(key), complaints.texts[i]);
        bytes += strlen(key) + json_string_length(value);
    }
    if (bytes > ANNOTATION_BYTES_MAX)
        ki_as_check_too_long(check, path, ANNOTATION_BYTES_MAX);
}

static void check_owners(struct ki_as_check *check, const struct ki_as_path *path, const json_t *owners)
{
    static const char *const fields[][2] = {{"apiVersion", "version must not be empty"},
                                            {"kind", "must not be empty"},
                                            {"name", "must not be empty"},
                                            {"uid", "must not be empty"}};
    size_t index = 0;
    size_t controllers = 0;
    json_t *owner = NULL;
    json_array_foreach(owners, index, owner)
    {
        for (size_t i = 0; i < 4; i++) {
            ki_str text = ki_as_json_str(json_object_get(owner, fields[i][0]));
            if (text.len == 0)
                ki_as_check_invalid_text(check, KI_AS_MEMBER(path, fields[i][0]), text, fields[i][1]);
        }
        controllers += json_is_true(json_object_get(owner, "controller")) ? 1 : 0;
    }
    if (controllers > 1)
        ki_as_check_invalid(check, path, owners, "Only one reference can have Controller set to true");
}

/* Built-in kinds accept three standard finalizers; other finalizers must be qualified by a domain. */
static void check_whose(struct ki_as_check *check, const struct ki_as_path *path, ki_str finalizer)
{
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion"};
    if (finalizer.len == 0 || memchr(finalizer.ptr, '/', finalizer.len) != NULL)
        return;
    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
        if (ki_str_equal(finalizer, ki_str_of(standard[i])))
            return;
    ki_as_check_invalid_text(check, path, finalizer,
                             "name is neither a standard finalizer name nor is it fully qualified");
}

static void check_finalizers(struct ki_as_check *check, const struct ki_as_path *path,
                             const struct ki_as_resource *resource, const json_t *finalizers)
{
    /* Kinds of the extension groups are checked like custom kinds. */
    bool is_free = resource->is_custom || ki_as_resource_is(resource, "", "events") ||
                   strcmp(resource->group, "apiextensions.k8s.io") == 0 ||
                   strcmp(resource->group, "apiregistration.k8s.io") == 0;
    size_t index = 0;
    json_t *finalizer = NULL;
    bool is_orphan = false;
    bool is_foreground = false;
    json_array_foreach(finalizers, index, finalizer)
    {
        ki_str text = ki_as_json_str(finalizer);
        ki_as_check_name(check, path, text, ki_as_check_label_key);
        if (!is_free)
            check_whose(check, KI_AS_ELEMENT(path, index), text);
        is_orphan = is_orphan || ki_str_equal(text, KI_STR("orphan"));
        is_foreground = is_foreground || ki_str_equal(text, KI_STR("foregroundDeletion"));
    }
    if (is_orphan && is_foreground)
        ki_as_check_invalid(check, path, finalizers,
                            "finalizer orphan and foregroundDeletion cannot be both set");
}

void ki_as_check_metadata(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *metadata)
{
    const struct ki_as_path *path = KI_AS_PATH("metadata");
    check_names(check, path, resource, metadata);
    ki_as_check_not_negative(check, KI_AS_MEMBER(path, "generation"),
                             json_object_get(metadata, "generation"));
    ki_as_check_labels(check, KI_AS_MEMBER(path, "labels"), json_object_get(metadata, "labels"));
    check_annotations(check, KI_AS_MEMBER(path, "annotations"), json_object_get(metadata, "annotations"));
    check_owners(check, KI_AS_MEMBER(path, "ownerReferences"), json_object_get(metadata, "ownerReferences"));
    check_finalizers(check, KI_AS_MEMBER(path, "finalizers"), resource,
                     json_object_get(metadata, "finalizers"));
}
