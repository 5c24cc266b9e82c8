/* SPDX-License-Identifier: Apache-2.0 */
/* change - what is learnt about a collection, one thing at a time: from a reflector to a queue.
 *
 * A list comes as its items and its end, and may be tried several times: each attempt has a number, and what
 * an attempt without an end has brought is true all the same. What was there before and is in no item of a
 * list that has ended is gone.
 */
#ifndef KI_CHANGE_H
#define KI_CHANGE_H

#include <kinformer/common.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

typedef enum ki_change_type {
    KI_CHANGE_ADDED = 1, /* of a watch, as the next two */
    KI_CHANGE_UPDATED,
    KI_CHANGE_DELETED,
    KI_CHANGE_ITEM,     /* of a list */
    KI_CHANGE_SEEN,     /* an item of a list that could not be used: its key is there, and that is all */
    KI_CHANGE_LIST_END, /* the list was complete, as of `version` */
    KI_CHANGE_BOOKMARK, /* nothing has changed up to `version` but what was told before */
    KI_CHANGE_RESET     /* the server's history is another one: forget what waits, versions begin anew */
} ki_change_type;

typedef struct ki_change {
    ki_change_type type;
    uint32_t list; /* the number of the attempt: of ITEM, SEEN, LIST_END, RESET, and of a DELETED that a
                    * streamed list tells before its end, which counts with that */
    const ki_object *object; /* of ADDED, UPDATED, DELETED, ITEM; borrowed for the call */
    ki_str key;              /* of SEEN */
    ki_str version;          /* received until then; empty when this says nothing about that */
    int is_doubtful; /* of ITEM: the list may prove to be older than what was told before: its end tells. What
                      * is not known, and not newer than that, may be an object that has been deleted since */
} ki_change;

/**
 * Takes one change.
 *
 * Returns: 0; 1: taken, and the next one only when there is room; KI_ERR_NO_MEMORY: not taken, to be told
 *          again.
 */
typedef int (*ki_change_cb)(const ki_change *change, void *user);

KI_EXTERN_C_END

#endif
