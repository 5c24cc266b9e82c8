/* SPDX-License-Identifier: Apache-2.0 */
#include "config/in_cluster.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/path.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/secret.h"

enum { NAMESPACE_BYTES_MAX = 4096 };

static char *server_of(const char *host, const char *port)
{
    size_t bytes = strlen("https://[]:") + strlen(host) + strlen(port) + 1;
    char *server = ki_malloc(bytes);
    int is_v6 = strchr(host, ':') != NULL;
    if (server != NULL)
        snprintf(server, bytes, "https://%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    return server;
}

/* Reads at most one line. A pod without this file has no default namespace. */
static int read_namespace(const char *dir, char **out_ns)
{
    char *path = ki_path_join(ki_str_of(dir), KI_STR("namespace"));
    ki_file_text text = {0};
    if (path == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = ki_file_read(path, NAMESPACE_BYTES_MAX, &text, NULL);
    ki_secret_free(path);
    if (rc < 0)
        return rc == KI_ERR_NO_MEMORY ? rc : 0;
    size_t len = strcspn(text.data, " \t\r\n");
    if (len > 0) {
        *out_ns = ki_str_copy((ki_str){text.data, len});
        rc = *out_ns == NULL ? KI_ERR_NO_MEMORY : 0;
    }
    ki_file_text_fini(&text);
    return rc;
}

static int fill(ki_config *config, const char *dir, const char *host, const char *port)
{
    config->server = server_of(host, port);
    config->token_file = ki_path_join(ki_str_of(dir), KI_STR("token"));
    config->ca_file = ki_path_join(ki_str_of(dir), KI_STR("ca.crt"));
    if (config->server == NULL || config->token_file == NULL || config->ca_file == NULL)
        return KI_ERR_NO_MEMORY;
    if (access(config->ca_file, R_OK) != 0) {
        ki_log(KI_LOG_ERROR, "config", KI_LOG_NO_FIELDS,
               "%.200s: %s: the API server is verified against the system's certificate authorities",
               config->ca_file, strerror(errno));
        ki_secret_free(config->ca_file);
        config->ca_file = NULL;
    }
    return read_namespace(dir, &config->ns);
}

int ki_in_cluster_load(ki_config *out_config, const char *dir, ki_error *err)
{
    assert(out_config != NULL);
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    const char *missing = host == NULL || host[0] == 0   ? "KUBERNETES_SERVICE_HOST"
                          : port == NULL || port[0] == 0 ? "KUBERNETES_SERVICE_PORT"
                                                         : NULL;
    if (missing != NULL)
        return ki_fail(err, KI_ERR_NOT_FOUND, "$%s is not set", missing);
    ki_config config = {0};
    int rc = fill(&config, dir, host, port);
    if (rc == 0 && access(config.token_file, F_OK) != 0)
        rc = KI_ERR_NOT_FOUND;
    if (rc == 0) {
        *out_config = config;
        return 0;
    }
    ki_config_fini(&config);
    if (rc == KI_ERR_NOT_FOUND)
        return ki_fail(err, rc, "%s/token: not found", dir);
    return ki_fail_no_memory(err);
}
