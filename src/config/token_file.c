/* SPDX-License-Identifier: Apache-2.0 */
#include "config/token_file.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/secret.h"
#include "util/text/str.h"
#include "util/units.h"

/* Far more than servers accept in a header. */
enum { TOKEN_BYTES_MAX = 1024 * 1024 };

void ki_token_file_init(ki_token_file *file, const char *path)
{
    *file = (ki_token_file){.path = path};
}

void ki_token_file_fini(ki_token_file *file)
{
    assert(file != NULL);
    ki_secret_free(file->token);
    *file = (ki_token_file){0};
}

void ki_token_file_expire(ki_token_file *file)
{
    assert(file != NULL);
    file->next_ns = 0;
}

bool ki_token_is_valid(ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    }
    return text.len > 0;
}

int ki_token_file_read(const char *path, char **out_token, ki_error *err)
{
    ki_file_text text = {0};
    ki_error problem = {0};
    int rc = ki_file_read(path, TOKEN_BYTES_MAX, &text, &problem);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_fail(err, KI_ERR_CONFIG, "%s", problem.message);
    ki_str token = ki_str_trim((ki_str){text.data, text.len});
    if (!ki_token_is_valid(token))
        rc = ki_fail(err, KI_ERR_CONFIG, "%.120s: %s", path,
                     token.len == 0 ? "is empty" : "does not contain a token");
    char *copy = rc < 0 ? NULL : ki_str_copy(token);
    ki_file_text_fini(&text);
    if (rc == 0 && copy == NULL)
        return ki_fail_no_memory(err);
    if (rc == 0)
        *out_token = copy;
    return rc;
}

int ki_token_file_check(const char *path, ki_error *err)
{
    char *token = NULL;
    int rc = ki_token_file_read(path, &token, err);
    ki_secret_free(token);
    return rc;
}

void ki_token_file_report(ki_token_file *file, const char *problem)
{
    if (!file->has_failed)
        ki_log(KI_LOG_WARNING, "credentials", KI_LOG_NO_FIELDS, "keeping the current token: %s", problem);
    file->has_failed = true;
}

int ki_token_file_refresh(ki_token_file *file, uint64_t now_ns, ki_error *err)
{
    assert(file != NULL);
    if (file->token != NULL && now_ns < file->next_ns)
        return 0;
    ki_error problem = {0};
    char *token = NULL;
    int rc = ki_token_file_read(file->path, &token, &problem);
    ki_error why = {0};
    if (rc < 0)
        ki_error_set(&why, rc, 0, "%s%s", rc == KI_ERR_CONFIG ? "token file: " : "", problem.message);
    if (rc < 0 && file->token == NULL) {
        if (err != NULL)
            *err = why;
        return rc;
    }
    file->next_ns = now_ns + KI_TOKEN_FILE_PERIOD_MS * KI_NS_PER_MS;
    if (rc < 0) {
        ki_token_file_report(file, why.message);
        return 0;
    }
    file->has_failed = false;
    ki_secret_free(file->token);
    file->token = token;
    return 0;
}
