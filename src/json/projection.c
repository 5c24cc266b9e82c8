/* SPDX-License-Identifier: Apache-2.0 */
#include "json/projection.h"

#include <assert.h>
#include <kinformer/json.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/refcount.h"

/* While paths are added, the children of a node are a linked list. Afterwards flatten() stores them side by
 * side. */
enum { INHERIT = -1 };

typedef struct draft {
    ki_str name; /* points into `names` of the builder */
    uint32_t child;
    uint32_t sibling;
    uint32_t any;
    int keep; /* 0, 1 or INHERIT */
    int capture;
    int even_if_dropped;
} draft;

typedef struct builder {
    draft *nodes; /* [0] is the root; index 0 as a link means none */
    uint32_t count;
    uint32_t cap;
    char *names;
    size_t names_len;
    ki_error *err;
} builder;

struct ki_projection {
    ki_refcount refs;
    char *names;
    ki_projection_node nodes[]; /* [0] is the root */
};

static int new_node(builder *b, ki_str name, uint32_t *out_index)
{
    if (b->count == KI_PROJECTION_NODES_MAX)
        return ki_fail(b->err, KI_ERR_TOO_LARGE, "the paths of a projection have more than %d parts",
                       KI_PROJECTION_NODES_MAX);
    if (b->count == b->cap) {
        uint32_t cap = b->cap == 0 ? 64 : b->cap * 2;
        draft *nodes = ki_realloc(b->nodes, cap * sizeof(*nodes));
        if (nodes == NULL)
            return ki_fail_no_memory(b->err);
        b->nodes = nodes;
        b->cap = cap;
    }
    *out_index = b->count++;
    b->nodes[*out_index] = (draft){.name = name, .keep = INHERIT, .capture = -1};
    return 0;
}

static uint32_t find_child(const builder *b, uint32_t parent, ki_str name)
{
    assert(parent < b->count);
    uint32_t at = b->nodes[parent].child;
    while (at != 0 && !ki_str_equal(b->nodes[at].name, name))
        at = b->nodes[at].sibling;
    return at;
}

static int child_of(builder *b, uint32_t parent, ki_str name, uint32_t *out_index)
{
    uint32_t at = find_child(b, parent, name);
    if (at == 0) {
        int rc = new_node(b, name, &at);
        if (rc < 0)
            return rc;
        b->nodes[at].sibling = b->nodes[parent].child;
        b->nodes[parent].child = at;
    }
    *out_index = at;
    return 0;
}

static int any_of(builder *b, uint32_t parent, uint32_t *out_index)
{
    assert(parent < b->count && out_index != NULL);
    uint32_t at = b->nodes[parent].any;
    if (at == 0) {
        int rc = new_node(b, (ki_str){0}, &at);
        if (rc < 0)
            return rc;
        b->nodes[parent].any = at;
    }
    *out_index = at;
    return 0;
}

static int bad_path(builder *b, const char *path, const char *why)
{
    return ki_fail(b->err, KI_ERR_INVALID, "projection path \"%s\": %s", path, why);
}

/* Copies the name of a part into the builder's names, with ~0 and ~1 replaced. */
static ki_str copy_name(builder *b, ki_json_spelt name)
{
    char *start = b->names + b->names_len;
    for (size_t i = 0; i < name.text.len; i++) {
        char c = name.text.ptr[i];
        if (c == '~' && name.spelling == KI_JSON_POINTER)
            c = name.text.ptr[++i] == '0' ? '~' : '/';
        b->names[b->names_len++] = c;
    }
    return (ki_str){start, (size_t)(b->names + b->names_len - start)};
}

/* Walks to the node of a path, creating missing nodes. */
static int node_of_path(builder *b, const char *text, uint32_t *out_index)
{
    uint32_t at = 0;
    ki_path path = ki_path_of(text);
    ki_path_part part;
    const char *fault = "";
    int rc;
    while ((rc = ki_path_next(&path, &part, &fault)) == 1) {
        rc = part.is_any ? any_of(b, at, &at) : child_of(b, at, copy_name(b, part.name), &at);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return bad_path(b, text, fault);
    *out_index = at;
    return 0;
}

static int add_paths(builder *b, const char *const *paths, int keep)
{
    for (; paths != NULL && *paths != NULL; paths++) {
        uint32_t at = 0;
        int rc = node_of_path(b, *paths, &at);
        if (rc < 0)
            return rc;
        if (at == 0 && !keep)
            return bad_path(b, *paths, "the whole value cannot be dropped");
        if (b->nodes[at].keep == !keep)
            return bad_path(b, *paths, "both kept and dropped");
        b->nodes[at].keep = keep;
    }
    return 0;
}

static int add_captures(builder *b, const ki_projection_capture *captures, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t at = 0;
        int rc = node_of_path(b, captures[i].path, &at);
        if (rc < 0)
            return rc;
        if (at == 0)
            return bad_path(b, captures[i].path, "the whole value cannot be captured");
        if (b->nodes[at].capture >= 0)
            return bad_path(b, captures[i].path, "captured twice");
        b->nodes[at].capture = (int)i;
        b->nodes[at].even_if_dropped = captures[i].even_if_dropped;
    }
    return 0;
}

