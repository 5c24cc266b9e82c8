/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "apiserver/keyed_list.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

/* The value of a required string, or NULL after saying that it is missing. */
static const json_t *require_text(struct ki_as_check *check, const struct ki_as_path *path,
                                  const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (ki_as_json_str(value).len > 0)
        return value;
    ki_as_check_required(check, KI_AS_MEMBER(path, name), "");
    return NULL;
}

/* The elements of a list by one member. Without memory none is known, and the object is refused. */
static void know(struct ki_as_check *check, struct ki_as_keyed_list *known, const json_t *list,
                 const char *name)
{
    struct ki_as_identity identity = ki_as_identity_of(name);
    if (ki_as_keyed_list_init(known, &identity, list, 0) < 0)
        ki_as_check_no_memory(check);
}

/* Whether an earlier element of the list has the same member. */
static bool is_repeated(const struct ki_as_keyed_list *known, const json_t *element, size_t index)
{
    long first = ki_as_keyed_list_find(known, element);
    return first >= 0 && (size_t)first < index &&
           ki_as_json_member(element, known->identity.keys.names[0]) != NULL;
}

static void check_ports(struct ki_as_check *check, const struct ki_as_path *path, const json_t *ports)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    struct ki_as_keyed_list names;
    size_t index = 0;
    json_t *port = NULL;
    know(check, &names, ports, "name");
    json_array_foreach(ports, index, port)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *name = json_object_get(port, "name");
        if (ki_as_json_str(name).len > 0) {
            ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_port_name);
            if (is_repeated(&names, port, index))
                ki_as_check_duplicate(check, KI_AS_MEMBER(at, "name"), name);
        }
        const json_t *number = json_object_get(port, "containerPort");
        if (number == NULL)
            ki_as_check_required(check, KI_AS_MEMBER(at, "containerPort"), "");
        ki_as_check_range(check, KI_AS_MEMBER(at, "containerPort"), number, 1, 65535);
        const json_t *host_port = json_object_get(port, "hostPort");
        if (json_integer_value(host_port) != 0)
            ki_as_check_range(check, KI_AS_MEMBER(at, "hostPort"), host_port, 1, 65535);
        ki_as_check_one_of(check, KI_AS_MEMBER(at, "protocol"), json_object_get(port, "protocol"), protocols);
    }
    ki_as_keyed_list_fini(&names);
}

static void check_env(struct ki_as_check *check, const struct ki_as_path *path, const json_t *env)
{
    size_t index = 0;
    json_t *variable = NULL;
    json_array_foreach(env, index, variable)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *name = require_text(check, at, variable, "name");
        if (name != NULL)
            ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_env_name);
        bool has_value = ki_as_json_str(json_object_get(variable, "value")).len > 0;
        if (has_value && json_object_get(variable, "valueFrom") != NULL)
            ki_as_check_invalid_text(check, KI_AS_MEMBER(at, "valueFrom"), (ki_str){0},
                                     "may not be specified when `value` is not empty");
    }
}

static void check_mounts(struct ki_as_check *check, const struct ki_as_path *path, const json_t *mounts,
                         const struct ki_as_keyed_list *volumes)
{
    struct ki_as_keyed_list paths;
    size_t index = 0;
    json_t *mount = NULL;
    know(check, &paths, mounts, "mountPath");
    json_array_foreach(mounts, index, mount)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *name = require_text(check, at, mount, "name");
        if (name != NULL && ki_as_keyed_list_find(volumes, mount) < 0)
            ki_as_check_not_found(check, KI_AS_MEMBER(at, "name"), name);
        (void)require_text(check, at, mount, "mountPath");
        if (is_repeated(&paths, mount, index))
            ki_as_check_invalid(check, KI_AS_MEMBER(at, "mountPath"), json_object_get(mount, "mountPath"),
                                "must be unique");
    }
    ki_as_keyed_list_fini(&paths);
}

