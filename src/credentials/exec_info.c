/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_info.h"

#include <assert.h>
#include <kinformer/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/secret.h"
#include "util/text/base64.h"

/* Linux limits an environment string to 128 KiB; with a larger one the plug-in would not start. */
enum { CA_BYTES_MAX = 96 * 1024 };

extern char **environ;

/* ---- the cluster --------------------------------------------------------------------------------------- */

static void write_text(ki_json_writer *writer, ki_str name, const char *text)
{
    if (text == NULL)
        return;
    ki_json_write_name(writer, name);
    ki_json_write_string(writer, ki_str_of(text));
}

static void write_flag(ki_json_writer *writer, ki_str name, bool flag)
{
    if (!flag)
        return;
    ki_json_write_name(writer, name);
    ki_json_write_bool(writer, 1);
}

/* The plug-in gets the certificates themselves, whether they come from a file or not. */
static int write_ca(ki_json_writer *writer, const ki_config *config, ki_error *err)
{
    ki_file_text file = {0};
    ki_str pem = ki_str_of(config->ca_pem);
    if (config->ca_pem == NULL && config->ca_file != NULL) {
        int rc = ki_file_read(config->ca_file, CA_BYTES_MAX, &file, err);
        if (rc < 0)
            return rc;
        pem = (ki_str){file.data, file.len};
    }
    if (pem.len == 0) {
        ki_file_text_fini(&file);
        return 0;
    }
    char *base64 = ki_malloc(KI_BASE64_ENCODED_BYTES(pem.len));
    if (base64 != NULL) {
        size_t len = ki_base64_encode(pem, base64);
        ki_json_write_name(writer, KI_STR("certificate-authority-data"));
        ki_json_write_string(writer, (ki_str){base64, len});
    }
    ki_free(base64);
    ki_file_text_fini(&file);
    return base64 == NULL ? ki_fail_no_memory(err) : 0;
}

static int write_cluster(ki_json_writer *writer, const ki_config *config, ki_error *err)
{
    ki_json_write_name(writer, KI_STR("cluster"));
    ki_json_write_object_begin(writer);
    write_text(writer, KI_STR("server"), config->server);
    write_text(writer, KI_STR("tls-server-name"), config->tls_server_name);
    write_flag(writer, KI_STR("insecure-skip-tls-verify"), config->insecure_skip_tls_verify);
    write_flag(writer, KI_STR("disable-compression"), config->disable_compression);
    int rc = write_ca(writer, config, err);
    if (config->exec->cluster_config != NULL) {
        ki_json_write_name(writer, KI_STR("config"));
        ki_json_write_value(writer, ki_json_of(ki_str_of(config->exec->cluster_config)));
    }
    /* Written last: it may contain a password, and a buffer that grows afterwards would leave a copy
     * behind. */
    write_text(writer, KI_STR("proxy-url"), config->proxy_url);
    ki_json_write_object_end(writer);
    return rc;
}

static int write_info(ki_json_writer *writer, const ki_config *config, bool is_interactive, ki_error *err)
{
    int rc = 0;
    ki_json_write_object_begin(writer);
    write_text(writer, KI_STR("kind"), "ExecCredential");
    write_text(writer, KI_STR("apiVersion"), config->exec->api_version);
    ki_json_write_name(writer, KI_STR("spec"));
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("interactive"));
    ki_json_write_bool(writer, is_interactive);
    if (config->exec->provide_cluster_info)
        rc = write_cluster(writer, config, err);
    ki_json_write_object_end(writer);
    ki_json_write_object_end(writer);
    return rc;
}

int ki_exec_info_write(const ki_config *config, bool is_interactive, char **out_json, ki_error *err)
{
    ki_json_writer *writer = ki_json_writer_new(NULL);
    if (writer == NULL)
        return ki_fail_no_memory(err);
    ki_str text = {0};
    char *json = NULL;
    int rc = write_info(writer, config, is_interactive, err);
    if (rc == 0) {
        rc = ki_json_writer_finish(writer, &text, err);
        json = rc < 0 ? NULL : ki_str_copy(text);
        if (rc == 0 && json == NULL)
            rc = ki_fail_no_memory(err);
        /* The address of a proxy may contain a password. */
        if (text.len > 0)
            explicit_bzero((char *)text.ptr, text.len);
    }
    ki_json_writer_free(writer);
    if (rc == 0)
        *out_json = json;
    return rc;
}

/* ---- the environment ----------------------------------------------------------------------------------- */

static char *assignment(const char *name, const char *value)
{
    size_t bytes = strlen(name) + strlen(value) + 2;
    char *text = ki_malloc(bytes);
    if (text != NULL)
        snprintf(text, bytes, "%s=%s", name, value);
    return text;
}

static bool has_name(const char *text, const char *name, size_t len)
{
    return strncmp(text, name, len) == 0 && text[len] == '=';
}

/* Takes `text`, which is NULL when out of memory. */
static bool put(char **environment, size_t *count, char *text)
{
    if (text == NULL)
        return false;
    size_t len = strcspn(text, "=");
    for (size_t i = 0; i < *count; i++) {
        if (has_name(environment[i], text, len)) {
            ki_secret_free(environment[i]);
            environment[i] = text;
            return true;
        }
    }
    environment[(*count)++] = text;
    return true;
}

char **ki_exec_environment_new(const ki_config_exec *exec, const char *info)
{
    assert(exec != NULL);
    size_t ours = 0, count = 0;
    while (environ != NULL && environ[ours] != NULL)
        ours++;
    char **environment = ki_calloc(ours + exec->env_count + 2, sizeof(*environment));
    bool is_complete = environment != NULL;
    for (size_t i = 0; i < ours && is_complete; i++) {
        environment[count] = ki_str_copy(ki_str_of(environ[i]));
        is_complete = environment[count++] != NULL;
    }
    for (size_t i = 0; i < exec->env_count && is_complete; i++)
        is_complete = put(environment, &count, assignment(exec->env[i].name, exec->env[i].value));
    is_complete = is_complete && put(environment, &count, assignment("KUBERNETES_EXEC_INFO", info));
    if (is_complete)
        return environment;
    ki_secret_free_list(environment);
    return NULL;
}
