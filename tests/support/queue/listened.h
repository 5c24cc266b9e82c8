/* SPDX-License-Identifier: Apache-2.0 */
/* listened - a listener whose callbacks record their calls.
 *
 *   From:     unit/handler/test_listener.c, unit/handler/test_backlog*.c
 *   To:       a text: "+1i ~1>2 -3u synced ; " is an initial add of version 1, an update, a delete whose
 *             final state is unknown, the marker, and the end of a batch
 */
#ifndef KI_TESTS_SUPPORT_QUEUE_LISTENED_H
#define KI_TESTS_SUPPORT_QUEUE_LISTENED_H

#include "handler/listener.h"

typedef struct listened {
    ki_listener listener;
    char text[8192];
    size_t len;
} listened;

/* Has all callbacks; `user` is the listened. */
ki_handler listened_handler(listened *l);

/* `handler` NULL: the one above. */
void listened_init(listened *l, const ki_handler *handler);
void listened_fini(listened *l);

/* With a limit of one: from the second entry on, the backlog has one entry per key. */
void listened_init_tight(listened *l);

/* The callback on_delete. */
void listened_on_delete(const ki_event *event, void *user);

/* An object "default/<name>" with that version and UID. */
ki_object *listened_object(const char *name, uint64_t version, uint64_t uid);

/* The same, with this many additional bytes. */
ki_object *listened_large_object(const char *name, uint64_t version, uint64_t uid, size_t more);

/* Takes the references. */
void listened_push(ki_listener *listener, ki_notification what);

/* The same, while the n-th allocation of the push itself fails; 0: none. */
void listened_push_failing(ki_listener *listener, ki_notification what, size_t n);

/* Pushes the initial objects of the handler, and the marker. Takes the references. */
void listened_begin(ki_listener *listener, ki_object *const *objects, size_t count);

void listened_push_add(listened *l, const char *name, uint64_t version, uint32_t flags);
void listened_push_update(listened *l, const char *name, uint64_t old, uint64_t version);
void listened_push_delete(listened *l, const char *name, uint64_t version, uint32_t flags);

void listened_deliver_all(ki_listener *listener);

/* Delivers everything, fails the test unless the text is this, and ends the listener. */
void listened_expect(listened *l, const char *expected);

#endif
