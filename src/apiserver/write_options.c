/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/write_options.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/resource.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

enum { MANAGER_BYTES_MAX = 128 };

/* Ends the check as that of an object of the kind, which has no name. */
static int conclude(struct ki_as_check *check, const char *kind, struct ki_as_failure *failure)
{
    const struct ki_as_resource resource = {
        .group = "meta.k8s.io", .kind = kind, .plural = "", .qualified = ""};
    return ki_as_check_conclude(check, &resource, NULL, failure);
}

static void check_manager(struct ki_as_check *check, ki_str manager)
{
    const struct ki_as_path *path = KI_AS_PATH("fieldManager");
    char why[64];
    if (manager.len > MANAGER_BYTES_MAX)
        ki_as_check_too_long(check, path, MANAGER_BYTES_MAX);
    for (size_t i = 0; i < manager.len; i++) {
        unsigned char c = (unsigned char)manager.ptr[i];
        if (c >= 0x20 && c != 0x7f)
            continue;
        (void)snprintf(why, sizeof(why), "invalid character U+%04X (at position %zu)", c, i);
        ki_as_check_invalid_text(check, path, manager, why);
    }
}

/* A list of texts, of which only "All" is known. */
static void check_dry_run(struct ki_as_check *check, const json_t *values)
{
    static const char *const known[] = {"All", NULL};
    size_t i = 0;
    const json_t *value = NULL;
    json_array_foreach(values, i, value)
    {
        if (!ki_str_equal(ki_as_json_str(value), KI_STR("All"))) {
            ki_as_check_unsupported(check, KI_AS_PATH("dryRun"), values, known);
            return;
        }
    }
}

static void check_validation(struct ki_as_check *check, ki_str text)
{
    static const char *const known[] = {"", "Ignore", "Strict", "Warn", NULL};
    json_t *value = json_stringn(text.ptr, text.len);
    if (value == NULL)
        ki_as_check_no_memory(check);
    ki_as_check_one_of(check, KI_AS_PATH("fieldValidation"), value, known);
    json_decref(value);
}

int ki_as_write_options_check(const struct ki_as_request *request, bool is_apply,
                              struct ki_as_failure *failure)
{
    static const char *const kinds[] = {[KI_AS_METHOD_POST] = "CreateOptions",
                                        [KI_AS_METHOD_PUT] = "UpdateOptions",
                                        [KI_AS_METHOD_PATCH] = "PatchOptions",
                                        [KI_AS_METHOD_DELETE] = "DeleteOptions"};
    const struct ki_as_query *query = &request->query;
    struct ki_as_check check = {0};
    bool is_patch = request->method == KI_AS_METHOD_PATCH;
    if (is_patch && !is_apply && query->has_force)
        ki_as_check_forbidden(&check, KI_AS_PATH("force"), "may not be specified for non-apply patch");
    if (is_apply && query->field_manager.len == 0)
        ki_as_check_required(&check, KI_AS_PATH("fieldManager"), "is required for apply patch");
    if (request->method != KI_AS_METHOD_DELETE)
        check_manager(&check, query->field_manager);
    if (query->dry_run.len > 0) {
        json_t *values = json_pack("[s%]", query->dry_run.ptr, query->dry_run.len);
        if (values == NULL)
            ki_as_check_no_memory(&check);
        check_dry_run(&check, values);
        json_decref(values);
    }
    if (request->method != KI_AS_METHOD_DELETE && query->field_validation.len > 0)
        check_validation(&check, query->field_validation);
    return conclude(&check, kinds[request->method], failure);
}

/* Only the types that something depends on. */
static int check_types(const json_t *options, struct ki_as_failure *failure)
{
    const json_t *seconds = json_object_get(options, "gracePeriodSeconds");
    const char *kind = json_string_value(json_object_get(options, "kind"));
    const char *version = json_string_value(json_object_get(options, "apiVersion"));
    if (options != NULL && !json_is_object(options))
        return ki_as_fail_bad_request(failure,
                                      "the object provided is unrecognized (must be of type DeleteOptions)");
    if (kind != NULL && kind[0] != '\0' && strcmp(kind, "DeleteOptions") != 0)
        return ki_as_fail_bad_request(failure, "no kind \"%s\" is registered for version \"%s\"", kind,
                                      version == NULL ? "" : version);
    if (seconds != NULL && !json_is_null(seconds) && !json_is_integer(seconds))
        return ki_as_fail_bad_request(failure,
                                      "json: cannot unmarshal %s into Go struct field "
                                      "DeleteOptions.gracePeriodSeconds of type int64",
                                      json_is_string(seconds) ? "string" : "value");
    return 0;
}

int ki_as_delete_options_check(const json_t *options, struct ki_as_failure *failure)
{
    static const char *const policies[] = {"Foreground", "Background", "Orphan", "nil", NULL};
    const struct ki_as_path *path = KI_AS_PATH("propagationPolicy");
    const json_t *policy = json_object_get(options, "propagationPolicy");
    struct ki_as_check check = {0};
    if (check_types(options, failure) < 0)
        return -1;
    ki_as_check_one_of(&check, path, policy, policies);
    if (ki_as_json_str(policy).len > 0 && json_is_boolean(json_object_get(options, "orphanDependents")))
        ki_as_check_invalid(&check, path, policy,
                            "orphanDependents and deletionPropagation cannot be both set");
    check_dry_run(&check, json_object_get(options, "dryRun"));
    return conclude(&check, "DeleteOptions", failure);
}
