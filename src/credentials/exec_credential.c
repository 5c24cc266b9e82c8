/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_credential.h"

#include <assert.h>
#include <kinformer/json.h>
#include <kinformer/timestamp.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

void ki_exec_credential_fini(ki_exec_credential *credential)
{
    assert(credential != NULL);
    ki_secret_free(credential->token);
    ki_secret_free(credential->certificate_pem);
    ki_secret_free(credential->key_pem);
    *credential = (ki_exec_credential){0};
}

static int refuse(ki_error *err, const char *what)
{
    return ki_fail(err, KI_ERR_CONFIG, "its output %s", what);
}

/* Copies a string member; NULL if it is missing, null or empty. */
static int copy_text(ki_json object, ki_str name, char **out_text, ki_error *err)
{
    ki_json value = ki_json_member(object, name);
    ki_json_type type = ki_json_type_of(value);
    if (type == KI_JSON_NONE || type == KI_JSON_NULL)
        return 0;
    if (type != KI_JSON_STRING)
        return ki_fail(err, KI_ERR_CONFIG, "its output has a status.%.*s that is not a string",
                       KI_STR_ARGS(name));
    size_t len = 0;
    char *text = ki_malloc(value.raw.len + 1);
    if (text == NULL)
        return ki_fail_no_memory(err);
    int rc = ki_json_string_copy(value, text, value.raw.len, &len);
    text[rc < 0 ? 0 : len] = 0;
    if (rc < 0 || memchr(text, 0, len) != NULL) {
        ki_secret_free_bytes(text, value.raw.len);
        return ki_fail(err, KI_ERR_CONFIG, "its output has a status.%.*s that is not a string",
                       KI_STR_ARGS(name));
    }
    if (len == 0) {
        ki_free(text);
        return 0;
    }
    *out_text = text;
    return 0;
}

static int read_expiry(ki_json status, int64_t *out_expires_s, ki_error *err)
{
    char *text = NULL;
    ki_timestamp time = {0};
    int rc = copy_text(status, KI_STR("expirationTimestamp"), &text, err);
    if (rc < 0 || text == NULL)
        return rc;
    rc = ki_timestamp_parse(ki_str_of(text), &time);
    ki_secret_free(text);
    if (rc < 0)
        return refuse(err, "has a status.expirationTimestamp that is not an RFC 3339 time");
    *out_expires_s = time.seconds;
    return 0;
}

static int read_status(ki_json status, ki_exec_credential *credential, ki_error *err)
{
    int rc = copy_text(status, KI_STR("token"), &credential->token, err);
    if (rc == 0)
        rc = copy_text(status, KI_STR("clientCertificateData"), &credential->certificate_pem, err);
    if (rc == 0)
        rc = copy_text(status, KI_STR("clientKeyData"), &credential->key_pem, err);
    if (rc == 0)
        rc = read_expiry(status, &credential->expires_s, err);
    if (rc < 0)
        return rc;
    if ((credential->certificate_pem == NULL) != (credential->key_pem == NULL))
        return refuse(err, "has one of clientCertificateData and clientKeyData, not both");
    if (credential->token == NULL && credential->certificate_pem == NULL)
        return refuse(err, "has neither a token nor a certificate");
    return 0;
}

static int check_kind(ki_json answer, const char *api_version, ki_error *err)
{
    if (ki_json_type_of(answer) != KI_JSON_OBJECT)
        return refuse(err, "is not an ExecCredential");
    if (!ki_json_string_equals(ki_json_member(answer, KI_STR("kind")), KI_STR("ExecCredential")))
        return refuse(err, "has a kind other than ExecCredential");
    if (!ki_json_string_equals(ki_json_member(answer, KI_STR("apiVersion")), ki_str_of(api_version)))
        return ki_fail(err, KI_ERR_CONFIG, "its output has an apiVersion other than %.60s", api_version);
    if (ki_json_type_of(ki_json_member(answer, KI_STR("status"))) != KI_JSON_OBJECT)
        return refuse(err, "has no status");
    return 0;
}

int ki_exec_credential_parse(ki_str text, const char *api_version, ki_exec_credential *out_credential,
                             ki_error *err)
{
    assert(out_credential != NULL);
    assert(text.ptr != NULL || text.len == 0);
    ki_exec_credential credential = {.expires_s = INT64_MAX};
    ki_json answer = ki_json_of(text);
    if (text.len == 0)
        return refuse(err, "is empty");
    if (ki_json_validate(text, NULL) < 0)
        return refuse(err, "is not JSON");
    int rc = check_kind(answer, api_version, err);
    if (rc == 0)
        rc = read_status(ki_json_member(answer, KI_STR("status")), &credential, err);
    if (rc < 0) {
        ki_exec_credential_fini(&credential);
        return rc;
    }
    *out_credential = credential;
    return 0;
}
