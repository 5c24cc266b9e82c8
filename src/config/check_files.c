/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the content of files and inline data is usable. When a file changes later, bad content is
 * tolerated; at the start it is an error, since waiting would not fix it. */
#include <assert.h>

#include "config/kubeconfig_fields.h"
#include "config/load.h"
#include "config/pem.h"
#include "config/token_file.h"
#include "util/error.h"
#include "util/file.h"

enum { FILE_BYTES_MAX = 4 * 1024 * 1024 };

/* A certificate or a key: from a file, or from inline data, which takes precedence. */
typedef struct part {
    const ki_kubeconfig_entry *entry;
    const char *file_field;
    const char *data_field;
    const char *path;
    const char *pem;
    ki_pem_kind kind;
} part;

static int check_data(const part *p, ki_error *err)
{
    const char *problem = NULL;
    if (ki_pem_check(ki_str_of(p->pem), p->kind, &problem) < 0)
        return ki_fail_no_memory(err);
    return problem == NULL ? 0 : ki_kubeconfig_fail_field(err, p->entry, p->data_field, "%s", problem);
}

static int check_file(const part *p, ki_error *err)
{
    ki_file_text text = {0};
    ki_error why = {0};
    const char *problem = NULL;
    if (ki_file_is_pipe(p->path)) /* it can be read only once, by its user */
        return 0;
    int rc = ki_file_read(p->path, FILE_BYTES_MAX, &text, &why);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_kubeconfig_fail_field(err, p->entry, p->file_field, "%s", why.message);
    rc = ki_pem_check((ki_str){text.data, text.len}, p->kind, &problem);
    ki_file_text_fini(&text);
    if (rc < 0)
        return ki_fail_no_memory(err);
    if (problem == NULL)
        return 0;
    return ki_kubeconfig_fail_field(err, p->entry, p->file_field, "%.200s: %s", p->path, problem);
}

static int check_part(const part *p, ki_error *err)
{
    if (p->pem != NULL)
        return check_data(p, err);
    return p->path != NULL ? check_file(p, err) : 0;
}

/* The file may be missing if a token is given with it, which is used until the file exists. */
static int check_token(const ki_config *config, const ki_config_origin *origin, ki_error *err)
{
    ki_error why = {0};
    if (config->token != NULL && !ki_token_is_valid(ki_str_of(config->token)))
        return ki_kubeconfig_fail_field(err, origin->authorization, "token",
                                        "contains a character that is not allowed in a header");
    if (config->token_file == NULL || config->token != NULL)
        return 0;
    int rc = ki_token_file_check(config->token_file, &why);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc == 0)
        return 0;
    const char *field = origin->authorization == NULL ? "token-file" : "tokenFile";
    return ki_kubeconfig_fail_field(err, origin->authorization, field, "%s", why.message);
}

int ki_config_check_files(const ki_config *config, const ki_config_origin *origin, ki_error *err)
{
    assert(config != NULL);
    const part parts[] = {
        {origin->trust, "certificate-authority", "certificate-authority-data", config->ca_file,
         config->ca_pem, KI_PEM_CERTIFICATE},
        {origin->certificate, "client-certificate", "client-certificate-data",
         config->client_certificate_file, config->client_certificate_pem, KI_PEM_CERTIFICATE},
        {origin->certificate, "client-key", "client-key-data", config->client_key_file,
         config->client_key_pem, KI_PEM_KEY},
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++)
        rc = check_part(&parts[i], err);
    return rc == 0 ? check_token(config, origin, err) : rc;
}
