/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_compare.h"

#include <assert.h>
#include <kinformer/rest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"

enum { PAGE_ITEMS = 500, LINE_BYTES = 512 };

/* ---- two lists ----------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const ki_object *const *left = a;
    const ki_object *const *right = b;
    return ki_str_compare(ki_object_key_str(*left), ki_object_key_str(*right));
}

static void sort(ki_object_list *list)
{
    if (list->count > 1)
        qsort(list->objects, list->count, sizeof(ki_object *), compare_keys);
}

/* One of the objects may be NULL: then it is missing on that side. */
static void tell(const ki_object *cached, const ki_object *served, cli_demo_differ_cb differ, void *user)
{
    assert(cached != NULL || served != NULL);
    char line[LINE_BYTES];
    const ki_object *either = cached != NULL ? cached : served;
    ki_str cached_version = cached == NULL ? KI_STR("nothing") : ki_object_resource_version(cached);
    ki_str served_version = served == NULL ? KI_STR("nothing") : ki_object_resource_version(served);
    snprintf(line, sizeof(line), "%s: the cache has %.*s, the server has %.*s", ki_object_key(either),
             KI_STR_ARGS(cached_version), KI_STR_ARGS(served_version));
    differ(line, user);
}

/* Compares the next objects: negative if the first is only in the cache, positive if it is only on the
 * server. */
static int order(const ki_object_list *cached, size_t c, const ki_object_list *served, size_t s)
{
    assert(c < cached->count || s < served->count);
    if (c == cached->count)
        return 1;
    if (s == served->count)
        return -1;
    return compare_keys(&cached->objects[c], &served->objects[s]);
}

size_t cli_demo_compare_lists(ki_object_list *cached, ki_object_list *served, cli_demo_differ_cb differ,
                              void *user)
{
    size_t different = 0;
    size_t c = 0;
    size_t s = 0;
    sort(cached);
    sort(served);
    while (c < cached->count || s < served->count) {
        int which = order(cached, c, served, s);
        const ki_object *ours = which <= 0 ? cached->objects[c++] : NULL;
        const ki_object *theirs = which >= 0 ? served->objects[s++] : NULL;
        if (ours != NULL && theirs != NULL &&
            ki_str_equal(ki_object_resource_version(ours), ki_object_resource_version(theirs)))
            continue;
        different++;
        tell(ours, theirs, differ, user);
    }
    return different;
}

/* ---- the server's objects ------------------------------------------------------------------------------ */

typedef struct reading {
    ki_client *client;
    ki_rest_request request;
    ki_object_list *served;
    char *token; /* of the next page; "" for the first, and after the last */
} reading;

static int take_page(ki_object_list *served, const ki_rest_answer *page, ki_error *err)
{
    assert(page->object_count == 0 || page->objects != NULL);
    if (page->refused_count > 0)
        return cli_fail(err, "the server listed objects without a name");
    if (page->object_count == 0)
        return 0;
    size_t bytes = (served->count + page->object_count) * sizeof(ki_object *);
    ki_object **grown = realloc(served->objects, bytes);
    if (grown == NULL)
        return cli_fail_no_memory(err);
    served->objects = grown;
    for (size_t i = 0; i < page->object_count; i++)
        served->objects[served->count++] = ki_object_ref(page->objects[i]);
    return 0;
}

static int read_page(reading *it, ki_error *err)
{
    assert(it->token != NULL);
    ki_rest_answer page = {0};
    it->request.list.continue_token = ki_str_of(it->token);
    int rc = ki_rest_run(it->client, &it->request, &page, err);
    if (rc == 0)
        rc = take_page(it->served, &page, err);
    if (rc == 0) {
        ki_str next = page.continue_token;
        free(it->token);
        it->token = strndup(next.len > 0 ? next.ptr : "", next.len);
        rc = it->token == NULL ? cli_fail_no_memory(err) : 0;
    }
    ki_rest_answer_fini(&page);
    return rc;
}

int cli_demo_served_read(ki_client *client, const ki_resource *resource, ki_object_list *served,
                         ki_error *err)
{
    reading it = {.client = client,
                  .request = {.verb = KI_REST_LIST, .resource = resource, .list = {.limit = PAGE_ITEMS}},
                  .served = served,
                  .token = strdup("")};
    if (it.token == NULL)
        return cli_fail_no_memory(err);
    int rc = read_page(&it, err);
    while (rc == 0 && it.token[0] != 0)
        rc = read_page(&it, err);
    free(it.token);
    return rc;
}

void cli_demo_served_fini(ki_object_list *served)
{
    for (size_t i = 0; i < served->count; i++)
        (void)ki_object_unref(served->objects[i]);
    free(served->objects);
    *served = (ki_object_list){0};
}
