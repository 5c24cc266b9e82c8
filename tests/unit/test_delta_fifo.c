/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/delta_fifo.h"

#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/objects.h"
#include "support/unit.h"
#include "util/clock.h"

/* ---- a queue, and its entries as text ------------------------------------------------------------------ */

static void fifo_init(ki_delta_fifo *fifo)
{
    assert_int_equal(ki_delta_fifo_init(fifo, NULL), 0);
}

/* Pushes a change of a watch. Returns what the queue said. */
static int push_event(ki_delta_fifo *fifo, ki_delta_type type, const char *name, uint64_t version)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, version);
    int rc = ki_delta_fifo_push(fifo, (ki_delta){.type = type, .object = object_of(name, version, 0)},
                                ki_str_of(text));
    assert_true(rc >= 0);
    return rc;
}

static void push_item(ki_delta_fifo *fifo, uint32_t list, const char *name, uint64_t version)
{
    ki_delta delta = {.type = KI_DELTA_REPLACED, .list = list, .object = object_of(name, version, 0)};
    assert_true(ki_delta_fifo_push(fifo, delta, (ki_str){0}) >= 0);
}

static void push_unseen_delete(ki_delta_fifo *fifo, const char *name, uint64_t version)
{
    ki_delta delta = {
        .type = KI_DELTA_DELETED, .final_state_unknown = 1, .object = object_of(name, version, 0)};
    assert_true(ki_delta_fifo_push(fifo, delta, (ki_str){0}) >= 0);
}

static void push_marker(ki_delta_fifo *fifo, ki_entry_kind kind, uint32_t list, const char *version)
{
    assert_true(ki_delta_fifo_push_marker(fifo, kind, list, ki_str_of(version)) >= 0);
}

typedef struct text_out {
    char text[4096];
    size_t len;
} text_out;

static void print_delta(text_out *out, const ki_delta *delta)
{
    static const char signs[] = {
        [KI_DELTA_ADDED] = '+',    [KI_DELTA_UPDATED] = '~', [KI_DELTA_DELETED] = '-',
        [KI_DELTA_REPLACED] = '=', [KI_DELTA_SYNC] = 's',    [KI_DELTA_SEEN] = '!'};
    char sign = delta->final_state_unknown ? '?' : signs[delta->type];
    uint64_t version = delta->object == NULL ? 0 : object_version(delta->object);
    out->len +=
        (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, "%c%" PRIu64, sign, version);
    if (delta->list != 0)
        out->len += (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, "@%u",
                                     (unsigned)delta->list);
}

/* "default/a +1 ~2@3", "END 3 17", "RESYNC", "BOOKMARK 18". */
static void print_entry(text_out *out, const ki_delta_entry *entry)
{
    static const char *const markers[] = {[KI_ENTRY_DELTAS] = "",
                                          [KI_ENTRY_LIST_END] = "END",
                                          [KI_ENTRY_RESYNC] = "RESYNC",
                                          [KI_ENTRY_BOOKMARK] = "BOOKMARK"};
    const char *separator = out->len == 0 ? "" : "; ";
    ki_str version = ki_resource_version_str(&entry->version);
    out->len += (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, "%s%s%s%.0u", separator,
                                 markers[entry->kind], entry->key, entry->list);
    if (version.len > 0)
        out->len += (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, " %.*s",
                                     KI_STR_ARGS(version));
    for (uint32_t i = 0; i < entry->count; i++) {
        out->text[out->len++] = ' ';
        print_delta(out, &entry->deltas[i]);
    }
    assert_int_equal(strlen(entry->key), entry->key_len);
}

/* Pops up to `max` entries, which must read as `expected`; then everything up to `version` is out. */
static void assert_pops(ki_delta_fifo *fifo, size_t max, const char *expected, const char *version)
{
    ki_list batch;
    text_out out = {.len = 0};
    ki_resource_version upto = {0};
    ki_list_init(&batch);
    size_t n = ki_delta_fifo_pop(fifo, max, &batch, &upto);
    for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL;
         node = ki_list_pop_front(&batch), n--) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        print_entry(&out, entry);
        ki_delta_entry_free(entry);
    }
    assert_int_equal(n, 0);
    assert_string_equal(out.text, expected);
    char is[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    snprintf(is, sizeof(is), "%.*s", KI_STR_ARGS(ki_resource_version_str(&upto)));
    assert_string_equal(is, version);
}

