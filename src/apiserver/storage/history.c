/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/history.h"

#include <assert.h>
#include <kinformer/error.h>

#include "util/alloc.h"

enum { RING_MIN = 16 };

void ki_as_history_init(struct ki_as_history *history, size_t changes_max, uint64_t forgotten)
{
    assert(changes_max > 0);
    *history =
        (struct ki_as_history){.changes_max = changes_max, .bytes_max = SIZE_MAX, .forgotten = forgotten};
}

static struct ki_as_change *slot_of(const struct ki_as_history *history, uint64_t number)
{
    assert(history->capacity > 0 && (history->capacity & (history->capacity - 1)) == 0);
    return &history->ring[number & (history->capacity - 1)];
}

/* The bytes that only the history keeps alive. Counts `before`, and `after` only of a removal. Any other
 * `after` is still in the store, or is `before` of a later change and counted there. */
static size_t bytes_of(const struct ki_as_change *change)
{
    size_t before = change->before == NULL ? 0 : change->before->block_bytes;
    return before + (change->is_removal ? change->after->block_bytes : 0);
}

static void drop_first(struct ki_as_history *history)
{
    assert(history->first < history->next);
    struct ki_as_change *change = slot_of(history, history->first++);
    history->forgotten = change->version;
    assert(history->bytes >= bytes_of(change));
    history->bytes -= bytes_of(change);
    ki_as_object_unref(change->before);
    ki_as_object_unref(change->after);
}

void ki_as_history_fini(struct ki_as_history *history)
{
    while (history->first < history->next)
        drop_first(history);
    assert(history->bytes == 0);
    ki_free(history->ring);
    history->ring = NULL;
    history->capacity = 0;
}

static int grow(struct ki_as_history *history)
{
    assert(history->next - history->first == history->capacity);
    struct ki_as_history bigger = *history;
    bigger.capacity = history->capacity == 0 ? RING_MIN : history->capacity * 2;
    bigger.ring = ki_malloc(bigger.capacity * sizeof(struct ki_as_change));
    if (bigger.ring == NULL)
        return KI_ERR_NO_MEMORY;
    for (uint64_t number = history->first; number < history->next; number++)
        *slot_of(&bigger, number) = *slot_of(history, number);
    ki_free(history->ring);
    *history = bigger;
    return 0;
}

int ki_as_history_reserve(struct ki_as_history *history)
{
    uint64_t count = history->next - history->first;
    return count < history->capacity || count >= history->changes_max ? 0 : grow(history);
}

void ki_as_history_add(struct ki_as_history *history, const struct ki_as_change *change)
{
    assert(change->after != NULL && change->version > history->forgotten);
    if (history->next - history->first >= history->changes_max)
        drop_first(history);
    history->bytes += bytes_of(change);
    while (history->bytes > history->bytes_max && history->first < history->next)
        drop_first(history);
    assert(history->next - history->first < history->capacity);
    *slot_of(history, history->next++) = *change;
}

const struct ki_as_change *ki_as_history_at(const struct ki_as_history *history, uint64_t number)
{
    assert(number >= history->first && number < history->next);
    return slot_of(history, number);
}

uint64_t ki_as_history_after(const struct ki_as_history *history, uint64_t version)
{
    uint64_t low = history->first;
    uint64_t high = history->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (slot_of(history, middle)->version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ki_as_history_forget(struct ki_as_history *history, uint64_t version)
{
    uint64_t next = history->next;
    size_t changes_max = history->changes_max;
    size_t bytes_max = history->bytes_max;
    ki_as_history_fini(history);
    ki_as_history_init(history, changes_max, version);
    history->bytes_max = bytes_max;
    history->first = history->next = next;
}
