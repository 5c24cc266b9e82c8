/* SPDX-License-Identifier: Apache-2.0 */
/* The delta queue compared with a plain log of all pushes: random lists, watch events, bookmarks, resyncs,
 * batches and resets. A failing seed is printed; KI_SEED=<seed> runs it alone. */
#include <inttypes.h>
#include <stdio.h>

#include "queue/delta_fifo.h"
#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/seeds.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 12, STEPS = 600, SEEDS = 100, ITEMS_MAX = 10, BYTES_MAX = 12000 };

/* One push. Its number in the log is also the version of its object, which identifies the object later. */
typedef struct record {
    ki_change_type marker;
    ki_change_type type;
    int key; /* -1: a marker */
    int is_unseen_delete;
    uint32_t list;
    uint64_t version; /* the version received with it; 0: none */
    size_t bytes;
    int is_gone; /* popped, or forgotten by a reset */
} record;

typedef struct model {
    uint64_t seed;
    int step;
    ki_random random;
    ki_delta_fifo fifo;
    record log[STEPS + 1]; /* starts at 1 */
    size_t log_len;
    size_t oldest;       /* the first record that is not gone; log_len + 1 if all are */
    uint64_t clock;      /* the newest version of the server */
    uint64_t resumed;    /* the version set by the last reset */
    size_t resumed_at;   /* the length of the log at that time */
    uint32_t list;       /* the list attempt under way; 0: none, a watch */
    uint32_t list_count; /* attempts so far */
} model;

#define CHECK(m, condition)                                                                                  \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("KI_SEED=%" PRIu64 ": step %d: not %s", (m)->seed, (m)->step, #condition);              \
    } while (0)

/* ---- expected content ---------------------------------------------------------------------------------- */

/* The newest version of all pushes between the last reset and `end`. */
static uint64_t received_before(const model *m, size_t end)
{
    uint64_t newest = m->resumed;
    for (size_t i = m->resumed_at + 1; i < end; i++)
        if (m->log[i].version > newest)
            newest = m->log[i].version;
    return newest;
}

static int is_delete(const record *r)
{
    return r->marker == 0 && r->type == KI_CHANGE_DELETED;
}

/* The deltas that the queue must have for the key of record `at`, as record numbers. A run of deletes counts
 * once: as its last seen delete or, if none was seen, its last. */
static size_t deltas_of(const model *m, size_t at, size_t *out_records)
{
    size_t count = 0;
    for (size_t i = at; i <= m->log_len; i++) {
        const record *r = &m->log[i];
        if (r->is_gone || r->key != m->log[at].key)
            continue;
        const record *last = count == 0 ? NULL : &m->log[out_records[count - 1]];
        if (last != NULL && r->type == KI_CHANGE_SEEN && last->list == r->list)
            continue; /* already queued for this list */
        if (last == NULL || !is_delete(last) || !is_delete(r))
            out_records[count++] = i;
        else if (last->is_unseen_delete || !r->is_unseen_delete)
            out_records[count - 1] = i;
    }
    return count;
}

static int is_first_of_its_key(const model *m, size_t at)
{
    for (size_t i = m->oldest; i < at; i++)
        if (!m->log[i].is_gone && m->log[i].key == m->log[at].key)
            return 0;
    return 1;
}

static void sizes_of(const model *m, size_t *out_items, size_t *out_bytes)
{
    size_t records[STEPS];
    *out_items = *out_bytes = 0;
    for (size_t i = m->oldest; i <= m->log_len; i++) {
        if (m->log[i].is_gone || (m->log[i].key >= 0 && !is_first_of_its_key(m, i)))
            continue;
        ++*out_items;
        size_t count = m->log[i].key < 0 ? 0 : deltas_of(m, i, records);
        for (size_t k = 0; k < count; k++)
            *out_bytes += m->log[records[k]].bytes;
    }
}

static void check_sizes(model *m)
{
    size_t items = 0;
    size_t bytes = 0;
    sizes_of(m, &items, &bytes);
    CHECK(m, ki_delta_fifo_items(&m->fifo) == items);
    CHECK(m, m->fifo.bytes == bytes);
    CHECK(m, ki_delta_fifo_has_space(&m->fifo) == (items <= ITEMS_MAX / 2 && bytes <= BYTES_MAX / 2));
}

/* ---- pushing ------------------------------------------------------------------------------------------- */

