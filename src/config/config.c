/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "util/alloc.h"
#include "util/secret.h"

/* The offsets of all texts, so that freeing and copying cannot miss one. */
static const size_t config_texts[] = {
    offsetof(ki_config, server),
    offsetof(ki_config, ca_file),
    offsetof(ki_config, ca_pem),
    offsetof(ki_config, tls_server_name),
    offsetof(ki_config, proxy_url),
    offsetof(ki_config, ns),
    offsetof(ki_config, token),
    offsetof(ki_config, token_file),
    offsetof(ki_config, username),
    offsetof(ki_config, password),
    offsetof(ki_config, client_certificate_file),
    offsetof(ki_config, client_certificate_pem),
    offsetof(ki_config, client_key_file),
    offsetof(ki_config, client_key_pem),
    offsetof(ki_config, as),
    offsetof(ki_config, as_uid),
    offsetof(ki_config, context),
    offsetof(ki_config, cluster),
    offsetof(ki_config, user),
};
static const size_t exec_texts[] = {
    offsetof(ki_config_exec, api_version),    offsetof(ki_config_exec, command),
    offsetof(ki_config_exec, install_hint),   offsetof(ki_config_exec, interactive_mode),
    offsetof(ki_config_exec, cluster_config),
};
enum {
    CONFIG_TEXTS = sizeof(config_texts) / sizeof(config_texts[0]),
    EXEC_TEXTS = sizeof(exec_texts) / sizeof(exec_texts[0]),
};

static char **text_at(void *base, size_t offset)
{
    return (char **)(void *)((char *)base + offset);
}

static void free_texts(void *base, const size_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ki_secret_free(*text_at(base, offsets[i]));
}

/* `base` holds borrowed texts. On success they are all replaced by copies; on failure, texts that could not
 * be copied are NULL. */
static int own_texts(void *base, const size_t *offsets, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        char **text = text_at(base, offsets[i]);
        if (*text == NULL)
            continue;
        *text = rc < 0 ? NULL : ki_str_copy(ki_str_of(*text));
        if (*text == NULL)
            rc = KI_ERR_NO_MEMORY;
    }
    return rc;
}

static int own_list(char ***list)
{
    char **borrowed = *list;
    size_t count = 0;
    *list = NULL;
    if (borrowed == NULL)
        return 0;
    while (borrowed[count] != NULL)
        count++;
    char **copy = ki_calloc(count + 1, sizeof(*copy));
    if (copy == NULL)
        return KI_ERR_NO_MEMORY;
    *list = copy;
    for (size_t i = 0; i < count; i++) {
        copy[i] = ki_str_copy(ki_str_of(borrowed[i]));
        if (copy[i] == NULL)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

static void free_pairs(ki_config_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_secret_free(pairs[i].name);
        ki_secret_free(pairs[i].value);
    }
    ki_free(pairs);
}

static int own_pairs(ki_config_pair **pairs, size_t *count)
{
    const ki_config_pair *borrowed = *pairs;
    size_t wanted = *count;
    *pairs = NULL;
    *count = 0;
    if (wanted == 0)
        return 0;
    *pairs = ki_calloc(wanted, sizeof(**pairs));
    if (*pairs == NULL)
        return KI_ERR_NO_MEMORY;
    *count = wanted;
    for (size_t i = 0; i < wanted; i++) {
        ki_config_pair *pair = &(*pairs)[i];
        pair->name = ki_str_copy(ki_str_of(borrowed[i].name));
        pair->value = ki_str_copy(ki_str_of(borrowed[i].value));
        if (pair->name == NULL || pair->value == NULL)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

static void free_exec(ki_config_exec *exec)
{
    if (exec == NULL)
        return;
    free_texts(exec, exec_texts, EXEC_TEXTS);
    ki_secret_free_list(exec->args);
    free_pairs(exec->env, exec->env_count);
    ki_free(exec);
}

static int own_exec(ki_config_exec **exec)
{
    const ki_config_exec *borrowed = *exec;
    *exec = NULL;
    if (borrowed == NULL)
        return 0;
    ki_config_exec *copy = ki_calloc(1, sizeof(*copy));
    if (copy == NULL)
        return KI_ERR_NO_MEMORY;
    *copy = *borrowed;
    *exec = copy;
    /* Copies everything even after a failure, so that no borrowed pointer is left, which would be freed. */
    int texts = own_texts(copy, exec_texts, EXEC_TEXTS);
    int args = own_list(&copy->args);
    int env = own_pairs(&copy->env, &copy->env_count);
    return texts < 0 || args < 0 || env < 0 ? KI_ERR_NO_MEMORY : 0;
}

void ki_config_fini(ki_config *config)
{
    assert(config != NULL);
    free_texts(config, config_texts, CONFIG_TEXTS);
    ki_secret_free_list(config->as_groups);
    free_pairs(config->as_extra, config->as_extra_count);
    free_exec(config->exec);
    *config = (ki_config){0};
}

bool ki_config_uses_tls(const ki_config *config)
{
    assert(config != NULL);
    if (config->server != NULL && strstr(config->server, "://") != NULL)
        return strncasecmp(config->server, "https://", strlen("https://")) == 0;
    return config->ca_file != NULL || config->ca_pem != NULL || config->insecure_skip_tls_verify ||
           config->client_certificate_file != NULL || config->client_certificate_pem != NULL;
}

int ki_config_copy(ki_config *out_config, const ki_config *config)
{
    assert(out_config != NULL);
    ki_config copy = *config;
    int texts = own_texts(&copy, config_texts, CONFIG_TEXTS);
    int groups = own_list(&copy.as_groups);
    int extra = own_pairs(&copy.as_extra, &copy.as_extra_count);
    int exec = own_exec(&copy.exec);
    if (texts < 0 || groups < 0 || extra < 0 || exec < 0) {
        ki_config_fini(&copy);
        return KI_ERR_NO_MEMORY;
    }
    *out_config = copy;
    return 0;
}
