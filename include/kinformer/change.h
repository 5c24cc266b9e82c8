/* SPDX-License-Identifier: Apache-2.0 */
/* change - one change of a collection, as a reflector reports it, and the names of change types.
 *
 * A list is reported as its items and its end. It may take several attempts; each has a number. The items of
 * an attempt that is given up are valid nevertheless. When a list has ended, an object that was known before
 * and is not among its items has been deleted.
 */
#ifndef KI_CHANGE_H
#define KI_CHANGE_H

#include <kinformer/common.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

/** The types of changes, from the watch decoder to the handlers. A delta queue uses the first five, handlers
 * the first three. */
typedef enum ki_change_type {
    KI_CHANGE_ADDED = 1,
    KI_CHANGE_UPDATED, /* MODIFIED in the Kubernetes API */
    KI_CHANGE_DELETED,
    KI_CHANGE_REPLACED, /* an item of a list: new, changed or unchanged */
    KI_CHANGE_SYNC,     /* a resync: an object of the store, unchanged */
    KI_CHANGE_SEEN,     /* an invalid item of a list: only its key is known */
    KI_CHANGE_LIST_END, /* the list was complete, as of `version` */
    KI_CHANGE_BOOKMARK, /* all changes up to `version` have been reported */
    KI_CHANGE_RESET     /* the server has another history: drop queued changes, versions start over */
} ki_change_type;

/** What a reflector reports; never KI_CHANGE_SYNC. */
typedef struct ki_change {
    ki_change_type change_type;
    /* REPLACED, SEEN, LIST_END, RESET: the number of the list attempt. DELETED: 0, or the number of a
     * streamed list that has not ended; the delete takes effect when that list ends. Others: 0. */
    uint32_t list;
    const ki_object *object; /* for ADDED, UPDATED, DELETED, REPLACED; borrowed for the call */
    ki_str key;              /* for SEEN */
    ki_str version;          /* everything up to here has been received; empty: unknown */
    /* For REPLACED. 1: the version of the list is not known yet, so the list may be older than what was
     * received before. If you do not have the object, and its resourceVersion is not greater than the
     * greatest `version` received so far, it may have been deleted since: do not add it before LIST_END,
     * whose version tells. */
    int is_doubtful;
    uint64_t reserved[2];
} ki_change;

/**
 * Receives one change.
 *
 * Returns: 0; 1: accepted, but send no more until ki_feed_resume(); a negative code: not accepted. The change
 *          is then reported again; for an item of a list, the whole list is. Every code counts as
 *          KI_ERR_NO_MEMORY.
 * Threads: `io`: the client's network thread, or the thread that dispatches in KI_MODE_EVENT_LOOP.
 */
typedef int (*ki_change_cb)(const ki_change *change, void *user);

KI_EXTERN_C_END

#endif
