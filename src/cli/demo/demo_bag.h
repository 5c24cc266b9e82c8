/* SPDX-License-Identifier: Apache-2.0 */
/* demo_bag - a set of small numbers with random draws in constant time.
 *
 *   From:     cli/demo/demo_cluster.c and its parts, cli/demo/demo_life.c and cli/demo/demo_pods.c: pods in
 *             transition, deployments that are not settled
 *   To:       cli/demo/demo_random.h
 *   Locks:    none.
 */
#ifndef KI_CLI_DEMO_DEMO_BAG_H
#define KI_CLI_DEMO_DEMO_BAG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cli/demo/demo_random.h"

typedef struct cli_demo_bag {
    uint32_t *items;
    uint32_t *places; /* the index of each number in `items` plus one; 0 if it is not in the set */
    uint32_t count;
} cli_demo_bag;

/* For numbers below `bound`. Returns 1, or 0 when out of memory; cli_demo_bag_fini() is allowed in both
 * cases. */
static inline int cli_demo_bag_init(cli_demo_bag *bag, size_t bound)
{
    assert(bound > 0);
    *bag = (cli_demo_bag){calloc(bound, sizeof(uint32_t)), calloc(bound, sizeof(uint32_t)), 0};
    return bag->items != NULL && bag->places != NULL;
}

static inline void cli_demo_bag_fini(cli_demo_bag *bag)
{
    free(bag->items);
    free(bag->places);
    *bag = (cli_demo_bag){0};
}

static inline int cli_demo_bag_has(const cli_demo_bag *bag, uint32_t item)
{
    return bag->places[item] != 0;
}

static inline void cli_demo_bag_add(cli_demo_bag *bag, uint32_t item)
{
    if (cli_demo_bag_has(bag, item))
        return;
    bag->items[bag->count++] = item;
    bag->places[item] = bag->count;
}

/* The last item takes the place of the removed one. */
static inline void cli_demo_bag_remove(cli_demo_bag *bag, uint32_t item)
{
    if (!cli_demo_bag_has(bag, item))
        return;
    assert(bag->count > 0 && bag->items[bag->places[item] - 1] == item);
    uint32_t last = bag->items[--bag->count];
    bag->items[bag->places[item] - 1] = last;
    bag->places[last] = bag->places[item];
    bag->places[item] = 0;
}

/* The bag must not be empty. */
static inline uint32_t cli_demo_bag_draw(const cli_demo_bag *bag, cli_demo_random *random)
{
    assert(bag->count > 0);
    return bag->items[cli_demo_random_below(random, bag->count)];
}

#endif
