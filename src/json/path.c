/* SPDX-License-Identifier: Apache-2.0 */
#include "json/path.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

static const char label_prefix[] = "label:";

ki_str ki_path_label(const char *text)
{
    assert(text != NULL);
    size_t len = sizeof(label_prefix) - 1;
    return strncmp(text, label_prefix, len) == 0 ? ki_str_of(text + len) : (ki_str){0};
}

ki_path ki_path_of(const char *text)
{
    ki_str label = ki_path_label(text);
    return label.len == 0 ? (ki_path){.at = text} : (ki_path){.at = label.ptr, .labels = 3};
}

static int fail(const char *fault, const char **out_fault)
{
    if (out_fault != NULL)
        *out_fault = fault;
    return KI_ERR_INVALID;
}

static int next_of_label(ki_path *path, ki_path_part *out_part)
{
    static const char *const above[] = {"", "", "labels", "metadata"};
    ki_str name = ki_str_of(path->labels > 1 ? above[path->labels] : path->at);
    if (--path->labels == 0)
        path->at += name.len;
    *out_part = (ki_path_part){.name = {name, KI_JSON_PLAIN}};
    return 1;
}

/* Every tilde is followed by 0 or 1. */
static int is_well_formed(ki_str token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] == '~' && (++i == token.len || (token.ptr[i] != '0' && token.ptr[i] != '1')))
            return 0;
    return 1;
}

int ki_path_next(ki_path *path, ki_path_part *out_part, const char **out_fault)
{
    assert(path != NULL && out_part != NULL);
    if (path->labels > 0)
        return next_of_label(path, out_part);
    if (path->at[0] == 0)
        return 0;
    if (path->at[0] != '/')
        return fail("a path must begin with /", out_fault);
    if (path->depth++ == KI_PATH_DEPTH_MAX)
        return fail("too many parts", out_fault);
    ki_str token = {path->at + 1, strcspn(path->at + 1, "/")};
    if (!is_well_formed(token))
        return fail("~ must be written as ~0", out_fault);
    path->at = token.ptr + token.len;
    *out_part = (ki_path_part){{token, KI_JSON_POINTER}, ki_str_equal(token, KI_STR("*"))};
    return 1;
}
