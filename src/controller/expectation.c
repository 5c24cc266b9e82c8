/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/expectation.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/units.h"

/* POLL_MS_MIN, _MAX: the interval between checks, doubled each time. FORGET_MS: how long after its last
 * timeout a key that is never checked again is kept. KEPT_AT_ONCE: how many kept keys are
 * checked for that at once. */
enum { POLL_MS_MIN = 5, POLL_MS_MAX = 100, FORGET_MS = 60000, KEPT_AT_ONCE = 4 };

/* The expectations of one key. */
typedef struct expected {
    ki_map_node by_key;
    ki_list_node node; /* in `all`, in no order */
    ki_list writes;
    uint64_t held_until_ns;
    uint64_t until_ns; /* the latest time of all writes and holds */
    uint64_t poll_ms;
    bool has_writes; /* has expected writes, or had some */
    bool is_reset;   /* the history was reset during one of the waits */
    bool is_late;    /* one of the waits has timed out */
    size_t key_len;
    char key[];
} expected;

typedef struct expected_write {
    ki_list_node node;
    ki_informer *informer;
    uint64_t until_ns;
    size_t version_len;
    size_t known_len; /* length of the version up to which the store was complete at the time */
    char texts[];     /* both versions */
} expected_write;

static int has_key(const ki_map_node *node, const void *key)
{
    const expected *e = KI_CONTAINER_OF(node, expected, by_key);
    return ki_str_equal((ki_str){e->key, e->key_len}, *(const ki_str *)key);
}

static expected *find(const ki_expectations *expectations, ki_str key)
{
    ki_map_node *node =
        ki_map_find(&expectations->by_key, ki_hash(&expectations->secret, key), has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, expected, by_key);
}

static void free_expected(expected *e)
{
    for (ki_list_node *node = ki_list_pop_front(&e->writes); node != NULL;
         node = ki_list_pop_front(&e->writes))
        ki_free(KI_CONTAINER_OF(node, expected_write, node));
    ki_free(e);
}

static void drop_write(expected_write *write)
{
    assert(ki_list_node_is_linked(&write->node));
    ki_list_remove(&write->node);
    ki_free(write);
}

int ki_expectations_init(ki_expectations *expectations, uint64_t seed)
{
    *expectations = (ki_expectations){0};
    ki_list_init(&expectations->all);
    if (seed == 0)
        return ki_hash_key_init(&expectations->secret);
    ki_hash_key_init_seeded(&expectations->secret, seed);
    return 0;
}

void ki_expectations_fini(ki_expectations *expectations)
{
    for (ki_list_node *node = ki_list_pop_front(&expectations->all); node != NULL;
         node = ki_list_pop_front(&expectations->all))
        free_expected(KI_CONTAINER_OF(node, expected, node));
    ki_map_fini(&expectations->by_key);
}

static void forget(ki_expectations *expectations, expected *e)
{
    assert(find(expectations, (ki_str){e->key, e->key_len}) == e);
    ki_map_remove(&expectations->by_key, &e->by_key);
    ki_list_remove(&e->node);
    free_expected(e);
}

void ki_expectations_forget(ki_expectations *expectations, const ki_informer *informer)
{
    for (ki_list_node *node = ki_list_first(&expectations->all); node != NULL;
         node = ki_list_next(&expectations->all, node)) {
        expected *e = KI_CONTAINER_OF(node, expected, node);
        for (ki_list_node *at = ki_list_first(&e->writes), *next; at != NULL; at = next) {
            expected_write *write = KI_CONTAINER_OF(at, expected_write, node);
            next = ki_list_next(&e->writes, at);
            if (write->informer == informer)
                drop_write(write);
        }
    }
}

/* ---- adding ------------------------------------------------------------------------------------------ */

/* Otherwise, a key that is never worked on again would stay forever. A key that must be kept goes to the end,
 * because those behind it may have been held for a shorter time; after a few of these the rest is left to the
 * next call. More keys are checked than added, so none stays much too long. */
static void forget_old(ki_expectations *expectations, uint64_t now_ns)
{
    for (int kept = 0; kept < KEPT_AT_ONCE && !ki_list_is_empty(&expectations->all);) {
        expected *e = KI_CONTAINER_OF(ki_list_first(&expectations->all), expected, node);
        if (now_ns >= e->until_ns + ki_ns_of_ms(FORGET_MS)) {
            forget(expectations, e);
            continue;
        }
        ki_list_remove(&e->node);
        ki_list_push_back(&expectations->all, &e->node);
        kept++;
    }
}

static expected *find_or_make(ki_expectations *expectations, ki_str key)
{
    expected *e = find(expectations, key);
    if (e != NULL)
        return e;
    e = ki_malloc(sizeof(*e) + key.len);
    if (e == NULL)
        return NULL;
    *e = (expected){.key_len = key.len};
    memcpy(e->key, key.ptr, key.len);
    ki_list_init(&e->writes);
    if (ki_map_insert(&expectations->by_key, &e->by_key, ki_hash(&expectations->secret, key)) < 0) {
        ki_free(e);
        return NULL;
    }
    ki_list_push_back(&expectations->all, &e->node);
    return e;
}

static ki_str version_of(const expected_write *write)
{
    return (ki_str){write->texts, write->version_len};
}

