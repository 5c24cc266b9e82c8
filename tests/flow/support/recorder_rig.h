/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_rig - an embedded API server, and a recorder that writes its events there. */
#ifndef KI_TESTS_FLOW_SUPPORT_RECORDER_RIG_H
#define KI_TESTS_FLOW_SUPPORT_RECORDER_RIG_H

#include <kinformer.h>

#include "support/apiserver/api_rig.h"

#define CORE_EVENTS "/api/v1/namespaces/default/events"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"

typedef struct recorder_rig {
    ki_apiserver *server;
    ki_client *client;
    ki_recorder *recorder;
    ki_object *pod;
} recorder_rig;

/* The component is "tester". */
void recorder_rig_init_with(recorder_rig *r, int mode, ki_recorder_options options);
void recorder_rig_init(recorder_rig *r, int mode, int api);

/* Frees everything that was not freed already. */
void recorder_rig_fini(recorder_rig *r);

/* Reads the counts. Every recorded event must be in exactly one of them. */
ki_recorder_stats recorder_rig_stats(const recorder_rig *r);
void recorder_rig_flush(const recorder_rig *r);
int recorder_rig_say(const recorder_rig *r, const char *reason, const char *message);

/* Does what a program with an event loop would do, for a moment. */
void recorder_rig_turn(recorder_rig *r);

typedef struct recorder_rig_writes {
    int posts, patches, others, unanswered;
} recorder_rig_writes;

/* The writes of events that the server has received. */
recorder_rig_writes recorder_rig_requests(const recorder_rig *r);

/* Waits for a list of events with this many items; the caller frees it with api_answer_fini(). */
api_answer recorder_rig_list(const recorder_rig *r, const char *path, size_t count_wanted);
int64_t recorder_rig_number(const api_answer *answer, const char *path);

#endif
