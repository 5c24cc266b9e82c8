/* SPDX-License-Identifier: Apache-2.0 */
/* listened - a listener whose callbacks write down what they hear.
 *
 *   From:     tests of handler/listener.h and handler/backlog.h
 *   To:       a text: "+1i ~1>2 -3u synced ; " is an initial add of version 1, an update, a delete whose
 *             final state is unknown, the marker, and the end of a batch
 */
#ifndef KI_TESTS_SUPPORT_LISTENED_H
#define KI_TESTS_SUPPORT_LISTENED_H

#include "handler/listener.h"

typedef struct listened {
    ki_listener listener;
    char text[8192];
    size_t len;
} listened;

/* All callbacks; `user` is the listened. */
ki_handler listened_handler(listened *l);

/* `handler` NULL: the one above. */
void listened_init(listened *l, const ki_handler *handler);
void listened_fini(listened *l);

/* With a limit of one: from the second entry on there is one per key. */
void listened_init_tight(listened *l);

/* What on_delete does. */
void listened_on_delete(const ki_event *event, void *user);

/* "default/<name>" at that version, with that UID. */
ki_object *listened_object(const char *name, uint64_t version, uint64_t uid);

/* The same, and this many bytes more. */
ki_object *listened_large_object(const char *name, uint64_t version, uint64_t uid, size_t more);

/* Takes the references. */
void listened_push(ki_listener *listener, ki_notification what);

/* The same, and the n-th allocation that the push itself makes fails; 0: none. */
void listened_push_failing(ki_listener *listener, ki_notification what, size_t n);

/* Takes them: what the handler begins with, and the marker. */
void listened_begin(ki_listener *listener, ki_object *const *objects, size_t count);

void listened_push_add(listened *l, const char *name, uint64_t version, uint32_t flags);
void listened_push_update(listened *l, const char *name, uint64_t old, uint64_t version);
void listened_push_delete(listened *l, const char *name, uint64_t version, uint32_t flags);

void listened_deliver_all(ki_listener *listener);

/* Delivers all, and fails the test unless the text is this; ends the listener. */
void listened_expect(listened *l, const char *expected);

#endif