static void check_container(struct ki_as_check *check, const struct ki_as_path *path, const json_t *container,
                            const struct ki_as_keyed_list *volumes)
{
    static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
    static const char *const message_policies[] = {"FallbackToLogsOnError", "File", NULL};
    const json_t *name = require_text(check, path, container, "name");
    if (name != NULL)
        ki_as_check_name(check, KI_AS_MEMBER(path, "name"), ki_as_json_str(name), ki_as_check_label);
    (void)require_text(check, path, container, "image");
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "imagePullPolicy"),
                       json_object_get(container, "imagePullPolicy"), pull_policies);
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "terminationMessagePolicy"),
                       json_object_get(container, "terminationMessagePolicy"), message_policies);
    check_ports(check, KI_AS_MEMBER(path, "ports"), json_object_get(container, "ports"));
    check_env(check, KI_AS_MEMBER(path, "env"), json_object_get(container, "env"));
    check_mounts(check, KI_AS_MEMBER(path, "volumeMounts"), json_object_get(container, "volumeMounts"),
                 volumes);
}

static void check_containers(struct ki_as_check *check, const struct ki_as_path *path,
                             const json_t *containers, const struct ki_as_keyed_list *volumes)
{
    struct ki_as_keyed_list names;
    size_t index = 0;
    json_t *container = NULL;
    know(check, &names, containers, "name");
    json_array_foreach(containers, index, container)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        check_container(check, at, container, volumes);
        if (is_repeated(&names, container, index))
            ki_as_check_duplicate(check, KI_AS_MEMBER(at, "name"), json_object_get(container, "name"));
    }
    ki_as_keyed_list_fini(&names);
}

/* Names are those of all containers of a pod. */
static void check_init_names(struct ki_as_check *check, const struct ki_as_path *path, const json_t *inits,
                             const json_t *containers)
{
    struct ki_as_keyed_list known;
    size_t index = 0;
    json_t *container = NULL;
    if (json_array_size(inits) == 0)
        return;
    know(check, &known, containers, "name");
    json_array_foreach(inits, index, container)
    {
        const json_t *name = json_object_get(container, "name");
        if (name != NULL && ki_as_keyed_list_find(&known, container) >= 0)
            ki_as_check_duplicate(check, KI_AS_MEMBER(KI_AS_ELEMENT(path, index), "name"), name);
    }
    ki_as_keyed_list_fini(&known);
}

static void check_volumes(struct ki_as_check *check, const struct ki_as_path *path, const json_t *volumes,
                          const struct ki_as_keyed_list *names)
{
    size_t index = 0;
    json_t *volume = NULL;
    json_array_foreach(volumes, index, volume)
    {
        const struct ki_as_path *at = KI_AS_ELEMENT(path, index);
        const json_t *name = require_text(check, at, volume, "name");
        if (name != NULL)
            ki_as_check_name(check, KI_AS_MEMBER(at, "name"), ki_as_json_str(name), ki_as_check_label);
        if (is_repeated(names, volume, index))
            ki_as_check_duplicate(check, KI_AS_MEMBER(at, "name"), name);
    }
}

/* The names of volumes, and of claims that become volumes. */
static void know_volumes(struct ki_as_check *check, struct ki_as_keyed_list *names, const json_t *volumes,
                         const json_t *claims)
{
    struct ki_as_identity identity = ki_as_identity_of("name");
    size_t index = 0;
    json_t *claim = NULL;
    int rc = ki_as_keyed_list_init(names, &identity, volumes, json_array_size(claims));
    json_array_foreach(claims, index, claim)
    {
        if (rc == 0 && json_object_get(claim, "metadata") != NULL)
            rc = ki_as_keyed_list_add(names, json_object_get(claim, "metadata"));
    }
    if (rc < 0)
        ki_as_check_no_memory(check);
}

void ki_as_check_pod_spec(struct ki_as_check *check, const struct ki_as_path *path, const json_t *spec,
                          const json_t *claims)
{
    static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None",
                                               NULL};
    const json_t *volumes = json_object_get(spec, "volumes");
    const json_t *containers = json_object_get(spec, "containers");
    struct ki_as_keyed_list names;
    know_volumes(check, &names, volumes, claims);
    check_volumes(check, KI_AS_MEMBER(path, "volumes"), volumes, &names);
    if (json_array_size(containers) == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "containers"), "");
    check_containers(check, KI_AS_MEMBER(path, "containers"), containers, &names);
    check_containers(check, KI_AS_MEMBER(path, "initContainers"), json_object_get(spec, "initContainers"),
                     &names);
    check_init_names(check, KI_AS_MEMBER(path, "initContainers"), json_object_get(spec, "initContainers"),
                     containers);
    ki_as_keyed_list_fini(&names);
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "restartPolicy"), json_object_get(spec, "restartPolicy"),
                       restart_policies);
    ki_as_check_one_of(check, KI_AS_MEMBER(path, "dnsPolicy"), json_object_get(spec, "dnsPolicy"),
                       dns_policies);
    ki_as_check_labels(check, KI_AS_MEMBER(path, "nodeSelector"), json_object_get(spec, "nodeSelector"));
}

