/* SPDX-License-Identifier: Apache-2.0 */
#include "config/kubeconfig_fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "config/path.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"
#include "util/text/base64.h"

typedef struct field field;

/* Where a field is read from, and where it is stored. */
typedef struct source {
    const ki_kubeconfig_entry *entry;
    const ki_yaml_node *mapping;
    const char *prefix; /* before names of fields: "", "exec." */
    void *target;       /* a ki_config or a ki_config_exec */
    ki_error *err;
} source;

typedef int (*read_cb)(const source *from, const field *what, const ki_yaml_node *node);

struct field {
    const char *name;
    read_cb read;
    size_t offset;
};

/* ---- messages ------------------------------------------------------------------------------------------ */

/* The line of a field such as "exec.command", or of the innermost parent that exists. */
static size_t line_of(const ki_kubeconfig_entry *entry, const char *field_name)
{
    const ki_yaml_node *node = entry->value;
    size_t line = node != NULL ? node->line : entry->item->line;
    char part[64];
    while (node != NULL && *field_name != 0) {
        size_t len = strcspn(field_name, ".[");
        snprintf(part, sizeof(part), "%.*s", (int)len, field_name);
        node = ki_yaml_member(node, part);
        if (node != NULL)
            line = node->line;
        if (field_name[len] == '[')
            break;
        field_name += len + (field_name[len] == '.');
    }
    return line;
}

int ki_kubeconfig_fail_at_field(ki_error *err, const ki_kubeconfig_entry *entry, const char *field_name)
{
    const char *message = err == NULL ? "" : err->message;
    if (entry == NULL)
        return ki_fail(err, KI_ERR_CONFIG, "%s: %s", field_name, message);
    return ki_kubeconfig_fail(err, entry->file, line_of(entry, field_name), "%s[%zu].%s.%s: %s",
                              ki_kubeconfig_list_name(entry->list), entry->index,
                              ki_kubeconfig_entry_kind(entry->list), field_name, message);
}

/* Values are never shown: any of them may be a secret, for example when two fields were mixed up. */
static int refuse(const source *from, const field *what, const ki_yaml_node *node, const char *problem)
{
    const ki_kubeconfig_entry *entry = from->entry;
    return ki_kubeconfig_fail(from->err, entry->file, node->line, "%s[%zu].%s.%s%s: %s",
                              ki_kubeconfig_list_name(entry->list), entry->index,
                              ki_kubeconfig_entry_kind(entry->list), from->prefix, what->name, problem);
}

/* ---- kinds of fields ----------------------------------------------------------------------------------- */

static void *target_of(const source *from, const field *what)
{
    return (char *)from->target + what->offset;
}

/* A null in a list of strings counts as an empty string. */
static ki_str text_of(const ki_yaml_node *scalar)
{
    return scalar == NULL || ki_yaml_is_null(scalar) ? (ki_str){0} : ki_str_of(scalar->text);
}

/* An empty string counts as not set, as in kubectl. Returns 1 if there is text, 0 if not,
 * or KI_ERR_CONFIG. */
static int has_text(const source *from, const field *what, const ki_yaml_node *node)
{
    if (node->kind != KI_YAML_SCALAR)
        return refuse(from, what, node, "is not a string");
    return node->text[0] != 0;
}

static int keep(const source *from, char **target, char *text)
{
    if (text == NULL)
        return ki_fail_no_memory(from->err);
    assert(*target == NULL);
    *target = text;
    return 0;
}

static int read_text(const source *from, const field *what, const ki_yaml_node *node)
{
    int rc = has_text(from, what, node);
    if (rc <= 0)
        return rc;
    return keep(from, target_of(from, what), ki_str_copy(ki_str_of(node->text)));
}

static int read_path(const source *from, const field *what, const ki_yaml_node *node)
{
    int rc = has_text(from, what, node);
    if (rc <= 0)
        return rc;
    return keep(from, target_of(from, what),
                ki_path_join(ki_str_of(from->entry->file->dir), ki_str_of(node->text)));
}

/* A bare name is searched for in $PATH later. */
static int read_command(const source *from, const field *what, const ki_yaml_node *node)
{
    bool is_path = node->kind == KI_YAML_SCALAR && strchr(node->text, '/') != NULL;
    return is_path ? read_path(from, what, node) : read_text(from, what, node);
}

static int read_flag(const source *from, const field *what, const ki_yaml_node *node)
{
    bool value;
    if (!ki_yaml_is_bool(node, &value))
        return refuse(from, what, node, "is neither true nor false");
    *(bool *)target_of(from, what) = value;
    return 0;
}

