/* SPDX-License-Identifier: Apache-2.0 */
/* change - what is learnt about a collection, one thing at a time, and the words for it.
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

/** The words for what happens to an object, from the decoder of a watch to the handlers. The first five are
 * also those of a delta queue, the first three those of handlers. */
typedef enum ki_change_type {
    KI_CHANGE_ADDED = 1,
    KI_CHANGE_UPDATED, /* MODIFIED, as a server calls it */
    KI_CHANGE_DELETED,
    KI_CHANGE_REPLACED, /* an item of a list: new, changed or as before */
    KI_CHANGE_SYNC,     /* nothing has changed: an object of the store once more */
    KI_CHANGE_SEEN,     /* an item of a list that cannot be used: only that its key exists is known */
    KI_CHANGE_LIST_END, /* the list was complete, as of `version` */
    KI_CHANGE_BOOKMARK, /* nothing has changed up to `version` but what was reported before */
    KI_CHANGE_RESET     /* the server has another history: drop what waits, versions start over */
} ki_change_type;

/** What a reflector reports; never KI_CHANGE_SYNC. */
typedef struct ki_change {
    ki_change_type type;
    /* The number of the attempt: of REPLACED, SEEN, LIST_END, RESET, and of a DELETED that a streamed list
     * reports before its end, which counts with that. */
    uint32_t list;
    const ki_object *object; /* of ADDED, UPDATED, DELETED, REPLACED; borrowed for the call */
    ki_str key;              /* of SEEN */
    ki_str version;          /* received until then; empty when this says nothing about that */
    /* Of REPLACED: the list may turn out to be older than what was reported before; its end decides. An
     * object that is not known, and not newer than that, may have been deleted since. */
    int is_doubtful;
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
