/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/correlator.h"

#include <assert.h>

#include "util/token_bucket.h"
#include "util/units.h"

enum { DIFFERENT_MESSAGES = 10, BURST = 25 };

static const uint64_t similar_ns = 600 * KI_NS_PER_S, refill_ns = 300 * KI_NS_PER_S;

/* The messages of similar events, which are equal in everything else. */
typedef struct group {
    ki_lru_node node;
    uint64_t last_ns;
    uint64_t messages[DIFFERENT_MESSAGES - 1]; /* hashes of the messages that have their own event */
    size_t count;
} group;

/* An event that was sent to the server. */
typedef struct known {
    ki_lru_node node;
    uint64_t number;
    int64_t first_wall_ns;
    uint32_t count;
} known;

typedef struct source {
    ki_lru_node node;
    ki_token_bucket bucket;
} source;

void ki_correlator_init(ki_correlator *correlator, const ki_recorded_hash *hash)
{
    correlator->hash = hash;
    ki_lru_init(&correlator->similar, sizeof(group), KI_CORRELATOR_KEYS, NULL);
    ki_lru_init(&correlator->identical, sizeof(known), KI_CORRELATOR_KEYS, NULL);
    ki_lru_init(&correlator->sources, sizeof(source), KI_CORRELATOR_KEYS, NULL);
}

void ki_correlator_fini(ki_correlator *correlator)
{
    ki_lru_fini(&correlator->similar);
    ki_lru_fini(&correlator->identical);
    ki_lru_fini(&correlator->sources);
}

/* Finds or adds the item. *out_is_new: it was added, and is zeroed. Returns NULL when out of memory. */
static void *item_of(ki_lru *lru, ki_lru_key key, bool *out_is_new)
{
    ki_lru_node *item = ki_lru_find(lru, key);
    *out_is_new = item == NULL;
    return item != NULL ? item : ki_lru_add(lru, key);
}

static bool has_message(const group *g, uint64_t message)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->messages[i] == message)
            return true;
    return false;
}

/* Whether the combined event of all similar ones replaces this event. When there are ten messages, client-go
 * forgets an arbitrary one; here it is the tenth, so that the other nine keep their events. */
static bool is_combined(ki_correlator *correlator, const ki_recorded *event, ki_lru_key key, uint64_t now_ns)
{
    bool is_new;
    group *g = item_of(&correlator->similar, key, &is_new);
    if (g == NULL)
        return false;
    if (!is_new && now_ns - g->last_ns > similar_ns)
        g->count = 0;
    g->last_ns = now_ns;
    uint64_t message = ki_hash(&correlator->hash->a, event->parts[KI_RECORDED_MESSAGE]);
    if (has_message(g, message))
        return false;
    if (g->count == DIFFERENT_MESSAGES - 1)
        return true;
    assert(g->count < DIFFERENT_MESSAGES - 1);
    g->messages[g->count++] = message;
    return false;
}

static void count(ki_correlator *correlator, ki_lru_key key, ki_event_write *write)
{
    bool is_new;
    known *k = item_of(&correlator->identical, key, &is_new);
    if (k == NULL)
        return;
    if (is_new) {
        k->number = write->number;
        k->first_wall_ns = write->first_wall_ns;
    }
    k->count += k->count < INT32_MAX;
    write->is_patch = !is_new;
    write->number = k->number;
    write->first_wall_ns = k->first_wall_ns;
    write->count = k->count;
}

static bool is_spam(ki_correlator *correlator, ki_lru_key key, uint64_t now_ns)
{
    bool is_new;
    source *s = item_of(&correlator->sources, key, &is_new);
    if (s == NULL)
        return false;
    if (is_new)
        ki_token_bucket_init(&s->bucket, refill_ns, BURST);
    return ki_token_bucket_take(&s->bucket, now_ns) != 0;
}

bool ki_correlator_take(ki_correlator *correlator, ki_recorded *event, uint64_t now_ns, int64_t wall_ns,
                        ki_event_write *out_write)
{
    assert(correlator->hash != NULL && out_write != NULL);
    const ki_recorded_hash *hash = correlator->hash;
    ki_lru_key similar = ki_recorded_key(event, KI_RECORDED_REASON, hash);
    ki_event_write write = {.number = event->number, .count = 1};
    write.is_combined = is_combined(correlator, event, similar, now_ns);
    write.first_wall_ns = write.last_wall_ns = write.is_combined ? wall_ns : event->wall_ns;
    count(correlator, write.is_combined ? similar : ki_recorded_identity(event, hash), &write);
    if (is_spam(correlator, ki_recorded_key(event, KI_RECORDED_TYPE, hash), now_ns))
        return false;
    write.event = ki_recorded_ref(event);
    *out_write = write;
    return true;
}
