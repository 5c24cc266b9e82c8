/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the content of files into the configuration, for a process that will not be allowed to read them. */
#include <assert.h>

#include "config/config.h"
#include "config/token_file.h"
#include "util/error.h"
#include "util/file.h"

enum { PEM_BYTES_MAX = 4 * 1024 * 1024 };

static int preload(const char *path, char **pem, ki_error *err)
{
    ki_file_text text = {0};
    ki_error why = {0};
    if (path == NULL || *pem != NULL || ki_file_is_pipe(path)) /* a pipe can be read only once, by its user */
        return 0;
    int rc = ki_file_read(path, PEM_BYTES_MAX, &text, &why);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_fail(err, KI_ERR_CONFIG, "%s", why.message);
    *pem = text.data; /* PEM contains no NUL */
    return 0;
}

/* A configured token is used until its file can be read. So a token that is read here serves as that
 * fallback. */
int ki_config_preload_files(ki_config *config, ki_error *err)
{
    assert(config != NULL);
    int rc = preload(config->ca_file, &config->ca_pem, err);
    if (rc == 0)
        rc = preload(config->client_certificate_file, &config->client_certificate_pem, err);
    if (rc == 0)
        rc = preload(config->client_key_file, &config->client_key_pem, err);
    if (rc == 0 && config->token_file != NULL && config->token == NULL)
        rc = ki_token_file_read(config->token_file, &config->token, err);
    return rc;
}