enum { ALL = 1000 };

/* ---- order --------------------------------------------------------------------------------------------- */

static void an_empty_queue_gives_nothing_and_no_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, NULL), 0);
    assert_pops(&fifo, ALL, "", "");
    assert_int_equal(ki_delta_fifo_items(&fifo), 0);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    assert_true(ki_delta_fifo_has_room(&fifo));
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void fini_takes_a_zeroed_queue_and_drops_what_waits(void **state)
{
    (void)state;
    ki_delta_fifo fifo = {.items_max = 0};
    ki_delta_fifo_fini(&fifo);
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 1);
    push_event(&fifo, KI_DELTA_UPDATED, "a", 2);
    push_marker(&fifo, KI_ENTRY_BOOKMARK, 0, "3");
    ki_delta_fifo_fini(&fifo);
    ki_delta_fifo_fini(&fifo);
    ki_delta_entry_free(NULL);
}

static void keys_leave_in_the_order_of_their_first_queueing(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "c", 1);
    push_event(&fifo, KI_DELTA_ADDED, "a", 2);
    push_event(&fifo, KI_DELTA_UPDATED, "c", 3);
    push_event(&fifo, KI_DELTA_ADDED, "b", 4);
    assert_int_equal(ki_delta_fifo_items(&fifo), 3);
    assert_pops(&fifo, ALL, "default/c +1 ~3; default/a +2; default/b +4", "4");
    ki_delta_fifo_fini(&fifo);
}

static void changes_of_one_key_leave_together_oldest_first(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 1);
    push_event(&fifo, KI_DELTA_UPDATED, "a", 2);
    push_event(&fifo, KI_DELTA_DELETED, "a", 3);
    push_event(&fifo, KI_DELTA_ADDED, "a", 4);
    ki_delta sync = {.type = KI_DELTA_SYNC, .object = object_of("a", 2, 0)};
    assert_int_equal(ki_delta_fifo_push(&fifo, sync, (ki_str){0}), 0);
    push_event(&fifo, KI_DELTA_UPDATED, "a", 5);
    assert_pops(&fifo, ALL, "default/a =1@1 ~2 -3 +4 s2 ~5", "5");
    ki_delta_fifo_fini(&fifo);
}

static void a_key_that_has_left_queues_at_the_end_again(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 1);
    push_event(&fifo, KI_DELTA_ADDED, "b", 2);
    assert_pops(&fifo, 1, "default/a +1", "1");
    push_event(&fifo, KI_DELTA_UPDATED, "a", 3);
    assert_pops(&fifo, ALL, "default/b +2; default/a ~3", "3");
    ki_delta_fifo_fini(&fifo);
}

static void markers_keep_their_place_and_do_not_merge(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 7);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "9");
    push_marker(&fifo, KI_ENTRY_RESYNC, 0, "");
    push_event(&fifo, KI_DELTA_UPDATED, "a", 10);
    push_marker(&fifo, KI_ENTRY_RESYNC, 0, "");
    push_event(&fifo, KI_DELTA_ADDED, "b", 11);
    push_marker(&fifo, KI_ENTRY_BOOKMARK, 0, "15");
    assert_int_equal(ki_delta_fifo_items(&fifo), 6);
    assert_pops(&fifo, ALL, "default/a =7@1 ~10; END1 9; RESYNC; RESYNC; default/b +11; BOOKMARK 15", "15");
    ki_delta_fifo_fini(&fifo);
}

static void a_key_that_was_only_seen_waits_as_any_other(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 2), 0);
    push_item(&fifo, 2, "b", 4);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/b"), 3), 0);
    push_event(&fifo, KI_DELTA_DELETED, "a", 5);
    assert_pops(&fifo, ALL, "default/a !0@2 -5; default/b =4@2 !0@3", "5");
    ki_delta_fifo_fini(&fifo);
}

