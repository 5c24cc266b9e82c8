/* SPDX-License-Identifier: Apache-2.0 */
#include "config/load.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/in_cluster.h"
#include "config/path.h"
#include "config/proxy.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/secret.h"

/* ---- files --------------------------------------------------------------------------------------------- */

/* An optional file that does not exist is skipped. */
static int add_file(ki_kubeconfig *kubeconfig, const char *path, bool is_wanted, ki_error *err)
{
    ki_file_text text = {0};
    ki_error problem = {0};
    int rc = ki_file_read(path, KI_KUBECONFIG_BYTES_MAX, &text, &problem);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc == KI_ERR_NOT_FOUND && !is_wanted)
        return 0;
    if (rc < 0)
        return ki_fail(err, KI_ERR_CONFIG, "%s", problem.message);
    rc = ki_kubeconfig_add(kubeconfig, path, (ki_str){text.data, text.len}, err);
    ki_file_text_fini(&text);
    return rc;
}

static bool has_file(const ki_kubeconfig *kubeconfig, const char *path)
{
    for (const ki_kubeconfig_file *file = kubeconfig->files; file != NULL; file = file->next) {
        if (strcmp(file->path, path) == 0)
            return true;
    }
    return false;
}

/* Adds the files of $KUBECONFIG: names separated by colons, some of which may be empty or duplicates. */
static int add_files(ki_kubeconfig *kubeconfig, const char *list, ki_error *err)
{
    int rc = 0;
    while (*list != 0 && rc == 0) {
        size_t len = strcspn(list, ":");
        char *path = len == 0 ? NULL : ki_str_copy((ki_str){list, len});
        if (len > 0 && path == NULL)
            return ki_fail_no_memory(err);
        if (path != NULL && !has_file(kubeconfig, path))
            rc = add_file(kubeconfig, path, false, err);
        ki_secret_free(path);
        list += len + (list[len] == ':');
    }
    return rc;
}

static int add_home_file(ki_kubeconfig *kubeconfig, ki_error *err)
{
    const char *home = getenv("HOME");
    if (home == NULL || home[0] == 0)
        return 0;
    char *path = ki_path_join(ki_str_of(home), KI_STR(".kube/config"));
    if (path == NULL)
        return ki_fail_no_memory(err);
    int rc = add_file(kubeconfig, path, false, err);
    ki_secret_free(path);
    return rc;
}

/* Relative names in a text that is not from a file are resolved against the working directory. */
static int read_files(ki_kubeconfig *kubeconfig, const ki_config_overrides *overrides, ki_error *err)
{
    const char *list = getenv("KUBECONFIG");
    if (overrides->kubeconfig != NULL && overrides->kubeconfig_text != NULL)
        return ki_fail(err, KI_ERR_CONFIG, "kubeconfig_text: cannot be combined with kubeconfig");
    if (overrides->kubeconfig_text != NULL)
        return ki_kubeconfig_add(kubeconfig, "kubeconfig_text", ki_str_of(overrides->kubeconfig_text), err);
    if (overrides->kubeconfig != NULL)
        return add_file(kubeconfig, overrides->kubeconfig, true, err);
    if (list != NULL && list[0] != 0)
        return add_files(kubeconfig, list, err);
    return add_home_file(kubeconfig, err);
}

/* ---- choosing ------------------------------------------------------------------------------------------ */

static int load_pod(ki_config *config, const char *pod_dir, ki_error *err)
{
    ki_error why = {0};
    int rc = ki_in_cluster_load(config, pod_dir, &why);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    if (rc < 0)
        return ki_fail(err, KI_ERR_CONFIG,
                       "no cluster is configured: there is no kubeconfig ($KUBECONFIG, ~/.kube/config), "
                       "no server was given, and this is not a pod: %s",
                       why.message);
    return 0;
}

static bool asks_for_an_entry(const ki_config_overrides *overrides)
{
    return overrides->context != NULL || overrides->cluster != NULL || overrides->user != NULL;
}

static int choose(ki_config *config, const ki_kubeconfig *kubeconfig, const ki_config_overrides *overrides,
                  const char *pod_dir, ki_error *err)
{
    ki_config_origin origin = {0};
    bool is_pod = ki_kubeconfig_is_empty(kubeconfig) && overrides->kubeconfig == NULL &&
                  overrides->kubeconfig_text == NULL && overrides->server == NULL &&
                  !asks_for_an_entry(overrides);
    int rc = is_pod ? load_pod(config, pod_dir, err)
                    : ki_config_select(config, kubeconfig, overrides, &origin, err);
    if (rc < 0)
        return rc;
    if (ki_config_override(config, overrides, &origin) < 0)
        return ki_fail_no_memory(err);
    rc = ki_config_validate(config, &origin, err);
    if (rc == 0)
        rc = ki_config_check_files(config, &origin, err);
    if (rc == 0 && config->proxy_url == NULL)
        rc = ki_proxy_of_environment(config->server, &config->proxy_url, err);
    return rc;
}

int ki_config_load_with(ki_config *out_config, const ki_config_overrides *overrides, const char *pod_dir,
                        ki_error *err)
{
    assert(out_config != NULL);
    static const ki_config_overrides none = {0};
    ki_kubeconfig kubeconfig = {0};
    ki_config config = {0};
    if (overrides == NULL)
        overrides = &none;
    int rc = read_files(&kubeconfig, overrides, err);
    if (rc == 0)
        rc = choose(&config, &kubeconfig, overrides, pod_dir, err);
    ki_kubeconfig_fini(&kubeconfig);
    if (rc < 0) {
        ki_config_fini(&config);
        return rc;
    }
    *out_config = config;
    return 0;
}

int ki_config_load(ki_config *out_config, const ki_config_overrides *overrides, ki_error *err)
{
    return ki_config_load_with(out_config, overrides, KI_IN_CLUSTER_DIR, err);
}
