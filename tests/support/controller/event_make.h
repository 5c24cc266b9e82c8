/* SPDX-License-Identifier: Apache-2.0 */
/* event_make - recorded events for tests, about pods of the namespace default.
 *
 *   From:     tests of the recorder's parts
 *   To:       controller/recorded.h
 */
#ifndef KI_TESTS_SUPPORT_CONTROLLER_EVENT_MAKE_H
#define KI_TESTS_SUPPORT_CONTROLLER_EVENT_MAKE_H

#include "controller/recorded.h"

/* A pod with this name, UID "uid-<name>", and resource version; the caller drops it. */
ki_object *event_make_pod(const char *name, const char *version);

/* A Normal event about the pod at version "1"; `wall_ns` is the time at which it was recorded,
 * and its number. */
ki_recorded *event_make(const char *pod, const char *reason, const char *message, int64_t wall_ns);

/* Keys from a fixed seed. */
ki_recorded_hash event_make_hash(void);

/* Events one after another, with a time that the test advances. */
typedef struct event_scene {
    ki_recorded_hash hash;
    uint64_t now_ns;
    int64_t wall_ns; /* advances by one with each event, from 101 on */
} event_scene;

void event_scene_init(event_scene *scene);
void event_scene_pass(event_scene *scene, uint64_t seconds);
ki_recorded *event_scene_make(event_scene *scene, const char *pod, const char *reason, const char *message);

#endif
