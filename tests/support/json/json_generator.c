/* SPDX-License-Identifier: Apache-2.0 */
#include "support/json/json_generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/text.h"

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        abort();
    return memory;
}

static int below(ki_random *random, int bound)
{
    return (int)ki_random_below(random, (uint64_t)bound);
}

/* ---- scalars ------------------------------------------------------------------------------------------- */

static uint32_t random_code_point(ki_random *random)
{
    static const uint32_t edges[] = {0x01,  0x1f,   0x20,   '"',    '\\',   '/',    0x7e,   0x7f,    0x80,
                                     0x7ff, 0x800,  0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff,
                                     '<',   0x2028, '\b',   '\f',   '\n',   '\r',   '\t',   '~'};
    switch (below(random, 8)) {
    case 0:
        return edges[below(random, sizeof(edges) / sizeof(edges[0]))];
    case 1:
        return 1 + (uint32_t)below(random, 0x7ff);
    case 2:
        return 0x800 + (uint32_t)below(random, 0xd800 - 0x800);
    case 3:
        return 0x10000 + (uint32_t)below(random, 0x100000);
    default:
        return 0x20 + (uint32_t)below(random, 0x5f);
    }
}

static void fill_string(json_node *node, ki_random *random, int chars_max, int nul)
{
    int chars = chars_max == 0 ? 0 : below(random, chars_max + 1);
    node->type = KI_JSON_STRING;
    node->text = allocate((size_t)chars * 4, 1);
    for (int i = 0; i < chars; i++) {
        uint32_t code_point = nul && below(random, 16) == 0 ? 0 : random_code_point(random);
        node->len += ki_utf8_encode(code_point, node->text + node->len);
    }
}

static void fill_number(json_node *node, ki_random *random, int wild)
{
    int digits = 1 + below(random, below(random, 4) > 0 ? 6 : wild ? 900 : 40);
    node->type = KI_JSON_NUMBER;
    node->negative = below(random, 3) == 0;
    node->text = allocate((size_t)digits, 1);
    node->len = (size_t)digits;
    for (int i = 0; i < digits; i++)
        node->text[i] = (char)('0' + below(random, 10));
    if (node->text[0] == '0')
        node->len = 1;
    if (below(random, 2) == 0)
        node->exponent = below(random, 41) - 20;
    else if (wild && below(random, 3) == 0)
        node->exponent = below(random, 2000001) - 1000000;
}

static void fill_scalar(json_node *node, ki_random *random, const json_limits *limits)
{
    switch (below(random, 8)) {
    case 0:
        node->type = KI_JSON_NULL;
        break;
    case 1:
        node->type = KI_JSON_BOOL;
        node->flag = below(random, 2);
        break;
    case 2:
    case 3:
    case 4:
        fill_number(node, random, limits->wild_numbers);
        break;
    default:
        fill_string(node, random, limits->chars, limits->nul);
        break;
    }
}

/* ---- containers ---------------------------------------------------------------------------------------- */

static void fill(json_node *node, ki_random *random, const json_limits *limits, int depth);

/* Only the index follows the last U+F0000, so all names are different. */
static void fill_name(json_node *name, ki_random *random, const json_limits *limits, size_t index)
{
    char suffix[24];
    fill_string(name, random, limits->chars, 0);
    int len = snprintf(suffix, sizeof(suffix), "\xf3\xb0\x80\x80%zu", index);
    char *text = allocate(name->len + (size_t)len, 1);
    memcpy(text, name->text, name->len);
    memcpy(text + name->len, suffix, (size_t)len);
    free(name->text);
    name->text = text;
    name->len += (size_t)len;
}

static void fill_container(json_node *node, ki_random *random, const json_limits *limits, int depth)
{
    node->type = below(random, 2) == 0 ? KI_JSON_ARRAY : KI_JSON_OBJECT;
    node->count = ki_random_below(random, (uint64_t)limits->items + 1);
    if (depth == limits->depth) /* a root with few items would have few values below it */
        node->count = (size_t)limits->items;
    node->items = allocate(node->count, sizeof(*node->items));
    for (size_t i = 0; i < node->count; i++)
        fill(&node->items[i], random, limits, depth - 1);
    if (node->type == KI_JSON_ARRAY)
        return;
    node->names = allocate(node->count, sizeof(*node->names));
    for (size_t i = 0; i < node->count; i++)
        fill_name(&node->names[i], random, limits, i);
}

static void fill(json_node *node, ki_random *random, const json_limits *limits, int depth)
{
    if (depth > 0 && (depth == limits->depth || below(random, 3) > 0))
        fill_container(node, random, limits, depth);
    else
        fill_scalar(node, random, limits);
}

json_node *json_node_random(ki_random *random, const json_limits *limits)
{
    json_node *node = allocate(1, sizeof(*node));
    fill(node, random, limits, limits->depth);
    return node;
}

static void clear(json_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        clear(&node->items[i]);
    for (size_t i = 0; node->names != NULL && i < node->count; i++)
        free(node->names[i].text);
    free(node->items);
    free(node->names);
    free(node->text);
    *node = (json_node){0};
}

void json_node_free(json_node *node)
{
    if (node != NULL)
        clear(node);
    free(node);
}

/* ---- mutation ------------------------------------------------------------------------------------------ */

static void mutate_string(json_node *node)
{
    char *text = allocate(node->len + 1, 1);
    memcpy(text, node->text, node->len);
    text[node->len++] = 'x';
    free(node->text);
    node->text = text;
}

static void mutate_leaf(json_node *node, ki_random *random)
{
    switch (node->type) {
    case KI_JSON_STRING:
        mutate_string(node);
        break;
    case KI_JSON_NUMBER:
        if (node->text[0] == '0' || below(random, 2) == 0)
            node->text[0] = node->text[0] == '9' ? '1' : (char)(node->text[0] + 1);
        else
            node->exponent++;
        break;
    case KI_JSON_BOOL:
        node->flag = !node->flag;
        break;
    default:
        clear(node);
        node->type = KI_JSON_BOOL;
        break;
    }
}

void json_node_mutate(json_node *root, ki_random *random)
{
    json_node *node = root;
    while (node->count > 0) {
        size_t i = ki_random_below(random, node->count);
        if (node->names != NULL && below(random, 10) == 0) {
            mutate_string(&node->names[i]);
            return;
        }
        node = &node->items[i];
    }
    mutate_leaf(node, random);
}