/* Of two versions that can be compared, only the higher one is kept. */
static void insert_write(expected *e, expected_write *added)
{
    for (ki_list_node *node = ki_list_first(&e->writes), *next; node != NULL; node = next) {
        expected_write *write = KI_CONTAINER_OF(node, expected_write, node);
        next = ki_list_next(&e->writes, node);
        int order = 0;
        if (write->informer != added->informer ||
            ki_resource_version_compare(version_of(write), version_of(added), &order) < 0)
            continue;
        if (order > 0) {
            ki_free(added);
            return;
        }
        drop_write(write);
    }
    ki_list_push_back(&e->writes, &added->node);
}

int ki_expectations_add(ki_expectations *expectations, ki_str key, uint64_t now_ns,
                        const ki_expected_write *given)
{
    char known[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    ki_str version = given->version;
    if (version.len == 0 || version.len > KI_RESOURCE_VERSION_BYTES_MAX)
        return KI_ERR_INVALID;
    forget_old(expectations, now_ns);
    size_t known_len = ki_informer_last_resource_version(given->informer, known, sizeof(known));
    expected_write *write = ki_malloc(sizeof(*write) + version.len + known_len);
    expected *e = write == NULL ? NULL : find_or_make(expectations, key);
    if (e == NULL) {
        ki_free(write);
        return KI_ERR_NO_MEMORY;
    }
    *write = (expected_write){.informer = given->informer,
                              .until_ns = given->until_ns,
                              .version_len = version.len,
                              .known_len = known_len};
    memcpy(write->texts, version.ptr, version.len);
    memcpy(write->texts + version.len, known, known_len);
    insert_write(e, write);
    e->has_writes = true;
    e->until_ns = ki_ns_max(e->until_ns, given->until_ns);
    e->poll_ms = POLL_MS_MIN;
    return 0;
}

int ki_expectations_delay(ki_expectations *expectations, ki_str key, uint64_t now_ns, uint64_t until_ns)
{
    forget_old(expectations, now_ns);
    expected *e = find_or_make(expectations, key);
    if (e == NULL)
        return KI_ERR_NO_MEMORY;
    e->held_until_ns = until_ns;
    e->until_ns = ki_ns_max(e->until_ns, until_ns);
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------------ */

/* Returns KI_EXPECTATION_SEEN, _RESET or _WAITING. */
static ki_expectation_state state_of(const expected_write *write)
{
    char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    ki_str now = {text, ki_informer_last_resource_version(write->informer, text, sizeof(text))};
    ki_str wanted = version_of(write);
    ki_str known = {write->texts + write->version_len, write->known_len};
    int order = 0;
    if (now.len == 0)
        return known.len > 0 ? KI_EXPECTATION_RESET : KI_EXPECTATION_WAITING;
    if (ki_resource_version_compare(now, wanted, &order) < 0)
        return ki_str_equal(now, wanted) ? KI_EXPECTATION_SEEN : KI_EXPECTATION_WAITING;
    if (order >= 0)
        return KI_EXPECTATION_SEEN;
    return ki_resource_version_compare(now, known, &order) == 0 && order < 0 ? KI_EXPECTATION_RESET
                                                                             : KI_EXPECTATION_WAITING;
}

static void look_at_writes(expected *e, uint64_t now_ns)
{
    for (ki_list_node *node = ki_list_first(&e->writes), *next; node != NULL; node = next) {
        expected_write *write = KI_CONTAINER_OF(node, expected_write, node);
        next = ki_list_next(&e->writes, node);
        ki_expectation_state state = state_of(write);
        bool waits = state == KI_EXPECTATION_WAITING, is_over = now_ns >= write->until_ns;
        e->is_reset |= state == KI_EXPECTATION_RESET;
        e->is_late |= is_over && waits;
        if (is_over || !waits)
            drop_write(write);
    }
}

ki_expectation_state ki_expectations_check(ki_expectations *expectations, ki_str key, uint64_t now_ns,
                                           uint64_t *out_wait_ns)
{
    expected *e = find(expectations, key);
    if (e == NULL)
        return KI_EXPECTATION_NONE;
    uint64_t wait_ns = e->held_until_ns <= now_ns ? 0 : e->held_until_ns - now_ns;
    look_at_writes(e, now_ns);
    if (!ki_list_is_empty(&e->writes)) {
        assert(e->has_writes && e->poll_ms >= POLL_MS_MIN && e->poll_ms <= POLL_MS_MAX);
        wait_ns = ki_ns_max(wait_ns, ki_ns_of_ms(e->poll_ms));
        e->poll_ms = e->poll_ms * 2 > POLL_MS_MAX ? POLL_MS_MAX : e->poll_ms * 2;
    }
    if (wait_ns > 0) {
        *out_wait_ns = wait_ns;
        return KI_EXPECTATION_WAITING;
    }
    ki_expectation_state state = e->is_late      ? KI_EXPECTATION_TIMED_OUT
                                 : e->is_reset   ? KI_EXPECTATION_RESET
                                 : e->has_writes ? KI_EXPECTATION_SEEN
                                                 : KI_EXPECTATION_NONE;
    assert(ki_list_is_empty(&e->writes));
    forget(expectations, e);
    return state;
}