static void that_a_key_is_alive_is_said_once_for_each_list(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 2), 0);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 3), 0);
    push_item(&fifo, 4, "b", 7);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/b"), 4), 0); /* the item says it, too */
    assert_pops(&fifo, ALL, "default/a !0@2 !0@3; default/b =7@4", "");
    ki_delta_fifo_fini(&fifo);
}

static void a_batch_has_no_more_than_was_asked_for(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (uint64_t i = 1; i <= 5; i++)
        push_event(&fifo, KI_DELTA_ADDED, (const char[]){(char)('a' + i), 0}, i);
    assert_pops(&fifo, 0, "", "");
    assert_pops(&fifo, 2, "default/b +1; default/c +2", "2");
    assert_pops(&fifo, 3, "default/d +3; default/e +4; default/f +5", "5");
    assert_pops(&fifo, 3, "", "5");
    ki_delta_fifo_fini(&fifo);
}

static void many_changes_of_one_key_are_all_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list batch;
    ki_resource_version version;
    fifo_init(&fifo);
    ki_list_init(&batch);
    for (uint64_t i = 1; i <= 300; i++)
        push_event(&fifo, KI_DELTA_UPDATED, "a", i);
    assert_int_equal(ki_delta_fifo_pop(&fifo, ALL, &batch, &version), 1);
    ki_delta_entry *entry = KI_CONTAINER_OF(ki_list_pop_front(&batch), ki_delta_entry, node);
    assert_int_equal(entry->count, 300);
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(object_version(entry->deltas[i].object), i + 1);
    ki_delta_entry_free(entry);
    ki_delta_fifo_fini(&fifo);
}

/* ---- deletes ------------------------------------------------------------------------------------------- */

static void of_two_deletes_in_a_row_the_later_is_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 1);
    push_event(&fifo, KI_DELTA_DELETED, "a", 2);
    push_event(&fifo, KI_DELTA_DELETED, "a", 4);
    push_unseen_delete(&fifo, "b", 3);
    push_unseen_delete(&fifo, "b", 5);
    assert_pops(&fifo, ALL, "default/a +1 -4; default/b ?5", "4");
    ki_delta_fifo_fini(&fifo);
}

static void a_delete_that_is_told_again_does_not_replace_a_newer_one(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_UPDATED, "a", 3);
    push_event(&fifo, KI_DELTA_DELETED, "a", 4);
    push_event(&fifo, KI_DELTA_DELETED, "a", 2);
    assert_pops(&fifo, ALL, "default/a ~3 -4", "4");
    ki_delta_fifo_fini(&fifo);
}

static void a_delete_that_was_seen_is_kept_before_one_that_was_not(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_DELETED, "a", 4);
    push_unseen_delete(&fifo, "a", 3);
    push_unseen_delete(&fifo, "b", 3);
    push_event(&fifo, KI_DELTA_DELETED, "b", 5);
    push_unseen_delete(&fifo, "b", 6);
    assert_pops(&fifo, ALL, "default/a -4; default/b -5", "5");
    ki_delta_fifo_fini(&fifo);
}

static void deletes_with_something_in_between_are_both_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_DELETED, "a", 1);
    push_event(&fifo, KI_DELTA_ADDED, "a", 2);
    push_event(&fifo, KI_DELTA_DELETED, "a", 3);
    push_event(&fifo, KI_DELTA_DELETED, "b", 4);
    push_event(&fifo, KI_DELTA_DELETED, "a", 5);
    assert_pops(&fifo, ALL, "default/a -1 +2 -5; default/b -4", "5");
    ki_delta_fifo_fini(&fifo);
}

static void a_merged_delete_still_moves_the_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_DELETED, "a", 1);
    push_event(&fifo, KI_DELTA_DELETED, "a", 2);
    push_event(&fifo, KI_DELTA_ADDED, "b", 3);
    assert_pops(&fifo, 1, "default/a -2", "2");
    ki_delta_fifo_fini(&fifo);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

static void a_key_that_leaves_early_takes_no_later_version_along(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 5);
    push_event(&fifo, KI_DELTA_ADDED, "b", 6);
    push_event(&fifo, KI_DELTA_UPDATED, "a", 7);
    push_event(&fifo, KI_DELTA_ADDED, "c", 8);
    assert_pops(&fifo, 1, "default/a +5 ~7", "5");
    assert_pops(&fifo, 1, "default/b +6", "7");
    assert_pops(&fifo, 1, "default/c +8", "8");
    ki_delta_fifo_fini(&fifo);
}

