/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metric_set.h"

#include <assert.h>

/* The rank is derived from the address, mixed so that neighbours in memory get unrelated ranks. */
static uint64_t rank_of(const ki_metric_node *node)
{
    uint64_t x = (uint64_t)(uintptr_t)node;
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U;
    return x ^ (x >> 32);
}

ki_metric_node *ki_metric_set_find(const ki_metric_set *set, ki_str key)
{
    assert(set != NULL);
    assert(key.ptr != NULL || key.len == 0);
    ki_metric_node *node = set->root;
    while (node != NULL) {
        int order = ki_str_compare(key, node->key);
        if (order == 0)
            break;
        node = order < 0 ? node->left : node->right;
    }
    return node;
}

/* Splits a tree into the nodes before `key` and those after it. Each step links the next node on the path
 * to the open end of one of the two trees. This keeps the order of keys, and the node does not rank above
 * its new parent, which was above it before. */
static void split(ki_metric_node *tree, ki_str key, ki_metric_node **before, ki_metric_node **behind)
{
    while (tree != NULL) {
        if (ki_str_compare(tree->key, key) < 0) {
            *before = tree;
            before = &tree->right;
            tree = tree->right;
        } else {
            *behind = tree;
            behind = &tree->left;
            tree = tree->left;
        }
    }
    *before = *behind = NULL;
}

/* The node takes the place of the first node on its path that ranks below it. The subtree of that node is
 * split and becomes the two children of the new node. */
void ki_metric_set_insert(ki_metric_set *set, ki_metric_node *node)
{
    assert(ki_metric_set_find(set, node->key) == NULL);
    ki_metric_node **place = &set->root;
    uint64_t rank = rank_of(node);
    while (*place != NULL && rank_of(*place) >= rank)
        place = ki_str_compare(node->key, (*place)->key) < 0 ? &(*place)->left : &(*place)->right;
    split(*place, node->key, &node->left, &node->right);
    *place = node;
    set->count++;
}

/* Joins two trees. All keys of `left` are before those of `right`. The node with the higher rank becomes
 * the root. */
static void join(ki_metric_node **place, ki_metric_node *left, ki_metric_node *right)
{
    while (left != NULL && right != NULL) {
        if (rank_of(left) >= rank_of(right)) {
            *place = left;
            place = &left->right;
            left = left->right;
        } else {
            *place = right;
            place = &right->left;
            right = right->left;
        }
    }
    *place = left != NULL ? left : right;
}

void ki_metric_set_remove(ki_metric_set *set, ki_metric_node *node)
{
    assert(set != NULL);
    ki_metric_node **place = &set->root;
    while (*place != node) {
        assert(*place != NULL);
        place = ki_str_compare(node->key, (*place)->key) < 0 ? &(*place)->left : &(*place)->right;
    }
    join(place, node->left, node->right);
    node->left = node->right = NULL;
    set->count--;
}

/* The recursion is as deep as the tree. If a node is after the key, so is everything to its right. */
static int walk(ki_metric_node *node, const ki_str *key, ki_metric_set_cb callback, void *user)
{
    while (node != NULL) {
        ki_metric_node *right = node->right;
        if (key == NULL || ki_str_compare(node->key, *key) > 0) {
            int rc = walk(node->left, key, callback, user);
            if (rc == 0)
                rc = callback(node, user);
            if (rc != 0)
                return rc;
            key = NULL;
        }
        node = right;
    }
    return 0;
}

int ki_metric_set_walk(const ki_metric_set *set, const ki_str *key, ki_metric_set_cb callback, void *user)
{
    assert(set != NULL);
    return walk(set->root, key, callback, user);
}
