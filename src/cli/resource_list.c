/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/resource_list.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"

/* Whether a server might know the name. */
static int is_plausible(ki_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
              c == '.'))
            return 0;
    }
    return name.len > 0;
}

/* kubectl accepts "pod/web-0"; here the name must be a separate word. */
static int fail_named(ki_str text, ki_error *err)
{
    assert(memchr(text.ptr, '/', text.len) != NULL);
    char resource[64];
    char name[128];
    const char *slash = memchr(text.ptr, '/', text.len);
    size_t before = (size_t)(slash - text.ptr);
    cli_shorten(resource, sizeof(resource), (ki_str){text.ptr, before});
    cli_shorten(name, sizeof(name), (ki_str){slash + 1, text.len - before - 1});
    return cli_fail(err,
                    "\"%s/%s\": to follow one object, give its name as a separate argument: "
                    "`kinformer watch %s %s`",
                    resource, name, resource[0] == 0 ? "RESOURCE" : resource, name[0] == 0 ? "NAME" : name);
}

static int find(ki_str name, cli_resource *out, ki_error *err)
{
    assert(name.len > 0 && out->resource == NULL);
    ki_error unknown = {0};
    ki_error not_custom = {0};
    out->resource = ki_resource_find(name, &unknown);
    if (out->resource != NULL)
        return 0;
    out->made = ki_resource_parse(name, &not_custom);
    out->resource = out->made;
    if (out->made != NULL)
        return 0;
    if (not_custom.code == KI_ERR_NO_MEMORY) {
        *err = not_custom;
        return err->code;
    }
    if (memchr(name.ptr, '/', name.len) != NULL)
        return fail_named(name, err);
    if (!is_plausible(name))
        return cli_fail(err, "%s", unknown.message);
    out->wanted = strndup(name.ptr, name.len);
    return out->wanted == NULL ? cli_fail_no_memory(err) : 0;
}

/* The library's message contains suggestions. */
int cli_resource_list_fail_unknown(const cli_resource *item, const char *why, ki_error *err)
{
    assert(item->wanted != NULL);
    ki_error unknown = {0};
    (void)ki_resource_find(ki_str_of(item->wanted), &unknown);
    size_t n = strlen(unknown.message);
    const char *end = n > 0 && unknown.message[n - 1] == '?' ? "" : "."; /* "… did you mean "pods"?" */
    return cli_fail(err,
                    "%s%s %s; to wait for a custom resource, give its full name, for example "
                    "widgets.v1.example.com",
                    unknown.message, end, why);
}

static int is_known(const cli_resource_list *list, const ki_resource *resource)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].resource != NULL && ki_resource_equal(list->items[i].resource, resource))
            return 1;
    return 0;
}

static int is_wanted(const cli_resource_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].wanted != NULL && strcmp(list->items[i].wanted, name) == 0)
            return 1;
    return 0;
}

static void drop(cli_resource *item)
{
    ki_resource_free(item->made);
    free(item->wanted);
    *item = (cli_resource){0};
}

static int add(cli_resource_list *list, ki_str name, ki_error *err)
{
    cli_resource fresh = {0};
    if (name.len == 0)
        return cli_fail(err, "the list of resources has an empty name; write it as pods,services");
    if (list->count == CLI_RESOURCES_MAX)
        return cli_fail(err, "more than %d resources", CLI_RESOURCES_MAX);
    int rc = find(name, &fresh, err);
    if (rc < 0)
        return rc;
    if (fresh.wanted != NULL ? is_wanted(list, fresh.wanted) : is_known(list, fresh.resource))
        drop(&fresh);
    else
        list->items[list->count++] = fresh;
    return 0;
}

/* Whether another version of the same resource is in the list. */
static int has_several_versions(const cli_resource_list *list, size_t which)
{
    assert(which < list->count && list->items[which].resource != NULL);
    const ki_resource *one = list->items[which].resource;
    for (size_t i = 0; i < list->count; i++) {
        const ki_resource *other = list->items[i].resource;
        if (i != which && other != NULL && strcmp(other->plural, one->plural) == 0 &&
            strcmp(other->group, one->group) == 0)
            return 1;
    }
    return 0;
}

static void name_all(cli_resource_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        cli_resource *item = &list->items[i];
        const ki_resource *r = item->resource;
        assert((r == NULL) == (item->wanted != NULL));
        if (r == NULL)
            snprintf(item->name, sizeof(item->name), "%s", item->wanted);
        else if (has_several_versions(list, i))
            snprintf(item->name, sizeof(item->name), "%s.%s.%s", r->plural, r->version, r->group);
        else
            snprintf(item->name, sizeof(item->name), "%s%s%s", r->plural, r->group[0] == 0 ? "" : ".",
                     r->group);
    }
}

int cli_resource_list_parse(const char *text, cli_resource_list *out_list, ki_error *err)
{
    size_t most = 1;
    for (const char *at = text; *at != 0; at++)
        most += *at == ',';
    cli_resource_list list = {.items = calloc(most, sizeof(*list.items))};
    if (list.items == NULL)
        return cli_fail_no_memory(err);
    int rc = 0;
    for (const char *at = text; rc == 0; at++) {
        size_t n = strcspn(at, ",");
        rc = add(&list, (ki_str){at, n}, err);
        at += n;
        if (*at == 0)
            break;
    }
    if (rc < 0) {
        cli_resource_list_fini(&list);
        return rc;
    }
    name_all(&list);
    *out_list = list;
    return 0;
}

cli_resource *cli_resource_list_wanted(const cli_resource_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].wanted != NULL)
            return &list->items[i];
    return NULL;
}

void cli_resource_list_resolve(cli_resource_list *list, cli_resource *item, ki_resource *made)
{
    assert(item >= list->items && item < list->items + list->count);
    assert(made != NULL && item->wanted != NULL && item->resource == NULL);
    size_t behind = list->count - (size_t)(item - list->items) - 1;
    free(item->wanted);
    item->wanted = NULL;
    if (is_known(list, made)) {
        ki_resource_free(made);
        memmove(item, item + 1, behind * sizeof(*item));
        list->count--;
    } else {
        item->resource = item->made = made;
    }
    name_all(list);
}

void cli_resource_list_fini(cli_resource_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        drop(&list->items[i]);
    free(list->items);
    *list = (cli_resource_list){0};
}