/* If a node has children for a name and for *, both apply to the member of that name. So the rules below *
 * are copied below the name, except where the name has rules. The recursion is as deep as the longest
 * path. */
static int merge(builder *b, uint32_t from, uint32_t into)
{
    assert(from != into && from < b->count && into < b->count);
    if (b->nodes[into].keep == INHERIT)
        b->nodes[into].keep = b->nodes[from].keep;
    if (b->nodes[into].capture < 0) {
        b->nodes[into].capture = b->nodes[from].capture;
        b->nodes[into].even_if_dropped = b->nodes[from].even_if_dropped;
    }
    uint32_t target = 0;
    for (uint32_t at = b->nodes[from].child; at != 0; at = b->nodes[at].sibling) {
        int rc = child_of(b, into, b->nodes[at].name, &target);
        if (rc == 0)
            rc = merge(b, at, target);
        if (rc < 0)
            return rc;
    }
    if (b->nodes[from].any == 0)
        return 0;
    int rc = any_of(b, into, &target);
    return rc < 0 ? rc : merge(b, b->nodes[from].any, target);
}

/* Merges the rules of * into those of names, and resolves inheritance, from the root down. */
static int settle(builder *b, uint32_t at, int inherited)
{
    assert(at < b->count);
    if (b->nodes[at].keep == INHERIT)
        b->nodes[at].keep = inherited;
    int keep = b->nodes[at].keep;
    uint32_t any = b->nodes[at].any;
    for (uint32_t child = b->nodes[at].child; child != 0; child = b->nodes[child].sibling) {
        int rc = any == 0 ? 0 : merge(b, any, child);
        if (rc == 0)
            rc = settle(b, child, keep);
        if (rc < 0)
            return rc;
    }
    return any == 0 ? 0 : settle(b, any, keep);
}

static ki_projection_node node_of_draft(const draft *d)
{
    assert(d->keep != INHERIT);
    assert(d->capture < KI_PROJECTION_CAPTURES_MAX);
    return (ki_projection_node){.name = d->name,
                                .keep = (uint8_t)d->keep,
                                .aside = d->even_if_dropped != 0,
                                .capture = (int8_t)d->capture};
}

/* Stores the nodes breadth first, so that the children of a node are side by side. `order[i]` is the draft
 * that became node i. */
static void flatten(const builder *b, ki_projection *projection, uint32_t *order)
{
    uint32_t used = 1;
    order[0] = 0;
    projection->nodes[0] = node_of_draft(&b->nodes[0]);
    for (uint32_t i = 0; i < used; i++) {
        const draft *d = &b->nodes[order[i]];
        ki_projection_node *node = &projection->nodes[i];
        node->first = used;
        for (uint32_t at = d->child; at != 0; at = b->nodes[at].sibling) {
            order[used] = at;
            projection->nodes[used++] = node_of_draft(&b->nodes[at]);
            node->count++;
        }
        if (d->any != 0) {
            order[used] = d->any;
            node->any = used;
            projection->nodes[used++] = node_of_draft(&b->nodes[d->any]);
        }
    }
    assert(used == b->count);
    /* Children come after their parents, so going backwards visits them first. */
    for (uint32_t i = used; i-- > 0;) {
        ki_projection_node *node = &projection->nodes[i];
        node->shell = node->keep;
        for (uint32_t child = 0; child < node->count; child++)
            node->shell |= projection->nodes[node->first + child].shell;
        if (node->any != 0)
            node->shell |= projection->nodes[node->any].shell;
        if (!node->shell && !node->aside)
            node->capture = -1;
    }
}

static int finish(builder *b, ki_projection **out_projection)
{
    assert(b->count > 0 && b->count <= KI_PROJECTION_NODES_MAX);
    ki_projection *projection = ki_calloc(1, sizeof(*projection) + b->count * sizeof(projection->nodes[0]));
    uint32_t *order = ki_malloc(b->count * sizeof(*order));
    if (projection == NULL || order == NULL) {
        ki_free(projection);
        ki_free(order);
        return ki_fail_no_memory(b->err);
    }
    ki_refcount_init(&projection->refs);
    flatten(b, projection, order);
    ki_free(order);
    projection->names = b->names;
    b->names = NULL;
    *out_projection = projection;
    return 0;
}