/* PEM in base64. */
static int read_data(const source *from, const field *what, const ki_yaml_node *node)
{
    int rc = has_text(from, what, node);
    if (rc <= 0)
        return rc;
    size_t capacity = KI_BASE64_DECODED_BYTES(strlen(node->text)) + 1;
    char *pem = ki_malloc(capacity);
    if (pem == NULL)
        return ki_fail_no_memory(from->err);
    size_t len = 0;
    const char *problem = NULL;
    if (ki_base64_decode(ki_str_of(node->text), pem, &len) < 0) {
        problem = "is not base64";
    } else {
        pem[len] = 0;
        if (strlen(pem) != len || strstr(pem, "-----BEGIN ") == NULL)
            problem = "has no PEM data in its base64";
    }
    if (problem == NULL)
        return keep(from, target_of(from, what), pem);
    ki_secret_free_bytes(pem, capacity);
    return refuse(from, what, node, problem);
}

static size_t count_children(const ki_yaml_node *node)
{
    size_t count = 0;
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next)
        count++;
    return count;
}

static int read_texts(const source *from, const field *what, const ki_yaml_node *node)
{
    char ***target = target_of(from, what);
    if (node->kind != KI_YAML_SEQUENCE)
        return refuse(from, what, node, "is not a list");
    if (node->first_child == NULL)
        return 0;
    *target = ki_calloc(count_children(node) + 1, sizeof(**target));
    if (*target == NULL)
        return ki_fail_no_memory(from->err);
    size_t count = 0;
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next) {
        if (child->kind != KI_YAML_SCALAR)
            return refuse(from, what, child, "has an element that is not a string");
        (*target)[count] = ki_str_copy(text_of(child));
        if ((*target)[count++] == NULL)
            return ki_fail_no_memory(from->err);
    }
    return 0;
}

static int read_fields(const source *from, const field *fields, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const ki_yaml_node *node = ki_yaml_member(from->mapping, fields[i].name);
        if (node != NULL && !ki_yaml_is_null(node))
            rc = fields[i].read(from, &fields[i], node);
    }
    return rc;
}

/* ---- exec ---------------------------------------------------------------------------------------------- */

static int read_env_pair(const source *from, const field *what, const ki_yaml_node *node,
                         ki_config_pair *pair)
{
    const ki_yaml_node *name = ki_yaml_member(node, "name");
    const ki_yaml_node *value = ki_yaml_member(node, "value");
    if (node->kind != KI_YAML_MAPPING)
        return refuse(from, what, node, "has an element that is not a mapping");
    if (name == NULL || name->kind != KI_YAML_SCALAR || text_of(name).len == 0)
        return refuse(from, what, node, "has an element without a name");
    if (strchr(name->text, '=') != NULL)
        return refuse(from, what, node, "has a name that contains '='");
    if (value != NULL && value->kind != KI_YAML_SCALAR)
        return refuse(from, what, node, "has a value that is not a string");
    pair->name = ki_str_copy(ki_str_of(name->text));
    pair->value = ki_str_copy(text_of(value));
    return pair->name == NULL || pair->value == NULL ? ki_fail_no_memory(from->err) : 0;
}

static int read_env(const source *from, const field *what, const ki_yaml_node *node)
{
    ki_config_exec *exec = from->target;
    if (node->kind != KI_YAML_SEQUENCE)
        return refuse(from, what, node, "is not a list");
    if (node->first_child == NULL)
        return 0;
    exec->env = ki_calloc(count_children(node), sizeof(*exec->env));
    if (exec->env == NULL)
        return ki_fail_no_memory(from->err);
    int rc = 0;
    for (const ki_yaml_node *child = node->first_child; child != NULL && rc == 0; child = child->next)
        rc = read_env_pair(from, what, child, &exec->env[exec->env_count++]);
    return rc;
}

static const field exec_fields[] = {
    {"apiVersion", read_text, offsetof(ki_config_exec, api_version)},
    {"command", read_command, offsetof(ki_config_exec, command)},
    {"args", read_texts, offsetof(ki_config_exec, args)},
    {"env", read_env, offsetof(ki_config_exec, env)},
    {"installHint", read_text, offsetof(ki_config_exec, install_hint)},
    {"interactiveMode", read_text, offsetof(ki_config_exec, interactive_mode)},
    {"provideClusterInfo", read_flag, offsetof(ki_config_exec, provide_cluster_info)},
};

