/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that controllers make to metadata: labels, owner references, finalizers. Each function compares
 * first: a body that already has the change stays as it is. */
#include <assert.h>
#include <kinformer/body.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "api/object/body_fail.h"
#include "util/buf.h"
#include "util/error.h"

ki_body *ki_body_of(const ki_object *object)
{
    ki_body *body = ki_body_new();
    if (object == NULL)
        (void)ki_body_fail_with(body, KI_ERR_INVALID, "the object to copy is NULL");
    else if (body != NULL)
        (void)ki_body_replace(body, ki_object_json(object));
    return body;
}

/* ---- labels and annotations ---------------------------------------------------------------------------- */

/* Appends a name to a JSON Pointer as one more part, escaped, and a NUL after it. */
static int append_part(ki_buf *pointer, ki_str name)
{
    int rc = ki_buf_append_byte(pointer, '/');
    for (size_t i = 0; i < name.len && rc == 0; i++) {
        if (name.ptr[i] == '~')
            rc = ki_buf_append_str(pointer, KI_STR("~0"));
        else if (name.ptr[i] == '/')
            rc = ki_buf_append_str(pointer, KI_STR("~1"));
        else
            rc = ki_buf_append_byte(pointer, name.ptr[i]);
    }
    return rc == 0 ? ki_buf_append_byte(pointer, 0) : rc;
}

enum { POINTER_BYTES_MAX = 4096 };

static int set_member(ki_body *body, const char *map, ki_str name, ki_str value)
{
    assert(map[0] == '/');
    ki_json now = ki_json_member(ki_json_find(ki_body_json(body), map), name);
    ki_buf pointer;
    int rc = ki_body_check(body, NULL);
    if (rc < 0 || ki_json_string_equals(now, value))
        return rc;
    if (name.len > 0 && memchr(name.ptr, 0, name.len) != NULL)
        return ki_body_fail_with(body, KI_ERR_INVALID, "the name of a label or annotation contains a NUL");
    ki_buf_init(&pointer, POINTER_BYTES_MAX);
    rc = ki_buf_append_str(&pointer, ki_str_of(map));
    if (rc == 0)
        rc = append_part(&pointer, name);
    if (rc < 0)
        rc = ki_body_fail_with(body, rc, ki_error_text(rc));
    else
        rc = ki_body_set(body, pointer.data, "%.*s", KI_STR_ARGS(value));
    ki_buf_fini(&pointer);
    return rc < 0 ? rc : 1;
}

int ki_body_set_label(ki_body *body, ki_str name, ki_str value)
{
    return set_member(body, "/metadata/labels", name, value);
}

int ki_body_set_annotation(ki_body *body, ki_str name, ki_str value)
{
    return set_member(body, "/metadata/annotations", name, value);
}

/* ---- owners -------------------------------------------------------------------------------------------- */

int ki_object_is_controlled_by(const ki_object *object, const ki_object *owner)
{
    ki_owner controller;
    ki_str uid = ki_object_uid(owner);
    return uid.len > 0 && ki_object_controller(object, &controller) == 0 && ki_str_equal(controller.uid, uid);
}

static int check_owner(ki_body *body, const ki_object *owner)
{
    ki_json ns = ki_json_find(ki_body_json(body), "/metadata/namespace");
    ki_str owner_ns = ki_object_namespace(owner);
    if (owner == NULL || ki_object_uid(owner).len == 0)
        return ki_body_fail_with(body, KI_ERR_INVALID, "the owner has no UID: it has not been created yet");
    if (owner_ns.len > 0 && ki_json_type_of(ns) == KI_JSON_STRING && !ki_json_string_equals(ns, owner_ns))
        return ki_body_fail_with(body, KI_ERR_INVALID, "the owner is in another namespace");
    return 0;
}

static bool is_true(ki_json value)
{
    int flag = 0;
    return ki_json_bool(value, &flag) == 0 && flag;
}

