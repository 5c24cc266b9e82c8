/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/series.h"

#include <assert.h>

#include "controller/correlator.h"
#include "util/units.h"

static const uint64_t refresh_ns = 1800 * KI_NS_PER_S, finish_ns = 360 * KI_NS_PER_S;

typedef struct entry {
    ki_lru_node node;
    ki_list_node by_write;
    ki_recorded *event;   /* the first event */
    uint64_t observed_ns; /* when the last event was recorded */
    int64_t observed_wall_ns;
    uint64_t written_ns;
    uint32_t count;         /* 0: no series yet */
    uint32_t count_written; /* as last written to the server */
} entry;

static entry *entry_of(ki_lru_node *node)
{
    return KI_CONTAINER_OF(node, entry, node);
}

static void drop(ki_lru_node *item)
{
    entry *e = entry_of(item);
    ki_list_remove(&e->by_write);
    ki_recorded_unref(e->event);
    e->event = NULL;
}

void ki_series_init(ki_series *series, const ki_recorded_hash *hash)
{
    series->hash = hash;
    ki_lru_init(&series->entries, sizeof(entry), KI_CORRELATOR_KEYS, drop);
    ki_list_init(&series->written);
}

void ki_series_fini(ki_series *series)
{
    ki_lru_fini(&series->entries);
}

static ki_event_write create(ki_recorded *event)
{
    return (ki_event_write){.event = ki_recorded_ref(event),
                            .number = event->number,
                            .first_wall_ns = event->wall_ns,
                            .last_wall_ns = event->wall_ns};
}

static ki_event_write patch(ki_series *series, entry *e, uint64_t now_ns)
{
    assert(e->event != NULL && e->count >= 2);
    ki_event_write write = create(e->event);
    write.is_patch = true;
    write.count = e->count;
    write.last_wall_ns = e->observed_wall_ns;
    e->count_written = e->count;
    e->written_ns = now_ns;
    ki_list_remove(&e->by_write);
    ki_list_push_back(&series->written, &e->by_write);
    return write;
}

/* If a series has had no event for too long, but its last count has not been written yet, it continues. */
bool ki_series_take(ki_series *series, ki_recorded *event, uint64_t now_ns, int64_t wall_ns,
                    ki_event_write *out_write)
{
    assert(series->hash != NULL && out_write != NULL);
    ki_lru_key key = ki_recorded_key(event, KI_RECORDED_RELATED_VERSION, series->hash);
    ki_lru_node *known = ki_lru_find(&series->entries, key);
    ki_lru_node *item = known != NULL ? known : ki_lru_add(&series->entries, key);
    if (known == NULL) {
        *out_write = create(event);
        if (item != NULL) {
            entry_of(item)->event = ki_recorded_ref(event);
            entry_of(item)->observed_ns = now_ns;
        }
        return true;
    }
    entry *e = entry_of(item);
    assert(e->event != NULL);
    bool is_first = e->count == 0;
    e->count = is_first ? 2 : e->count + (e->count < INT32_MAX);
    e->observed_ns = now_ns;
    e->observed_wall_ns = wall_ns;
    if (is_first)
        *out_write = patch(series, e, now_ns);
    return is_first;
}

static bool finish(ki_series *series, entry *e, uint64_t now_ns, ki_event_write *out_write)
{
    bool is_behind = e->count != e->count_written;
    if (is_behind)
        *out_write = patch(series, e, now_ns);
    ki_lru_remove(&series->entries, &e->node);
    return is_behind;
}

static entry *written_first(const ki_series *series)
{
    ki_list_node *node = ki_list_first(&series->written);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, entry, by_write);
}

bool ki_series_due(ki_series *series, uint64_t now_ns, bool is_last, ki_event_write *out_write)
{
    ki_lru_node *oldest;
    while ((oldest = ki_lru_oldest(&series->entries)) != NULL &&
           (is_last || now_ns - entry_of(oldest)->observed_ns >= finish_ns))
        if (finish(series, entry_of(oldest), now_ns, out_write))
            return true;
    entry *e = written_first(series);
    if (e == NULL || now_ns - e->written_ns < refresh_ns)
        return false;
    *out_write = patch(series, e, now_ns);
    return true;
}

uint64_t ki_series_next_ns(const ki_series *series)
{
    ki_lru_node *oldest = ki_lru_oldest(&series->entries);
    const entry *first = written_first(series);
    uint64_t finish_at = oldest == NULL ? UINT64_MAX : entry_of(oldest)->observed_ns + finish_ns;
    uint64_t refresh_at = first == NULL ? UINT64_MAX : first->written_ns + refresh_ns;
    return ki_ns_min(finish_at, refresh_at);
}