static void check_is_full(model *m, int rc)
{
    size_t items = 0;
    size_t bytes = 0;
    sizes_of(m, &items, &bytes);
    CHECK(m, rc == (items >= ITEMS_MAX || bytes >= BYTES_MAX));
}

static const char *version_text(uint64_t version, char *buffer, size_t size)
{
    snprintf(buffer, size, "%" PRIu64, version);
    return version == 0 ? "" : buffer;
}

static void push(model *m, record r)
{
    char name[24];
    char text[24];
    r.key = (int)ki_random_below(&m->random, KEYS);
    snprintf(name, sizeof(name), "key-%d", r.key);
    ki_object *object = object_of(name, m->log_len + 1, ki_random_below(&m->random, 1500));
    r.bytes = ki_object_bytes(object);
    ki_delta delta = {.change_type = r.type,
                      .list = r.list,
                      .final_state_unknown = r.is_unseen_delete != 0,
                      .object = object};
    m->log[++m->log_len] = r;
    check_is_full(m, fifo_push_new(&m->fifo, delta, ki_str_of(version_text(r.version, text, sizeof(text)))));
}

static void push_seen(model *m)
{
    char key[32];
    record r = {.type = KI_CHANGE_SEEN, .key = (int)ki_random_below(&m->random, KEYS), .list = m->list};
    snprintf(key, sizeof(key), "default/key-%d", r.key);
    m->log[++m->log_len] = r;
    check_is_full(m, ki_delta_fifo_push_seen(&m->fifo, ki_str_of(key), r.list));
}

static void push_marker(model *m, record r)
{
    char text[24];
    r.key = -1;
    m->log[++m->log_len] = r;
    check_is_full(m, ki_delta_fifo_push_marker(&m->fifo, r.marker, r.list,
                                               ki_str_of(version_text(r.version, text, sizeof(text)))));
}

/* The server's version also advances for other collections. */
static uint64_t next_version(model *m)
{
    return m->clock += 1 + ki_random_below(&m->random, 3);
}

/* A list ends, fails and starts over, or continues. */
static void step_of_list(model *m)
{
    uint64_t choice = ki_random_below(&m->random, 12);
    if (choice == 0) {
        push_marker(m, (record){.marker = KI_CHANGE_LIST_END, .list = m->list, .version = next_version(m)});
        m->list = 0;
    } else if (choice == 1) {
        m->list = ++m->list_count;
    } else if (choice == 2) {
        push_seen(m);
    } else {
        push(m, (record){.type = KI_CHANGE_REPLACED, .list = m->list});
    }
}

static void step_of_watch(model *m)
{
    static const ki_change_type types[] = {KI_CHANGE_ADDED, KI_CHANGE_UPDATED, KI_CHANGE_UPDATED,
                                           KI_CHANGE_DELETED, KI_CHANGE_DELETED};
    uint64_t choice = ki_random_below(&m->random, 23);
    if (choice == 0)
        m->list = ++m->list_count;
    else if (choice == 1)
        push_marker(m, (record){.marker = KI_CHANGE_SYNC});
    else if (choice <= 4)
        push_marker(m, (record){.marker = KI_CHANGE_BOOKMARK, .version = next_version(m)});
    else if (choice <= 6)
        push(m, (record){.type = KI_CHANGE_DELETED, .is_unseen_delete = 1});
    else
        push(m, (record){.type = types[ki_random_below(&m->random, 5)], .version = next_version(m)});
}

/* ---- popping ------------------------------------------------------------------------------------------- */