static void items_of_a_list_have_no_version_but_its_end_has(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 100);
    push_item(&fifo, 1, "b", 200);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "300");
    assert_pops(&fifo, 2, "default/a =100@1; default/b =200@1", "");
    assert_pops(&fifo, 1, "END1 300", "300");
    push_item(&fifo, 2, "a", 400);
    assert_pops(&fifo, 1, "default/a =400@2", "300");
    ki_delta_fifo_fini(&fifo);
}

static void a_bookmark_moves_the_version_when_it_leaves(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 5);
    push_marker(&fifo, KI_ENTRY_BOOKMARK, 0, "9");
    assert_pops(&fifo, 1, "default/a +5", "5");
    assert_pops(&fifo, 1, "BOOKMARK 9", "9");
    ki_delta_fifo_fini(&fifo);
}

static void an_older_version_does_not_move_it_back(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 50);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "9");
    push_event(&fifo, KI_DELTA_ADDED, "b", 10);
    assert_pops(&fifo, ALL, "default/a +50; END1 9; default/b +10", "50");
    ki_delta_fifo_fini(&fifo);
}

static void push_text_version(ki_delta_fifo *fifo, const char *name, const char *version)
{
    ki_delta delta = {.type = KI_DELTA_ADDED, .object = object_of(name, 1, 0)};
    assert_int_equal(ki_delta_fifo_push(fifo, delta, ki_str_of(version)), 0);
}

static void of_versions_that_are_no_numbers_the_last_received_counts(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_text_version(&fifo, "a", "zeta");
    push_text_version(&fifo, "b", "alpha");
    push_text_version(&fifo, "a", "mu");
    push_text_version(&fifo, "c", "beta");
    assert_pops(&fifo, 1, "default/a +1 +1", "zeta");
    assert_pops(&fifo, 1, "default/b +1", "mu");
    assert_pops(&fifo, 1, "default/c +1", "beta");
    push_text_version(&fifo, "a", "7");
    assert_pops(&fifo, 1, "default/a +1", "7");
    ki_delta_fifo_fini(&fifo);
}

static void a_version_that_is_too_long_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    memset(text, '1', sizeof(text));
    ki_str version = {text, sizeof(text)};
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 5);
    ki_delta delta = {.type = KI_DELTA_UPDATED, .object = object_of("a", 6, 0)};
    assert_int_equal(ki_delta_fifo_push(&fifo, delta, version), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_delta_fifo_push_marker(&fifo, KI_ENTRY_LIST_END, 1, version), KI_ERR_TOO_LARGE);
    ki_object_unref(delta.object);
    assert_pops(&fifo, ALL, "default/a +5", "5");
    ki_delta_fifo_finish(&fifo, 1);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void a_queue_full_of_keys_takes_more_and_has_room_again_at_half(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.items_max = 4}), 0);
    assert_int_equal(push_event(&fifo, KI_DELTA_ADDED, "a", 1), 0);
    assert_int_equal(push_event(&fifo, KI_DELTA_ADDED, "b", 2), 0);
    assert_true(ki_delta_fifo_has_room(&fifo));
    assert_int_equal(push_event(&fifo, KI_DELTA_ADDED, "c", 3), 0);
    assert_false(ki_delta_fifo_has_room(&fifo));
    assert_int_equal(ki_delta_fifo_push_marker(&fifo, KI_ENTRY_RESYNC, 0, (ki_str){0}), 1);
    assert_int_equal(push_event(&fifo, KI_DELTA_ADDED, "d", 4), 1);
    assert_int_equal(push_event(&fifo, KI_DELTA_UPDATED, "a", 5), 1);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/e"), 1), 1);
    assert_pops(&fifo, 3, "default/a +1 ~5; default/b +2; default/c +3", "3");
    assert_false(ki_delta_fifo_has_room(&fifo));
    assert_pops(&fifo, 1, "RESYNC", "3");
    assert_true(ki_delta_fifo_has_room(&fifo));
    assert_pops(&fifo, ALL, "default/d +4; default/e !0@1", "5");
    ki_delta_fifo_fini(&fifo);
}

