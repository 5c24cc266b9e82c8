/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/list_answer.h"

#include <string.h>

#include "util/error.h"

int ki_list_answer_is_status(ki_str kind)
{
    return ki_str_equal(kind, KI_STR("Status"));
}

static int ends_with_list(ki_str kind)
{
    return kind.len >= 4 && memcmp(kind.ptr + kind.len - 4, "List", 4) == 0;
}

/* A built-in "Pod" is listed as "PodList"; "List" and "PartialObjectMetadataList" match every resource. For
 * a custom resource, its definition can name the kind of its lists freely. */
static int kind_fits(const ki_object_plan *plan, ki_str kind)
{
    if (!plan->is_built_in)
        return kind.len > 0 && !ki_str_equal(kind, plan->kind) && !ki_str_equal(kind, KI_STR("Table"));
    if (!ends_with_list(kind))
        return 0;
    return kind.len == 4 || ki_str_equal(kind, KI_STR("PartialObjectMetadataList")) ||
           ki_str_equal((ki_str){kind.ptr, kind.len - 4}, plan->kind);
}

int ki_list_answer_check(const ki_object_plan *plan, ki_str kind, ki_error *err)
{
    if (kind_fits(plan, kind) || ki_list_answer_is_status(kind))
        return 0;
    return ki_fail(err, KI_ERR_NOT_A_LIST, "the response is not a list of %.*s: its kind is \"%.*s\"",
                   KI_STR_ARGS(plan->kind.len ? plan->kind : KI_STR("objects")), KI_STR_ARGS(kind));
}

/* A kind or an apiVersion with characters that JSON must escape is not valid. */
static int is_plain(ki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '"' || text.ptr[i] == '\\' || (unsigned char)text.ptr[i] < 0x20)
            return 0;
    return text.len > 0 && text.len < KI_OBJECT_NAME_BYTES_MAX;
}

int ki_list_answer_learn(ki_object_plan *plan, ki_str kind, ki_str api_version, ki_error *err)
{
    if (plan->kind_is_known || !ends_with_list(kind) || !is_plain(kind) || !is_plain(api_version))
        return 0;
    return ki_object_plan_learn(plan, api_version, (ki_str){kind.ptr, kind.len - 4}, err);
}

int ki_list_answer_fail(ki_str json, ki_status *out_status, ki_error *err)
{
    int rc = ki_status_read((ki_json){json}, out_status);
    if (rc < 0)
        return ki_fail(err, rc, "%s", ki_error_text(rc));
    return ki_fail(err, KI_ERR_NOT_A_LIST, "the response is not a list but a Status, reason \"%.*s\": %.*s",
                   KI_STR_ARGS(out_status->reason), KI_STR_ARGS(out_status->message));
}