static uint64_t number_of(const ki_resource_version *version)
{
    uint64_t number = 0;
    ki_str text = ki_resource_version_str(version);
    for (size_t i = 0; i < text.len; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    return number;
}

static void check_delta(model *m, const ki_delta *delta, size_t number)
{
    const record *r = &m->log[number];
    CHECK(m, delta->change_type == r->type);
    CHECK(m, delta->list == r->list);
    CHECK(m, delta->final_state_unknown == r->is_unseen_delete);
    CHECK(m, (delta->object == NULL) == (r->type == KI_CHANGE_SEEN));
    CHECK(m, delta->object == NULL || object_version(delta->object) == number);
}

/* The entry must match the oldest one in the log. Its records are then marked as gone. */
static void check_entry(model *m, const ki_delta_entry *entry)
{
    size_t records[STEPS];
    size_t at = m->oldest;
    CHECK(m, at <= m->log_len);
    const record *r = &m->log[at];
    CHECK(m, entry->marker == r->marker);
    CHECK(m, number_of(&entry->version_before) == received_before(m, at));
    size_t count = r->key < 0 ? 0 : deltas_of(m, at, records);
    CHECK(m, entry->count == count);
    CHECK(m, r->key >= 0 || (entry->list == r->list && number_of(&entry->version) == r->version));
    for (size_t i = 0; i < count; i++)
        check_delta(m, &entry->deltas[i], records[i]);
    for (size_t i = m->log_len; i >= at; i--)
        if (i == at || (r->key >= 0 && m->log[i].key == r->key))
            m->log[i].is_gone = 1;
    while (m->oldest <= m->log_len && m->log[m->oldest].is_gone)
        m->oldest++;
}

/* Everything up to `upto` was popped, and no later version has this property: all waiting changes came after
 * it, and no version lies between it and the first of them. */
static void check_version(model *m, uint64_t upto)
{
    uint64_t next = UINT64_MAX;
    int has_unversioned = 0;
    for (size_t i = m->oldest; i <= m->log_len; i++)
        if (!m->log[i].is_gone && m->log[i].version == 0)
            has_unversioned = 1;
        else if (!m->log[i].is_gone && m->log[i].version < next)
            next = m->log[i].version;
    CHECK(m, upto < next);
    CHECK(m, upto == received_before(m, m->oldest));
    for (size_t i = m->resumed_at + 1; i <= m->log_len && !has_unversioned; i++)
        CHECK(m, m->log[i].version <= upto || m->log[i].version >= next);
}

static void pop(model *m)
{
    ki_list batch;
    ki_resource_version upto = {0};
    size_t max = ki_random_below(&m->random, ki_random_below(&m->random, 4) == 0 ? 30 : 4);
    ki_list_init(&batch);
    size_t n = ki_delta_fifo_pop(&m->fifo, max, &batch, &upto);
    CHECK(m, n == max || m->oldest > m->log_len || ki_delta_fifo_items(&m->fifo) == 0);
    for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL;
         node = ki_list_pop_front(&batch), n--) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        check_entry(m, entry);
        ki_delta_entry_free(entry);
    }
    CHECK(m, n == 0);
    check_version(m, number_of(&upto));
}

static void pop_and_finish(model *m)
{
    pop(m);
    /* A reset in the middle of a batch, which is then finished late or never. */
    if (ki_random_below(&m->random, 60) == 0) {
        ki_resource_version from = {0};
        char text[24];
        m->resumed = ki_random_below(&m->random, m->clock + 1);
        assert_int_equal(
            ki_resource_version_set(&from, ki_str_of(version_text(m->resumed, text, sizeof(text)))), 0);
        ki_delta_fifo_reset(&m->fifo, &from);
        for (size_t i = 1; i <= m->log_len; i++)
            m->log[i].is_gone = 1;
        m->resumed_at = m->log_len;
        m->oldest = m->log_len + 1;
        m->list = ++m->list_count;
        if (ki_random_below(&m->random, 2) == 0)
            return;
    }
    ki_delta_fifo_report_processed(&m->fifo, NULL);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static void run_seed(uint64_t seed)
{
    static model only;
    model *m = &only;
    ki_delta_fifo_options options = {.items_max = ITEMS_MAX, .bytes_max = BYTES_MAX};
    *m = (model){.seed = seed, .oldest = 1, .clock = 100, .list = 1, .list_count = 1};
    ki_random_init(&m->random, seed);
    uint64_t pops_in_ten = 1 + ki_random_below(&m->random, 4);
    assert_int_equal(ki_delta_fifo_init(&m->fifo, &options), 0);
    for (m->step = 0; m->step < STEPS; m->step++) {
        if (ki_random_below(&m->random, 10) < pops_in_ten)
            pop_and_finish(m);
        else if (m->list != 0)
            step_of_list(m);
        else
            step_of_watch(m);
        check_sizes(m);
    }
    while (m->oldest <= m->log_len)
        pop_and_finish(m);
    check_sizes(m);
    ki_delta_fifo_fini(&m->fifo);
}

static void the_queue_agrees_with_a_log_of_what_was_pushed(void **state)
{
    (void)state;
    for_each_seed(SEEDS, run_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_queue_agrees_with_a_log_of_what_was_pushed),
    };
    return RUN_TESTS(tests);
}