static int read_exec(const source *from, const field *what, const ki_yaml_node *node)
{
    ki_config *config = from->target;
    if (node->kind != KI_YAML_MAPPING)
        return refuse(from, what, node, "is not a mapping");
    config->exec = ki_calloc(1, sizeof(*config->exec));
    if (config->exec == NULL)
        return ki_fail_no_memory(from->err);
    source inner = *from;
    inner.mapping = node;
    inner.prefix = "exec.";
    inner.target = config->exec;
    return read_fields(&inner, exec_fields, sizeof(exec_fields) / sizeof(exec_fields[0]));
}

/* ---- impersonation ------------------------------------------------------------------------------------- */

static int add_extra(const source *from, const char *name, ki_str value)
{
    ki_config *config = from->target;
    ki_config_pair *pair = &config->as_extra[config->as_extra_count++];
    pair->name = ki_str_copy(ki_str_of(name));
    pair->value = ki_str_copy(value);
    return pair->name == NULL || pair->value == NULL ? ki_fail_no_memory(from->err) : 0;
}

/* Reads a mapping from names to lists of strings; each string becomes a pair. */
static int read_extra(const source *from, const field *what, const ki_yaml_node *node)
{
    ki_config *config = from->target;
    size_t count = 0;
    if (node->kind != KI_YAML_MAPPING)
        return refuse(from, what, node, "is not a mapping");
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next) {
        if (child->kind != KI_YAML_SEQUENCE)
            return refuse(from, what, child, "has a member that is not a list");
        count += count_children(child);
    }
    if (count == 0)
        return 0;
    config->as_extra = ki_calloc(count, sizeof(*config->as_extra));
    if (config->as_extra == NULL)
        return ki_fail_no_memory(from->err);
    for (const ki_yaml_node *child = node->first_child; child != NULL; child = child->next) {
        for (const ki_yaml_node *value = child->first_child; value != NULL; value = value->next) {
            if (value->kind != KI_YAML_SCALAR)
                return refuse(from, what, value, "has an element that is not a string");
            int rc = add_extra(from, child->key, text_of(value));
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static const field cluster_fields[] = {
    {"server", read_text, offsetof(ki_config, server)},
    {"certificate-authority", read_path, offsetof(ki_config, ca_file)},
    {"certificate-authority-data", read_data, offsetof(ki_config, ca_pem)},
    {"insecure-skip-tls-verify", read_flag, offsetof(ki_config, insecure_skip_tls_verify)},
    {"tls-server-name", read_text, offsetof(ki_config, tls_server_name)},
    {"proxy-url", read_text, offsetof(ki_config, proxy_url)},
    {"disable-compression", read_flag, offsetof(ki_config, disable_compression)},
};
static const field context_fields[] = {
    {"cluster", read_text, offsetof(ki_config, cluster)},
    {"user", read_text, offsetof(ki_config, user)},
    {"namespace", read_text, offsetof(ki_config, ns)},
};
static const field user_fields[] = {
    {"token", read_text, offsetof(ki_config, token)},
    {"tokenFile", read_path, offsetof(ki_config, token_file)},
    {"username", read_text, offsetof(ki_config, username)},
    {"password", read_text, offsetof(ki_config, password)},
    {"client-certificate", read_path, offsetof(ki_config, client_certificate_file)},
    {"client-certificate-data", read_data, offsetof(ki_config, client_certificate_pem)},
    {"client-key", read_path, offsetof(ki_config, client_key_file)},
    {"client-key-data", read_data, offsetof(ki_config, client_key_pem)},
    {"as", read_text, offsetof(ki_config, as)},
    {"as-uid", read_text, offsetof(ki_config, as_uid)},
    {"as-groups", read_texts, offsetof(ki_config, as_groups)},
    {"as-user-extra", read_extra, offsetof(ki_config, as_extra)},
    {"exec", read_exec, offsetof(ki_config, exec)},
};

#define READ(config, entry, err, fields)                                                                     \
    read_fields(                                                                                             \
        &(source){                                                                                           \
            .entry = (entry), .mapping = (entry)->value, .prefix = "", .target = (config), .err = (err)},    \
        (fields), sizeof(fields) / sizeof((fields)[0]))

int ki_kubeconfig_read_cluster(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    return READ(config, entry, err, cluster_fields);
}

int ki_kubeconfig_read_context(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    return READ(config, entry, err, context_fields);
}

int ki_kubeconfig_read_user(ki_config *config, const ki_kubeconfig_entry *entry, ki_error *err)
{
    return READ(config, entry, err, user_fields);
}