static void the_smallest_queue_has_room_when_it_is_empty(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.items_max = 1, .bytes_max = 1}), 0);
    assert_true(ki_delta_fifo_has_room(&fifo));
    assert_int_equal(push_event(&fifo, KI_DELTA_ADDED, "a", 1), 1);
    assert_false(ki_delta_fifo_has_room(&fifo));
    assert_pops(&fifo, 1, "default/a +1", "1");
    assert_true(ki_delta_fifo_has_room(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void a_queue_full_of_bytes_takes_more_and_has_room_again_at_half(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_object *object = object_of("a", 1, 1000);
    size_t bytes = ki_object_bytes(object);
    assert_int_equal(ki_delta_fifo_init(&fifo, &(ki_delta_fifo_options){.bytes_max = 4 * bytes}), 0);
    for (size_t i = 1; i <= 6; i++) {
        ki_delta delta = {.type = KI_DELTA_UPDATED, .object = ki_object_ref(object)};
        assert_int_equal(ki_delta_fifo_push(&fifo, delta, KI_STR("1")), i >= 4);
        assert_int_equal(ki_delta_fifo_has_room(&fifo), i <= 2);
        assert_int_equal(ki_delta_fifo_bytes(&fifo), i * bytes);
    }
    assert_pops(&fifo, 1, "default/a ~1 ~1 ~1 ~1 ~1 ~1", "1");
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    assert_true(ki_delta_fifo_has_room(&fifo));
    ki_object_unref(object);
    ki_delta_fifo_fini(&fifo);
}

static void a_merged_delete_counts_the_bytes_of_the_one_that_is_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_object *large = object_of("a", 2, 2000);
    size_t large_bytes = ki_object_bytes(large);
    push_event(&fifo, KI_DELTA_DELETED, "a", 1);
    size_t small_bytes = ki_delta_fifo_bytes(&fifo);
    ki_delta delta = {.type = KI_DELTA_DELETED, .object = large};
    assert_int_equal(ki_delta_fifo_push(&fifo, delta, KI_STR("2")), 0);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), large_bytes);
    push_event(&fifo, KI_DELTA_DELETED, "a", 3);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), small_bytes);
    push_unseen_delete(&fifo, "a", 3);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), small_bytes);
    assert_pops(&fifo, 1, "default/a -3", "3");
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    ki_delta_fifo_fini(&fifo);
}

/* An object that readers share grows when one of them has its text unescaped. */
static void an_object_that_grows_while_it_waits_does_not_upset_the_bytes(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_str json = KI_STR("{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\",\"resourceVersion\":\"1\","
                         "\"annotations\":{\"x\":\"a\\nb\\tc\"}}}");
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, json, NULL, NULL);
    assert_non_null(object);
    ki_delta delta = {.type = KI_DELTA_DELETED, .final_state_unknown = 1, .object = ki_object_ref(object)};
    assert_int_equal(ki_delta_fifo_push(&fifo, delta, (ki_str){0}), 0);
    size_t before = ki_object_bytes(object);
    assert_int_equal(ki_object_string(object, "/metadata/annotations/x").len, 5);
    assert_true(ki_object_bytes(object) > before);
    ki_object *later = object_of("a", 2, 0);
    size_t later_bytes = ki_object_bytes(later);
    delta = (ki_delta){.type = KI_DELTA_DELETED, .object = later};
    assert_int_equal(ki_delta_fifo_push(&fifo, delta, KI_STR("2")), 0);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), later_bytes);
    assert_pops(&fifo, 1, "default/a -2", "2");
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    ki_object_unref(object);
    ki_delta_fifo_fini(&fifo);
}

/* ---- the first list ------------------------------------------------------------------------------------ */

