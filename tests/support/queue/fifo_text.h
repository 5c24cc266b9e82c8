/* SPDX-License-Identifier: Apache-2.0 */
/* fifo_text - pushes into a delta queue, and its entries as text.
 *
 *   From:     tests of queue/delta_fifo
 *   To:       queue/delta_fifo.h, support/store/objects.h
 *
 * An entry is its key and its deltas, "default/a +1 ~2@3": a sign, the version, and the list if there is one.
 * Markers are "END3 17", "RESYNC", "BOOKMARK 18" and "RESET4". Entries are separated by "; ".
 */
#ifndef KI_TESTS_SUPPORT_QUEUE_FIFO_TEXT_H
#define KI_TESTS_SUPPORT_QUEUE_FIFO_TEXT_H

#include "queue/delta_fifo.h"

/* More entries than any queue in these tests has. */
enum { FIFO_ALL = 1000 };

/* With the default limits. */
void fifo_init(ki_delta_fifo *fifo);

/* Pushes a change of a watch. Returns the result of the push. */
int fifo_push_event(ki_delta_fifo *fifo, ki_change_type type, const char *name, uint64_t version);

/* An item of a list; a delete that no watch has reported; the end of a list, a resync or a bookmark. */
void fifo_push_item(ki_delta_fifo *fifo, uint32_t list, const char *name, uint64_t version);
void fifo_push_unseen_delete(ki_delta_fifo *fifo, const char *name, uint64_t version);
void fifo_push_marker(ki_delta_fifo *fifo, ki_change_type kind, uint32_t list, const char *version);

/* Pops up to `max` entries, which must be `expected`; `version` is the version up to which everything must
 * then have been popped. */
void fifo_assert_pops(ki_delta_fifo *fifo, size_t max, const char *expected, const char *version);

#endif
