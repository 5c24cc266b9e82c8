/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/certificate_files.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { PEM_BYTES_MAX = 1024 * 1024 };

static int init_part(ki_certificate_part *part, const char *pem, const char *path)
{
    part->path = path;
    if (pem == NULL)
        return 0;
    part->pem.len = strlen(pem);
    part->pem.capacity = part->pem.len + 1;
    part->pem.data = ki_str_copy(ki_str_of(pem));
    return part->pem.data == NULL ? KI_ERR_NO_MEMORY : 0;
}

int ki_certificate_files_init(ki_certificate_files *files, const ki_config *config)
{
    assert(files != NULL);
    *files = (ki_certificate_files){
        .certificate = {.field = "client-certificate", .kind = KI_PEM_CERTIFICATE},
        .key = {.field = "client-key", .kind = KI_PEM_KEY},
    };
    int rc = init_part(&files->certificate, config->client_certificate_pem, config->client_certificate_file);
    if (rc == 0)
        rc = init_part(&files->key, config->client_key_pem, config->client_key_file);
    if (rc < 0)
        ki_certificate_files_fini(files);
    return rc;
}

void ki_certificate_files_fini(ki_certificate_files *files)
{
    assert(files != NULL);
    ki_file_text_fini(&files->certificate.pem);
    ki_file_text_fini(&files->key.pem);
    *files = (ki_certificate_files){0};
}

void ki_certificate_part_name(const ki_certificate_part *part, char *text, size_t size)
{
    assert(part != NULL);
    if (part->path == NULL)
        (void)snprintf(text, size, "%s-data", part->field);
    else
        (void)snprintf(text, size, "%s %.120s", part->field, part->path);
}

void ki_certificate_files_expire(ki_certificate_files *files)
{
    assert(files != NULL);
    files->next_ns = 0;
}

/* The mark is taken before reading, so that a change in between is noticed at the next check. */
static int read_part(ki_certificate_part *part, ki_error *err)
{
    ki_error problem = {0};
    if (part->path == NULL)
        return 0;
    part->mark = ki_file_mark_of(part->path);
    int rc = ki_file_read(part->path, PEM_BYTES_MAX, &part->pem, &problem);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_fail(err, KI_ERR_CONFIG, "%s: %s", part->field, problem.message);
    const char *why = NULL;
    if (ki_pem_check((ki_str){part->pem.data, part->pem.len}, part->kind, &why) < 0)
        return ki_fail_no_memory(err);
    if (why != NULL)
        return ki_fail(err, KI_ERR_CONFIG, "%s: %.120s: %s", part->field, part->path, why);
    return 0;
}

static bool has_changed(const ki_certificate_part *part)
{
    return part->path != NULL && !ki_file_mark_equal(part->mark, ki_file_mark_of(part->path));
}

static void replace(ki_certificate_part *part, ki_certificate_part *with)
{
    if (part->path == NULL)
        return;
    ki_file_text_fini(&part->pem);
    *part = *with;
    with->pem = (ki_file_text){0};
}

/* Returns 0 if both were read. */
static int read_both(ki_certificate_files *files, ki_error *err)
{
    ki_certificate_part certificate = files->certificate, key = files->key;
    certificate.pem = key.pem = (ki_file_text){0};
    int rc = read_part(&certificate, err);
    if (rc == 0)
        rc = read_part(&key, err);
    if (rc == 0) {
        replace(&files->certificate, &certificate);
        replace(&files->key, &key);
    }
    ki_file_text_fini(&certificate.pem);
    ki_file_text_fini(&key.pem);
    return rc;
}

int ki_certificate_files_refresh(ki_certificate_files *files, uint64_t now_ns, ki_error *err)
{
    bool has_both = files->certificate.pem.data != NULL && files->key.pem.data != NULL;
    if (files->certificate.path == NULL && files->key.path == NULL)
        return 0;
    if (has_both && now_ns < files->next_ns)
        return 0;
    if (has_both && !has_changed(&files->certificate) && !has_changed(&files->key)) {
        files->next_ns = now_ns + KI_CERTIFICATE_FILES_PERIOD_MS * KI_NS_PER_MS;
        return 0;
    }
    ki_error problem = {0};
    int rc = read_both(files, &problem);
    if (rc < 0 && !has_both) {
        ki_error_set(err, rc, 0, "%s", problem.message);
        return rc;
    }
    files->next_ns = now_ns + KI_CERTIFICATE_FILES_PERIOD_MS * KI_NS_PER_MS;
    if (rc < 0 && !files->has_failed)
        ki_log(KI_LOG_WARNING, "credentials", KI_LOG_NO_FIELDS, "keeping the current certificate: %s",
               problem.message);
    files->has_failed = rc < 0;
    return rc == 0;
}