static void a_queue_has_synced_when_the_last_entry_of_the_first_list_is_finished(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 1);
    push_item(&fifo, 1, "b", 2);
    push_item(&fifo, 1, "a", 1);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "3");
    push_event(&fifo, KI_DELTA_ADDED, "c", 4);
    assert_pops(&fifo, 2, "default/a =1@1 =1@1; default/b =2@1", "");
    ki_delta_fifo_finish(&fifo, 2);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    assert_pops(&fifo, ALL, "END1 3; default/c +4", "4");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    push_item(&fifo, 2, "a", 1);
    push_marker(&fifo, KI_ENTRY_LIST_END, 2, "9");
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void an_empty_list_syncs_as_well(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_delta_fifo_finish(&fifo, 0);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "3");
    ki_delta_fifo_finish(&fifo, 0);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    assert_pops(&fifo, ALL, "END1 3", "3");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void a_list_that_broke_off_does_not_sync_but_the_next_one_does(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 1);
    assert_pops(&fifo, ALL, "default/a =1@1", "");
    ki_delta_fifo_finish(&fifo, 1);
    push_item(&fifo, 2, "a", 1);
    assert_pops(&fifo, ALL, "default/a =1@2", "");
    ki_delta_fifo_finish(&fifo, 1);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    push_marker(&fifo, KI_ENTRY_LIST_END, 2, "3");
    assert_pops(&fifo, ALL, "END2 3", "3");
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* ---- closing, waiting, starting over ------------------------------------------------------------------- */

static void a_closed_queue_is_drained_before_it_ends(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 1);
    push_event(&fifo, KI_DELTA_ADDED, "b", 2);
    ki_delta_fifo_close(&fifo);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 1);
    assert_pops(&fifo, 1, "default/a +1", "1");
    assert_int_equal(ki_delta_fifo_wait(&fifo, UINT64_MAX), 1);
    assert_pops(&fifo, ALL, "default/b +2", "2");
    assert_int_equal(ki_delta_fifo_wait(&fifo, UINT64_MAX), KI_ERR_NOT_FOUND);
    ki_delta_fifo_fini(&fifo);
}

static void a_wait_ends_when_the_time_is_over(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 0);
    uint64_t began_ns = ki_clock_now_ns(ki_clock_real());
    assert_int_equal(ki_delta_fifo_wait(&fifo, 20), 0);
    assert_true(ki_clock_now_ns(ki_clock_real()) - began_ns >= 19 * 1000 * 1000);
    ki_delta_fifo_fini(&fifo);
}

static void push_resync(void *user)
{
    if (ki_delta_fifo_push_marker(user, KI_ENTRY_RESYNC, 0, (ki_str){0}) < 0)
        ki_delta_fifo_close(user);
}

static void close_fifo(void *user)
{
    ki_delta_fifo_close(user);
}

static int wait_while(ki_delta_fifo *fifo, ki_thread_cb run)
{
    ki_thread thread;
    ki_thread_options options = {.name = "io", .run = run, .user = fifo};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    int rc = ki_delta_fifo_wait(fifo, UINT64_MAX);
    ki_thread_join(&thread);
    return rc;
}

static void a_push_and_a_close_wake_who_waits(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(wait_while(&fifo, push_resync), 1);
        assert_pops(&fifo, ALL, "RESYNC", "");
    }
    assert_int_equal(wait_while(&fifo, close_fifo), KI_ERR_NOT_FOUND);
    ki_delta_fifo_fini(&fifo);
}

static ki_resource_version version_of(const char *text)
{
    ki_resource_version version = {0};
    assert_int_equal(ki_resource_version_set(&version, ki_str_of(text)), 0);
    return version;
}

static void a_reset_forgets_what_waits_and_goes_on_from_a_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_event(&fifo, KI_DELTA_ADDED, "a", 5);
    push_marker(&fifo, KI_ENTRY_BOOKMARK, 0, "9");
    ki_delta_fifo_close(&fifo);
    ki_resource_version from = version_of("3");
    ki_delta_fifo_reset(&fifo, &from);
    assert_int_equal(ki_delta_fifo_items(&fifo), 0);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 0);
    assert_pops(&fifo, ALL, "", "3");
    push_event(&fifo, KI_DELTA_ADDED, "a", 4);
    push_event(&fifo, KI_DELTA_ADDED, "b", 5);
    assert_pops(&fifo, 1, "default/a +4", "4");
    from = version_of("");
    ki_delta_fifo_reset(&fifo, &from);
    assert_pops(&fifo, ALL, "", "");
    ki_delta_fifo_fini(&fifo);
}