static size_t bytes_of_names(const ki_projection_options *options)
{
    size_t n = 1;
    for (const char *const *p = options->keep; p != NULL && *p != NULL; p++)
        n += strlen(*p) + KI_PATH_EXTRA_BYTES;
    for (const char *const *p = options->drop; p != NULL && *p != NULL; p++)
        n += strlen(*p) + KI_PATH_EXTRA_BYTES;
    for (size_t i = 0; i < options->capture_count; i++)
        n += strlen(options->captures[i].path) + KI_PATH_EXTRA_BYTES;
    return n;
}

ki_projection *ki_projection_new(const ki_projection_options *options, ki_error *err)
{
    assert(options->capture_count <= KI_PROJECTION_CAPTURES_MAX);
    builder b = {.err = err};
    ki_projection *projection = NULL;
    int keep_all = options->keep == NULL || options->keep[0] == NULL;
    uint32_t root = 0;
    b.names = ki_malloc(bytes_of_names(options));
    int rc = b.names == NULL ? ki_fail_no_memory(err) : new_node(&b, (ki_str){0}, &root);
    if (rc == 0)
        rc = add_paths(&b, options->keep, 1);
    if (rc == 0)
        rc = add_paths(&b, options->drop, 0);
    if (rc == 0)
        rc = add_captures(&b, options->captures, options->capture_count);
    if (rc == 0)
        rc = settle(&b, root, keep_all);
    if (rc == 0)
        rc = finish(&b, &projection);
    ki_free(b.nodes);
    ki_free(b.names);
    return rc < 0 ? NULL : projection;
}

ki_projection *ki_projection_ref(ki_projection *projection)
{
    if (projection != NULL)
        ki_refcount_ref(&projection->refs);
    return projection;
}

void ki_projection_free(ki_projection *projection)
{
    if (projection == NULL || !ki_refcount_unref(&projection->refs))
        return;
    ki_free(projection->names);
    ki_free(projection);
}

const ki_projection_node *ki_projection_root(const ki_projection *projection)
{
    assert(projection != NULL);
    return &projection->nodes[0];
}

/* Compares bytes, which is enough for names without escapes; most names have none. A node's name that needs
 * escapes in JSON never matches here, because it contains a backslash, a quote or a control character. */
static int bytes_equal(const ki_projection_node *node, ki_str name)
{
    return node->name.len + 2 == name.len &&
           (node->name.len == 0 ||
            (node->name.ptr[0] == name.ptr[1] && memcmp(node->name.ptr, name.ptr + 1, node->name.len) == 0));
}

const ki_projection_node *ki_projection_member(const ki_projection *projection,
                                               const ki_projection_node *node, ki_str name)
{
    assert(projection != NULL);
    assert(name.ptr != NULL || name.len == 0);
    if (name.len < 2)
        return NULL;
    const ki_projection_node *children = &projection->nodes[node->first];
    for (uint32_t i = 0; i < node->count; i++)
        if (bytes_equal(&children[i], name))
            return &children[i];
    if (node->count > 0 && memchr(name.ptr, '\\', name.len) != NULL)
        for (uint32_t i = 0; i < node->count; i++)
            if (ki_json_string_equals((ki_json){name}, children[i].name))
                return &children[i];
    return node->any == 0 ? NULL : &projection->nodes[node->any];
}

size_t ki_projection_child_number(const ki_projection *projection, const ki_projection_node *node,
                                  const ki_projection_node *child)
{
    assert(projection != NULL);
    const ki_projection_node *first = &projection->nodes[node->first];
    return child >= first && child < first + node->count ? (size_t)(child - first) : SIZE_MAX;
}

const ki_projection_node *ki_projection_element(const ki_projection *projection,
                                                const ki_projection_node *node)
{
    assert(projection != NULL);
    return node->any == 0 ? NULL : &projection->nodes[node->any];
}

static const ki_projection_node *find_part(const ki_projection *projection, const ki_projection_node *node,
                                           const ki_path_part *part)
{
    const ki_projection_node *children = &projection->nodes[node->first];
    for (uint32_t i = 0; i < node->count && !part->is_any; i++)
        if (ki_json_text_compare((ki_json_spelt){children[i].name, KI_JSON_PLAIN}, part->name) == 0)
            return &children[i];
    return ki_projection_element(projection, node);
}

ki_projection_fate ki_projection_fate_of(const ki_projection *projection, const char *path)
{
    const ki_projection_node *node = ki_projection_root(projection);
    ki_path parts = ki_path_of(path);
    ki_path_part part;
    int rc;
    while ((rc = ki_path_next(&parts, &part, NULL)) == 1) {
        const ki_projection_node *next = find_part(projection, node, &part);
        if (next == NULL)
            return node->keep ? KI_PROJECTION_KEEPS : KI_PROJECTION_DROPS;
        node = next;
    }
    if (rc < 0 || node->keep)
        return KI_PROJECTION_KEEPS;
    return node->shell ? KI_PROJECTION_KEEPS_PART : KI_PROJECTION_DROPS;
}
