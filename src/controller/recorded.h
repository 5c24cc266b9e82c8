/* SPDX-License-Identifier: Apache-2.0 */
/* recorded - an event as a program records it: copied, truncated to the limits of servers, ready to compare.
 *
 *   From:     controller/recorder.c and controller/recorder_add.c (any thread makes them); the rest of
 *             controller/ that records events
 *   To:       controller/correlator.c, controller/series.c, controller/event_text.c
 *   Locks:    none; one thread at a time changes the reference count.
 *   Not here: which events belong together.
 *
 * The texts are stored one after the other, each with a NUL, in the order of ki_recorded_part. So two events
 * are compared by a prefix of this memory.
 */
#ifndef KI_CONTROLLER_RECORDED_H
#define KI_CONTROLLER_RECORDED_H

#include <kinformer/recorder.h>

#include "controller/lru.h"
#include "util/hash.h"
#include "util/list.h"

typedef enum ki_recorded_part {
    KI_RECORDED_API_VERSION = 0,
    KI_RECORDED_KIND,
    KI_RECORDED_NAMESPACE,
    KI_RECORDED_NAME,
    KI_RECORDED_UID,    /* the texts up to here identify the object */
    KI_RECORDED_TYPE,   /* up to here: equal in what is limited as spam */
    KI_RECORDED_REASON, /* up to here: equal in similar events */
    KI_RECORDED_VERSION,
    KI_RECORDED_ACTION,
    KI_RECORDED_RELATED_API_VERSION, /* from here on, the same six texts of the related object; empty: none */
    KI_RECORDED_RELATED_KIND,
    KI_RECORDED_RELATED_NAMESPACE,
    KI_RECORDED_RELATED_NAME,
    KI_RECORDED_RELATED_UID,
    KI_RECORDED_RELATED_VERSION, /* up to here: equal in isomorphic events */
    KI_RECORDED_MESSAGE,
    KI_RECORDED_PARTS
} ki_recorded_part;

/* In bytes. KI_REASON_BYTES and KI_NOTE_BYTES: the limits of servers for events.k8s.io/v1. KI_MESSAGE_BYTES:
 * a limit of our own for messages of the core API, which has none. */
enum { KI_REASON_BYTES = 128, KI_NOTE_BYTES = 1024, KI_MESSAGE_BYTES = 8192 };

typedef struct ki_recorded {
    ki_list_node node; /* in the queue */
    unsigned refs;
    uint64_t ticket; /* its position in the queue, counted from 1 */
    int64_t wall_ns; /* when it was recorded */
    uint64_t number; /* the time as a number that is unique in its recorder; part of the name */
    ki_str parts[KI_RECORDED_PARTS];
    char text[];
} ki_recorded;

/* Makes an event from `record`, with the time 0. Texts are truncated between characters, and bytes that
 * are not UTF-8 become '?'. Without an action, the reason is used as the action. Returns NULL when out of
 * memory. */
KI_NODISCARD ki_recorded *ki_recorded_new(const ki_record *record, size_t message_bytes_max);

ki_recorded *ki_recorded_ref(ki_recorded *event);
void ki_recorded_unref(ki_recorded *event); /* NULL is allowed */

/* The secret hash keys of one recorder. */
typedef struct ki_recorded_hash {
    ki_hash_key a;
    ki_hash_key b;
} ki_recorded_hash;

/* The hash of the texts up to `last`. */
ki_lru_key ki_recorded_key(const ki_recorded *event, ki_recorded_part last, const ki_recorded_hash *hash);

/* The hash of the texts up to the reason, and of the message. Identical events have the same one. */
ki_lru_key ki_recorded_identity(const ki_recorded *event, const ki_recorded_hash *hash);

/* The namespace of the event: that of the object, or "default". */
ki_str ki_recorded_namespace(const ki_recorded *event);

#endif