static void after_a_reset_only_another_whole_list_syncs(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 1);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "3");
    assert_pops(&fifo, 1, "default/a =1@1", "");
    ki_delta_fifo_reset(&fifo, &none);
    ki_delta_fifo_finish(&fifo, 1);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    push_marker(&fifo, KI_ENTRY_LIST_END, 2, "3");
    ki_delta_fifo_finish(&fifo, 0);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    assert_pops(&fifo, 1, "END2 3", "3");
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_reset(&fifo, &none);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* The consumer gives up in the middle of a batch and never finishes it. */
static void a_batch_that_is_given_up_with_a_reset_does_not_count(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    push_item(&fifo, 1, "a", 1);
    push_marker(&fifo, KI_ENTRY_LIST_END, 1, "3");
    assert_pops(&fifo, ALL, "default/a =1@1; END1 3", "3");
    ki_delta_fifo_reset(&fifo, &none);
    push_marker(&fifo, KI_ENTRY_LIST_END, 2, "4");
    assert_pops(&fifo, ALL, "END2 4", "4");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* ---- without memory ------------------------------------------------------------------------------------ */

typedef struct fifo_facts {
    size_t items;
    size_t bytes;
    size_t live_count;
    ki_resource_version received;
} fifo_facts;

static fifo_facts facts_of(ki_delta_fifo *fifo)
{
    fifo_facts facts = {.items = ki_delta_fifo_items(fifo),
                        .bytes = ki_delta_fifo_bytes(fifo),
                        .live_count = failing_allocator_live_count(),
                        .received = fifo->received};
    return facts;
}

static void assert_unchanged(ki_delta_fifo *fifo, const fifo_facts *before)
{
    fifo_facts after = facts_of(fifo);
    assert_int_equal(after.items, before->items);
    assert_int_equal(after.bytes, before->bytes);
    assert_int_equal(after.live_count, before->live_count);
    assert_true(
        ki_str_equal(ki_resource_version_str(&after.received), ki_resource_version_str(&before->received)));
}

enum { SCRIPT_KEYS = 20, SCRIPT_ROUNDS = 3 };

/* What fails is done once more, with the object that was not taken. */
static void push_again(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
{
    fifo_facts before = facts_of(fifo);
    int rc = ki_delta_fifo_push(fifo, delta, version);
    if (rc < 0) {
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_unchanged(fifo, &before);
        rc = ki_delta_fifo_push(fifo, delta, version);
    }
    assert_int_equal(rc, 0);
}

static void push_seen_and_end_again(ki_delta_fifo *fifo)
{
    fifo_facts before = facts_of(fifo);
    int rc = ki_delta_fifo_push_seen(fifo, KI_STR("default/seen"), 1);
    if (rc < 0) {
        assert_unchanged(fifo, &before);
        rc = ki_delta_fifo_push_seen(fifo, KI_STR("default/seen"), 1);
    }
    assert_int_equal(rc, 0);
    before = facts_of(fifo);
    rc = ki_delta_fifo_push_marker(fifo, KI_ENTRY_LIST_END, 1, KI_STR("99"));
    if (rc < 0) {
        assert_unchanged(fifo, &before);
        assert_int_equal(fifo->first_list_end, 0);
        rc = ki_delta_fifo_push_marker(fifo, KI_ENTRY_LIST_END, 1, KI_STR("99"));
    }
    assert_int_equal(rc, 0);
}

static size_t count_deltas_of_all(ki_delta_fifo *fifo)
{
    size_t deltas = 0;
    ki_list batch;
    ki_resource_version version;
    ki_list_init(&batch);
    ki_delta_fifo_finish(fifo, ki_delta_fifo_pop(fifo, ALL, &batch, &version));
    for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL; node = ki_list_pop_front(&batch)) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        deltas += entry->count;
        ki_delta_entry_free(entry);
    }
    assert_true(ki_str_equal(ki_resource_version_str(&version), KI_STR("99")));
    return deltas;
}