/* ---- changes
 * --------------------------------------------------------------------------------------------- */

static bool is_changeable(const char *name, bool is_gated)
{
    static const char *const names[] = {"activeDeadlineSeconds", "tolerations", "ephemeralContainers",
                                        "schedulingGates",       "nodeName",    "resources"};
    /* Where it may run is open for as long as nobody may schedule it. */
    static const char *const gated[] = {"nodeSelector", "affinity"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    for (size_t i = 0; is_gated && i < sizeof(gated) / sizeof(gated[0]); i++) {
        if (strcmp(name, gated[i]) == 0)
            return true;
    }
    return false;
}

/* Containers may change in their images and (by resize) in their resources alone. */
static bool is_same_container(const json_t *before, const json_t *after)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)after, name, value)
    {
        bool may_change = strcmp(name, "image") == 0 || strcmp(name, "resources") == 0;
        if (!may_change && !ki_as_json_equal(value, json_object_get(before, name)))
            return false;
    }
    return true;
}

static bool is_same_containers(const json_t *before, const json_t *after)
{
    if (json_array_size(before) != json_array_size(after))
        return false;
    for (size_t i = 0; i < json_array_size(before); i++) {
        if (!is_same_container(json_array_get(before, i), json_array_get(after, i)) ||
            !is_same_container(json_array_get(after, i), json_array_get(before, i)))
            return false;
    }
    return true;
}

static bool is_same_spec(const json_t *before, const json_t *after, bool is_gated)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)after, name, value)
    {
        const json_t *old_value = json_object_get(before, name);
        bool is_containers = strcmp(name, "containers") == 0 || strcmp(name, "initContainers") == 0;
        bool is_same = is_containers ? is_same_containers(old_value, value)
                                     : old_value != NULL && ki_as_json_equal(old_value, value);
        if (!is_same && !is_changeable(name, is_gated))
            return false;
    }
    return true;
}

/* Gates only go. */
static void check_gates(struct ki_as_check *check, const json_t *old_spec, const json_t *new_spec)
{
    const struct ki_as_path *path = KI_AS_PATH("spec.schedulingGates");
    struct ki_as_keyed_list known;
    size_t index = 0;
    json_t *gate = NULL;
    char why[128];
    know(check, &known, json_object_get(old_spec, "schedulingGates"), "name");
    json_array_foreach(json_object_get(new_spec, "schedulingGates"), index, gate)
    {
        if (ki_as_keyed_list_find(&known, gate) >= 0)
            continue;
        (void)snprintf(why, sizeof(why), "only deletion is allowed, but found new scheduling gate '%s'",
                       ki_as_tree_text(gate, "name"));
        ki_as_cut_at_character(why);
        ki_as_check_forbidden(check, KI_AS_MEMBER(KI_AS_ELEMENT(path, index), "name"), why);
    }
    ki_as_keyed_list_fini(&known);
}

void ki_as_check_pod_update(struct ki_as_check *check, const struct ki_as_resource *resource,
                            const json_t *before, const json_t *after)
{
    const json_t *old_spec = json_object_get(before, "spec");
    const json_t *new_spec = json_object_get(after, "spec");
    if (!ki_as_is_resource(resource, "", "pods") || old_spec == NULL || new_spec == NULL)
        return;
    if (ki_as_json_equal(old_spec, new_spec))
        return;
    check_gates(check, old_spec, new_spec);
    bool is_gated = json_array_size(json_object_get(old_spec, "schedulingGates")) > 0;
    if (!is_same_spec(old_spec, new_spec, is_gated) || !is_same_spec(new_spec, old_spec, is_gated))
        ki_as_check_forbidden(
            check, KI_AS_PATH("spec"),
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
            "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
            "set to 1 if it was previously negative)");
}
