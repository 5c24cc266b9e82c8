/* SPDX-License-Identifier: Apache-2.0 */
#include "support/queue/fifo_text.h"
#include "support/queue/fifo_push.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/store/objects.h"
#include "support/unit.h"

void fifo_init(ki_delta_fifo *fifo)
{
    assert_int_equal(ki_delta_fifo_init(fifo, NULL), 0);
}

int fifo_push_event(ki_delta_fifo *fifo, ki_change_type type, const char *name, uint64_t version)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, version);
    int rc = fifo_push_new(fifo, (ki_delta){.change_type = type, .object = object_of(name, version, 0)},
                           ki_str_of(text));
    assert_true(rc >= 0);
    return rc;
}

void fifo_push_item(ki_delta_fifo *fifo, uint32_t list, const char *name, uint64_t version)
{
    ki_delta delta = {.change_type = KI_CHANGE_REPLACED, .list = list, .object = object_of(name, version, 0)};
    assert_true(fifo_push_new(fifo, delta, (ki_str){0}) >= 0);
}

void fifo_push_unseen_delete(ki_delta_fifo *fifo, const char *name, uint64_t version)
{
    ki_delta delta = {
        .change_type = KI_CHANGE_DELETED, .final_state_unknown = 1, .object = object_of(name, version, 0)};
    assert_true(fifo_push_new(fifo, delta, (ki_str){0}) >= 0);
}

void fifo_push_marker(ki_delta_fifo *fifo, ki_change_type marker, uint32_t list, const char *version)
{
    assert_true(ki_delta_fifo_push_marker(fifo, marker, list, ki_str_of(version)) >= 0);
}

typedef struct text_out {
    char text[4096];
    size_t len;
} text_out;

static void print_delta(text_out *out, const ki_delta *delta)
{
    static const char signs[] = {[KI_CHANGE_ADDED] = '+',
                                 [KI_CHANGE_UPDATED] = '~',
                                 [KI_CHANGE_DELETED] = '-',
                                 [KI_CHANGE_REPLACED] = '=',
                                 [KI_CHANGE_SEEN] = '!'};
    char sign = delta->final_state_unknown ? '?' : signs[delta->change_type];
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
    static const char *const markers[] = {[0] = "",
                                          [KI_CHANGE_LIST_END] = "END",
                                          [KI_CHANGE_SYNC] = "RESYNC",
                                          [KI_CHANGE_BOOKMARK] = "BOOKMARK",
                                          [KI_CHANGE_RESET] = "RESET"};
    const char *separator = out->len == 0 ? "" : "; ";
    ki_str version = ki_resource_version_str(&entry->version);
    out->len += (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, "%s%s%s%.0u", separator,
                                 markers[entry->marker], entry->key, entry->list);
    if (version.len > 0)
        out->len += (size_t)snprintf(out->text + out->len, sizeof(out->text) - out->len, " %.*s",
                                     KI_STR_ARGS(version));
    for (uint32_t i = 0; i < entry->count; i++) {
        out->text[out->len++] = ' ';
        print_delta(out, &entry->deltas[i]);
    }
    assert_int_equal(strlen(entry->key), entry->key_len);
}

void fifo_assert_pops(ki_delta_fifo *fifo, size_t max, const char *expected, const char *version)
{
    ki_list batch;
    ki_list done;
    text_out out = {.len = 0};
    ki_resource_version upto = {0};
    ki_list_init(&batch);
    ki_list_init(&done);
    size_t n = ki_delta_fifo_pop(fifo, max, &batch, &upto);
    for (ki_list_node *node = ki_list_pop_front(&batch); node != NULL;
         node = ki_list_pop_front(&batch), n--) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        print_entry(&out, entry);
        ki_delta_entry_clear(entry);
        ki_list_push_back(&done, node);
    }
    ki_delta_fifo_give_back(fifo, &done);
    assert_int_equal(n, 0);
    assert_string_equal(out.text, expected);
    char is[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    snprintf(is, sizeof(is), "%.*s", KI_STR_ARGS(ki_resource_version_str(&upto)));
    assert_string_equal(is, version);
}