static void without_memory_a_push_fails_and_changes_nothing(void **state)
{
    (void)state;
    ki_object *objects[SCRIPT_KEYS];
    for (int i = 0; i < SCRIPT_KEYS; i++)
        objects[i] = object_of((const char[]){(char)('a' + i), 0}, 7, 0);
    for (size_t n = 1; n == 1 || failing_allocator_has_failed(); n++) {
        ki_delta_fifo fifo;
        fifo_init(&fifo);
        failing_allocator_fail_at(n);
        for (int i = 0; i < SCRIPT_ROUNDS * SCRIPT_KEYS; i++) {
            ki_delta delta = {.type = KI_DELTA_UPDATED, .object = ki_object_ref(objects[i % SCRIPT_KEYS])};
            push_again(&fifo, delta, KI_STR("7"));
        }
        push_seen_and_end_again(&fifo);
        assert_int_equal(count_deltas_of_all(&fifo), SCRIPT_ROUNDS * SCRIPT_KEYS + 1);
        assert_true(ki_delta_fifo_has_synced(&fifo));
        ki_delta_fifo_fini(&fifo);
    }
    for (int i = 0; i < SCRIPT_KEYS; i++)
        ki_object_unref(objects[i]);
}

#define FIFO_TEST(test)                                                                                      \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIFO_TEST(an_empty_queue_gives_nothing_and_no_version),
        FIFO_TEST(fini_takes_a_zeroed_queue_and_drops_what_waits),
        FIFO_TEST(keys_leave_in_the_order_of_their_first_queueing),
        FIFO_TEST(changes_of_one_key_leave_together_oldest_first),
        FIFO_TEST(a_key_that_has_left_queues_at_the_end_again),
        FIFO_TEST(markers_keep_their_place_and_do_not_merge),
        FIFO_TEST(a_key_that_was_only_seen_waits_as_any_other),
        FIFO_TEST(that_a_key_is_alive_is_said_once_for_each_list),
        FIFO_TEST(a_batch_has_no_more_than_was_asked_for),
        FIFO_TEST(many_changes_of_one_key_are_all_kept),
        FIFO_TEST(of_two_deletes_in_a_row_the_later_is_kept),
        FIFO_TEST(a_delete_that_is_told_again_does_not_replace_a_newer_one),
        FIFO_TEST(a_delete_that_was_seen_is_kept_before_one_that_was_not),
        FIFO_TEST(deletes_with_something_in_between_are_both_kept),
        FIFO_TEST(a_merged_delete_still_moves_the_version),
        FIFO_TEST(a_key_that_leaves_early_takes_no_later_version_along),
        FIFO_TEST(items_of_a_list_have_no_version_but_its_end_has),
        FIFO_TEST(a_bookmark_moves_the_version_when_it_leaves),
        FIFO_TEST(an_older_version_does_not_move_it_back),
        FIFO_TEST(of_versions_that_are_no_numbers_the_last_received_counts),
        FIFO_TEST(a_version_that_is_too_long_is_refused_and_changes_nothing),
        FIFO_TEST(a_queue_full_of_keys_takes_more_and_has_room_again_at_half),
        FIFO_TEST(the_smallest_queue_has_room_when_it_is_empty),
        FIFO_TEST(a_queue_full_of_bytes_takes_more_and_has_room_again_at_half),
        FIFO_TEST(a_merged_delete_counts_the_bytes_of_the_one_that_is_kept),
        FIFO_TEST(an_object_that_grows_while_it_waits_does_not_upset_the_bytes),
        FIFO_TEST(a_queue_has_synced_when_the_last_entry_of_the_first_list_is_finished),
        FIFO_TEST(an_empty_list_syncs_as_well),
        FIFO_TEST(a_list_that_broke_off_does_not_sync_but_the_next_one_does),
        FIFO_TEST(a_closed_queue_is_drained_before_it_ends),
        FIFO_TEST(a_wait_ends_when_the_time_is_over),
        FIFO_TEST(a_push_and_a_close_wake_who_waits),
        FIFO_TEST(a_reset_forgets_what_waits_and_goes_on_from_a_version),
        FIFO_TEST(after_a_reset_only_another_whole_list_syncs),
        FIFO_TEST(a_batch_that_is_given_up_with_a_reset_does_not_count),
        FIFO_TEST(without_memory_a_push_fails_and_changes_nothing),
    };
    return RUN_TESTS(tests);
}
