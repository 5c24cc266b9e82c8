/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/impersonation.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"
#include "util/text/byte.h"

/* The characters that RFC 9110 allows in a header name, without '%', which begins an escape. */
static bool is_name_character(char c)
{
    return ki_byte_is_letter_or_digit(c) || (c != 0 && strchr("!#$&'*+-.^_`|~", c) != NULL);
}

static bool is_value(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    }
    return true;
}

/* The name of an extra field may be any text; characters that are not allowed in a header name are escaped.
 * Returns the end of the written text. */
static char *write_escaped(char *out, const char *name)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *name != 0; name++) {
        unsigned char c = (unsigned char)*name;
        if (is_name_character(*name)) {
            *out++ = *name;
        } else {
            *out++ = '%';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        }
    }
    return out;
}

typedef struct header_list {
    char **items;
    size_t count;
    ki_error *err;
} header_list;

static int add(header_list *list, const char *name, const char *extra, const char *value)
{
    if (!is_value(value))
        return ki_fail(list->err, KI_ERR_CONFIG, "%s contains a character that is not allowed in a header",
                       name);
    size_t bytes = strlen(name) + 3 * strlen(extra) + strlen(": ") + strlen(value) + 1;
    char *header = ki_malloc(bytes);
    if (header == NULL)
        return ki_fail_no_memory(list->err);
    char *end = write_escaped(header + snprintf(header, bytes, "%s", name), extra);
    snprintf(end, bytes - (size_t)(end - header), ": %s", value);
    list->items[list->count++] = header;
    return 0;
}

static int add_all(header_list *list, const ki_config *config)
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
    assert(config != NULL);
    size_t count = 2 + config->as_extra_count;
    for (size_t i = 0; config->as_groups != NULL && config->as_groups[i] != NULL; i++)
        count++;
    header_list list = {.items = ki_calloc(count + 1, sizeof(*list.items)), .err = err};
    if (list.items == NULL)
        return ki_fail_no_memory(err);
    int rc = add_all(&list, config);
    if (rc < 0) {
        ki_secret_free_list(list.items);
        return rc;
    }
    *out_headers = list.items;
    return 0;
}
