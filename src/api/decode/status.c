/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/status.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"

/* Unescaped text is never longer than its JSON, so one block of the JSON's length is enough for all
 * strings. */
typedef struct reader {
    char *at;
    char *end;
} reader;

static ki_str read_text(reader *r, ki_json object, ki_str name)
{
    size_t n = 0;
    ki_json value = ki_json_member(object, name);
    if (ki_json_string_copy(value, r->at, (size_t)(r->end - r->at), &n) < 0)
        return (ki_str){0};
    ki_str text = {r->at, n};
    r->at += n;
    return text;
}

static int read_number(ki_json object, ki_str name)
{
    int64_t number = 0;
    if (ki_json_int64(ki_json_member(object, name), &number) < 0 || number < 0)
        return 0;
    return number > INT_MAX ? INT_MAX : (int)number;
}

static void read_causes(reader *r, ki_json causes, ki_status *status)
{
    if (ki_json_type_of(causes) != KI_JSON_ARRAY)
        return;
    ki_json_iter iter = ki_json_iterate(causes);
    ki_json cause = {0};
    while (status->cause_count < KI_STATUS_CAUSES_MAX && ki_json_next(&iter, NULL, &cause)) {
        if (ki_json_type_of(cause) != KI_JSON_OBJECT)
            continue;
        ki_status_cause *out = &status->causes[status->cause_count++];
        out->cause_type = read_text(r, cause, KI_STR("reason"));
        out->message = read_text(r, cause, KI_STR("message"));
        out->field = read_text(r, cause, KI_STR("field"));
    }
}

static void read_details(reader *r, ki_json details, ki_status *status)
{
    status->group = read_text(r, details, KI_STR("group"));
    status->kind = read_text(r, details, KI_STR("kind"));
    status->name = read_text(r, details, KI_STR("name"));
    status->uid = read_text(r, details, KI_STR("uid"));
    status->retry_after_seconds = read_number(details, KI_STR("retryAfterSeconds"));
    read_causes(r, ki_json_member(details, KI_STR("causes")), status);
}

/* The texts of a Status are in one block, which its first reserved word points to. */
static char *texts_of(const ki_status *status)
{
    char *texts;
    memcpy(&texts, &status->reserved[0], sizeof(texts));
    return texts;
}

int ki_status_read(ki_json json, ki_status *out)
{
    if (!ki_json_string_equals(ki_json_member(json, KI_STR("kind")), KI_STR("Status")))
        return KI_ERR_TYPE;
    char *texts = ki_malloc(json.raw.len);
    if (texts == NULL)
        return KI_ERR_NO_MEMORY;
    ki_status status = {.reserved = {(uintptr_t)texts}};
    reader r = {texts, texts + json.raw.len};
    status.http_status = read_number(json, KI_STR("code"));
    status.status = read_text(&r, json, KI_STR("status"));
    status.reason = read_text(&r, json, KI_STR("reason"));
    status.message = read_text(&r, json, KI_STR("message"));
    read_details(&r, ki_json_member(json, KI_STR("details")), &status);
    *out = status;
    return 0;
}

int ki_status_parse(ki_str body, ki_status *out, ki_error *err)
{
    assert(body.ptr != NULL || body.len == 0);
    int rc = ki_json_validate(body, err);
    if (rc < 0)
        return rc;
    rc = ki_status_read(ki_json_of(body), out);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return rc < 0 ? ki_fail(err, rc, "the response is not a Status") : 0;
}

void ki_status_mask(ki_status *status, const ki_mask *mask)
{
    assert(status != NULL);
    ki_mask_text(mask, texts_of(status), &status->reason);
    ki_mask_text(mask, texts_of(status), &status->message);
    for (size_t i = 0; i < status->cause_count; i++)
        ki_mask_text(mask, texts_of(status), &status->causes[i].message);
}

void ki_status_fini(ki_status *status)
{
    assert(status != NULL);
    ki_free(texts_of(status));
    *status = (ki_status){0};
}

int ki_status_has_cause(const ki_status *status, const char *type)
{
    if (status == NULL)
        return 0;
    for (size_t i = 0; i < status->cause_count; i++)
        if (ki_str_equal(status->causes[i].cause_type, ki_str_of(type)))
            return 1;
    return 0;
}
