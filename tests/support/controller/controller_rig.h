/* SPDX-License-Identifier: Apache-2.0 */
/* controller_rig - a controller in virtual time with two informers; the test plays their server.
 *
 *   From:     tests of controllers
 *   To:       support/reflector/scripted_source.h, client/client.h
 *
 * One thread, KI_MODE_EVENT_LOOP. Reconciles are recorded and succeed, unless the test sets a function.
 */
#ifndef KI_TESTS_SUPPORT_CONTROLLER_CONTROLLER_RIG_H
#define KI_TESTS_SUPPORT_CONTROLLER_CONTROLLER_RIG_H

#include <kinformer/controller.h>

#include "support/reflector/scripted_source.h"
#include "support/text_log.h"
#include "util/clock.h"

enum { RIG_DEPLOYMENTS = 0, RIG_PODS = 1, RIG_PENDING_MAX = 8 };

typedef struct controller_rig controller_rig;
struct controller_rig {
    ki_clock clock;
    ki_metrics *metrics;
    ki_client *client;
    scripted_source sources[2];
    ki_list_watch list_watches[2];
    ki_informer *informers[2]; /* NULL if the test has freed it; likewise the controller */
    ki_controller *controller;
    text_log calls; /* keys of the reconciles: "a/x a/y " */
    text_log log;   /* warnings and errors: "key: message" */
    ki_result (*reconcile)(controller_rig *rig, ki_request *request); /* NULL: ki_done() */
    ki_request *pending[RIG_PENDING_MAX];                             /* for that function */
    size_t pending_count;
    int released;
    uint64_t reconciled_ns; /* when the last reconcile began */
};

/* `options` for the controller; name, reconcile, user and on_release are set by the rig. NULL is allowed. */
void controller_rig_init(controller_rig *rig, const ki_controller_options *options);
void controller_rig_fini(controller_rig *rig);

/* Runs for this many milliseconds. Fails the test if the loop runs without work. */
void controller_rig_run(controller_rig *rig, uint64_t ms);

/* Starts both informers and answers their lists with these objects, separated by commas. */
void controller_rig_sync(controller_rig *rig, const char *deployments, const char *pods);
void controller_rig_answer_list(controller_rig *rig, int informer, const char *version, const char *items);

/* Sends an event of the watch. */
void controller_rig_event(controller_rig *rig, int informer, const char *type, const char *object);

/* The text of an object, valid until the eighth call after it;
 * `metadata` is inserted as it is: ",\"labels\":{}". */
const char *rig_object(const char *ns, const char *name, int version, const char *metadata);
/* The same, with a controlling owner. */
const char *rig_owned(const char *ns, const char *name, int version, const char *api_version,
                      const char *kind, const char *owner);

/* Fails the test unless exactly these keys were reconciled since the last call: "a/x a/y ". */
#define RIG_EXPECT(rig, keys) text_log_expect(&(rig)->calls, keys, __FILE__, __LINE__)

/* The value of a metric; the labels are written as in support/exposition.h. */
double controller_rig_metric(controller_rig *rig, const char *name, const char *labels);

ki_controller_status controller_rig_status(controller_rig *rig);

#endif
