/* SPDX-License-Identifier: Apache-2.0 */
#include "config/impersonation.h"

#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* RFC 9110's characters of a name, without '%', which begins an escape. */
static bool is_name_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && strchr("!#$&'*+-.^_`|~", c) != NULL);
}

static bool is_value(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    }
    return true;
}

/* The names of extra fields are any text; what a header's name cannot have is escaped. */
static void write_escaped(char *out, const char *name)
{
    for (; *name != 0; name++) {
        if (is_name_character(*name))
            *out++ = *name;
        else
            out += sprintf(out, "%%%02X", (unsigned)(unsigned char)*name);
    }
    *out = 0;
}

typedef struct headers {
    char **items;
    size_t count;
    ki_error *err;
} headers;

static int add(headers *list, const char *name, const char *extra, const char *value)
{
    if (!is_value(value))
        return ki_fail(list->err, KI_ERR_CONFIG, "%s has a character that no header can have", name);
    size_t bytes = strlen(name) + 3 * strlen(extra) + strlen(": ") + strlen(value) + 1;
    char *header = ki_malloc(bytes);
    if (header == NULL)
        return ki_fail_no_memory(list->err);
    size_t len = strlen(name);
    memcpy(header, name, len);
    write_escaped(header + len, extra);
    len = strlen(header);
    snprintf(header + len, bytes - len, ": %s", value);
    list->items[list->count++] = header;
    return 0;
}

static int add_all(headers *list, const ki_config *config)
{
    int rc = 0;
    if (config->as != NULL)
        rc = add(list, "Impersonate-User", "", config->as);
    if (rc == 0 && config->as_uid != NULL)
        rc = add(list, "Impersonate-Uid", "", config->as_uid);
    for (size_t i = 0; rc == 0 && config->as_groups != NULL && config->as_groups[i] != NULL; i++)
        rc = add(list, "Impersonate-Group", "", config->as_groups[i]);
    for (size_t i = 0; rc == 0 && i < config->as_extra_count; i++)
        rc = add(list, "Impersonate-Extra-", config->as_extra[i].name, config->as_extra[i].value);
    return rc;
}

int ki_impersonation_new(const ki_config *config, char ***out_headers, ki_error *err)
{
    size_t count = 2 + config->as_extra_count;
    for (size_t i = 0; config->as_groups != NULL && config->as_groups[i] != NULL; i++)
        count++;
    headers list = {.items = ki_calloc(count + 1, sizeof(*list.items)), .err = err};
    if (list.items == NULL)
        return ki_fail_no_memory(err);
    int rc = add_all(&list, config);
    if (rc < 0) {
        ki_impersonation_free(list.items);
        return rc;
    }
    *out_headers = list.items;
    return 0;
}

void ki_impersonation_free(char **items)
{
    for (size_t i = 0; items != NULL && items[i] != NULL; i++)
        ki_secret_free(items[i]);
    ki_free(items);
}