/* The owner reference with a given uid. */
typedef struct reference {
    ki_json value;
    size_t index;             /* its index; the number of references if it was not found */
    ki_json other_controller; /* the reference of another controller, if there is one */
} reference;

static reference find_reference(const ki_body *body, ki_str uid)
{
    ki_json_iter iter = ki_json_iterate(ki_json_find(ki_body_json(body), "/metadata/ownerReferences"));
    reference found = {0};
    ki_json value;
    for (size_t i = 0; ki_json_next(&iter, NULL, &value); i++) {
        bool is_same = ki_json_string_equals(ki_json_member(value, KI_STR("uid")), uid);
        bool is_found = ki_json_type_of(found.value) != KI_JSON_NONE;
        if (is_same && !is_found)
            found.value = value;
        else if (!is_found)
            found.index = i + 1;
        if (!is_same && is_true(ki_json_member(value, KI_STR("controller"))))
            found.other_controller = value;
    }
    return found;
}

static int fail_controlled(ki_body *body, ki_json by)
{
    ki_str kind = {0}, name = {0};
    char message[256];
    (void)ki_json_string(ki_json_member(by, KI_STR("kind")), &kind);
    (void)ki_json_string(ki_json_member(by, KI_STR("name")), &name);
    (void)snprintf(message, sizeof(message), "another owner controls the object: %.*s %.*s",
                   KI_STR_ARGS(kind), KI_STR_ARGS(name));
    return ki_body_fail_with(body, KI_ERR_ALREADY_EXISTS, message);
}

int ki_body_set_controller(ki_body *body, const ki_object *owner)
{
    int rc = ki_body_check(body, NULL);
    if (rc == 0)
        rc = check_owner(body, owner);
    if (rc < 0)
        return rc;
    reference found = find_reference(body, ki_object_uid(owner));
    if (ki_json_type_of(found.other_controller) != KI_JSON_NONE)
        return fail_controlled(body, found.other_controller);
    ki_body *wanted = ki_body_format(
        "{apiVersion:%.*s,kind:%.*s,name:%.*s,uid:%.*s,controller:true,blockOwnerDeletion:true}",
        KI_STR_ARGS(ki_object_api_version(owner)), KI_STR_ARGS(ki_object_kind(owner)),
        KI_STR_ARGS(ki_object_name(owner)), KI_STR_ARGS(ki_object_uid(owner)));
    rc = ki_body_set_element(body, "/metadata/ownerReferences", &(ki_element){found.value, found.index},
                             wanted);
    ki_body_free(wanted);
    return rc;
}

/* ---- finalizers ---------------------------------------------------------------------------------------- */

static bool find_text(ki_json array, ki_str text, size_t *out_index)
{
    ki_json_iter iter = ki_json_iterate(array);
    ki_json value;
    for (*out_index = 0; ki_json_next(&iter, NULL, &value); ++*out_index)
        if (ki_json_string_equals(value, text))
            return true;
    return false;
}

int ki_object_has_finalizer(const ki_object *object, ki_str name)
{
    size_t ignored;
    return find_text(ki_object_finalizers(object), name, &ignored);
}

int ki_body_add_finalizer(ki_body *body, ki_str name)
{
    size_t ignored;
    int rc = ki_body_check(body, NULL);
    if (rc < 0 || find_text(ki_json_find(ki_body_json(body), "/metadata/finalizers"), name, &ignored))
        return rc;
    rc = ki_body_set(body, "/metadata/finalizers/-", "%.*s", KI_STR_ARGS(name));
    return rc < 0 ? rc : 1;
}

int ki_body_remove_finalizer(ki_body *body, ki_str name)
{
    size_t index;
    char pointer[64];
    int rc = ki_body_check(body, NULL);
    if (rc < 0 || !find_text(ki_json_find(ki_body_json(body), "/metadata/finalizers"), name, &index))
        return rc;
    (void)snprintf(pointer, sizeof(pointer), "/metadata/finalizers/%zu", index);
    return ki_body_remove(body, pointer);
}
