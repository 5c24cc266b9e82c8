/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/reflector_setup.h"

#include <assert.h>
#include <kinformer/selector.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/text/str.h"

/* ---- copying ------------------------------------------------------------------------------------------ */

/* One block: the source if there is one, the pointers of the paths, then all texts. */
typedef struct block {
    const char **paths;
    char *text;
} block;

static size_t text_bytes(const char *text)
{
    return text == NULL ? 1 : strlen(text) + 1;
}

static size_t paths_bytes(const char *const *paths)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ki_str_count(paths); i++)
        bytes += text_bytes(paths[i]);
    return bytes;
}

static const char *copy_text(block *to, const char *text)
{
    char *copy = to->text;
    size_t bytes = text_bytes(text);
    memcpy(copy, text == NULL ? "" : text, bytes);
    to->text += bytes;
    return copy;
}

static const char *const *copy_paths(block *to, const char *const *paths)
{
    if (paths == NULL)
        return NULL;
    const char **copy = to->paths;
    size_t count = ki_str_count(paths);
    for (size_t i = 0; i < count; i++)
        copy[i] = copy_text(to, paths[i]);
    copy[count] = NULL;
    to->paths += count + 1;
    return copy;
}

static int fail_selector(const char *who, const char *option, const ki_error *why, ki_error *err)
{
    if (why->code == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return ki_fail(err, KI_ERR_INVALID, "%s: %s: %s", who, option, why->message);
}

static int check_selectors(const char *who, const ki_informer_options *options, ki_error *err)
{
    ki_error why = {0};
    ki_selector *selector = ki_selector_parse(ki_str_of(options->label_selector), &why);
    ki_selector_free(selector);
    if (selector == NULL)
        return fail_selector(who, "label_selector", &why, err);
    ki_str fields = ki_str_of(options->field_selector);
    if (fields.len > 0 && ki_field_selector_format(fields, NULL, 0, &why) < 0)
        return fail_selector(who, "field_selector", &why, err);
    return 0;
}

static int check(const char *who, const ki_informer_options *options, ki_error *err)
{
    if (options->watch_list < KI_WATCH_LIST_AUTO || options->watch_list > KI_WATCH_LIST_NEVER)
        return ki_fail(err, KI_ERR_INVALID, "%s: %d is not a ki_watch_list", who, options->watch_list);
    if (options->mutations < KI_MUTATIONS_AUTO || options->mutations > KI_MUTATIONS_IGNORE)
        return ki_fail(err, KI_ERR_INVALID, "%s: %d is not a ki_mutations", who, options->mutations);
    if (options->wire < KI_WIRE_AUTO || options->wire > KI_WIRE_PROTOBUF)
        return ki_fail(err, KI_ERR_INVALID, "%s: %d is not a ki_wire", who, options->wire);
    if (options->page_size < -1)
        return ki_fail(err, KI_ERR_INVALID, "%s: invalid page size %lld", who, (long long)options->page_size);
    if (options->list_watch != NULL &&
        (options->list_watch->begin == NULL || options->list_watch->cancel == NULL ||
         options->list_watch->resume == NULL))
        return ki_fail(err, KI_ERR_INVALID, "%s: a list_watch without begin, cancel or resume", who);
    return check_selectors(who, options, err);
}

int ki_reflector_setup_init(ki_reflector_setup *setup, const ki_resource *resource,
                            const ki_informer_options *options, ki_error *err)
{
    assert(setup != NULL);
    static const ki_informer_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    bool has_name = resource != NULL && resource->plural != NULL; /* the resource may be invalid */
    int rc = check(has_name ? resource->plural : "informer", options, err);
    if (rc < 0)
        return rc;
    size_t source_bytes = options->list_watch == NULL ? 0 : sizeof(*options->list_watch);
    size_t pointers = ki_str_count(options->keep) + ki_str_count(options->drop) + 2;
    size_t bytes = text_bytes(options->ns) + text_bytes(options->label_selector) +
                   text_bytes(options->field_selector) + text_bytes(options->name) +
                   paths_bytes(options->keep) + paths_bytes(options->drop);
    char *memory = ki_malloc(source_bytes + pointers * sizeof(char *) + bytes);
    if (memory == NULL)
        return ki_fail_no_memory(err);
    block to = {(const char **)(void *)(memory + source_bytes),
                memory + source_bytes + pointers * sizeof(char *)};
    *setup = (ki_reflector_setup){.options = *options, .memory = memory};
    if (options->list_watch != NULL)
        setup->options.list_watch = memcpy(memory, options->list_watch, source_bytes);
    setup->options.keep = copy_paths(&to, options->keep);
    setup->options.drop = copy_paths(&to, options->drop);
    setup->options.ns = copy_text(&to, options->ns);
    setup->options.label_selector = copy_text(&to, options->label_selector);
    setup->options.field_selector = copy_text(&to, options->field_selector);
    setup->options.name = options->name == NULL ? NULL : copy_text(&to, options->name);
    return 0;
}

int ki_reflector_setup_check(const ki_reflector_setup *setup, const ki_resource *resource, ki_error *err)
{
    assert(setup != NULL);
    const char *ns = setup->options.ns;
    if (resource->scope == KI_SCOPE_CLUSTER && ns[0] != 0)
        return ki_fail(err, KI_ERR_INVALID,
                       "informer: %s are not namespaced, but the namespace \"%s\" is given", resource->plural,
                       ns);
    return 0;
}

int ki_reflector_setup_join(const ki_reflector_setup *setup, const ki_resource *resource, ki_client *client,
                            ki_client_user *alive)
{
    assert(setup != NULL);
    const ki_informer_options *options = &setup->options;
    char name[KI_CLIENT_NAME_BYTES];
    (void)snprintf(name, sizeof(name), "%s%s%s", resource->plural, options->ns[0] == 0 ? "" : "/",
                   options->ns);
    return ki_client_join(client, alive, options->name == NULL ? name : options->name);
}

void ki_reflector_setup_fini(ki_reflector_setup *setup)
{
    assert(setup != NULL);
    ki_free(setup->memory);
    *setup = (ki_reflector_setup){0};
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

static bool same_paths(const char *const *a, const char *const *b)
{
    size_t count = ki_str_count(a);
    if (count != ki_str_count(b))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

static bool same_texts(const ki_informer_options *a, const ki_informer_options *b)
{
    return same_text(a->ns, b->ns) && same_text(a->label_selector, b->label_selector) &&
           same_text(a->field_selector, b->field_selector) && same_text(a->name, b->name) &&
           same_paths(a->keep, b->keep) && same_paths(a->drop, b->drop);
}

static bool same_numbers(const ki_informer_options *a, const ki_informer_options *b)
{
    return a->keep_managed_fields == b->keep_managed_fields && a->deliver_unchanged == b->deliver_unchanged &&
           a->object_bytes_max == b->object_bytes_max && a->object_depth_max == b->object_depth_max &&
           a->pages_max == b->pages_max && a->resync_ms == b->resync_ms && a->page_size == b->page_size &&
           a->watch_list == b->watch_list && a->wire == b->wire && a->mutations == b->mutations &&
           a->backoff_ms == b->backoff_ms && a->backoff_max_ms == b->backoff_max_ms &&
           a->queue_items_max == b->queue_items_max && a->queue_bytes_max == b->queue_bytes_max;
}

/* Compares the content, because the address of a freed source may be reused for another. */
static bool same_sources(const ki_list_watch *a, const ki_list_watch *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->begin == b->begin && a->cancel == b->cancel && a->resume == b->resume &&
           a->release == b->release && a->user == b->user && a->no_watch_list == b->no_watch_list;
}

static bool same_callbacks(const ki_informer_options *a, const ki_informer_options *b)
{
    return a->transform == b->transform && a->transform_user == b->transform_user && a->tweak == b->tweak &&
           a->tweak_user == b->tweak_user && same_sources(a->list_watch, b->list_watch);
}

bool ki_reflector_setup_equal(const ki_reflector_setup *a, const ki_reflector_setup *b)
{
    assert(a != NULL);
    return same_texts(&a->options, &b->options) && same_numbers(&a->options, &b->options) &&
           same_callbacks(&a->options, &b->options);
}

/* Hashes only options that usually differ between the informers of a factory;
 * numbers and paths are left out. */
uint64_t ki_reflector_setup_hash(const ki_reflector_setup *setup, const ki_resource *resource,
                                 const ki_hash_key *key)
{
    assert(setup != NULL);
    const ki_informer_options *options = &setup->options;
    const void *users[] = {options->list_watch == NULL ? NULL : options->list_watch->user,
                           options->transform_user, options->tweak_user};
    const char *texts[] = {resource->group,         resource->version,       resource->plural, options->ns,
                           options->label_selector, options->field_selector, options->name};
    uint64_t hash = ki_hash(key, (ki_str){(const char *)users, sizeof(users)});
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        hash = hash * 31 + ki_hash(key, ki_str_of(texts[i]));
    return hash;
}
