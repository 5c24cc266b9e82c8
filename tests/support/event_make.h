/* SPDX-License-Identifier: Apache-2.0 */
/* event_make - recorded events for tests, about pods of the namespace default.
 *
 *   From:     tests of the recorder's parts
 *   To:       controller/recorded.h
 */
#ifndef KI_TESTS_SUPPORT_EVENT_MAKE_H
#define KI_TESTS_SUPPORT_EVENT_MAKE_H

#include "controller/recorded.h"

/* A pod with this name, UID "uid-<name>", and resource version; the caller drops it. */
ki_object *event_make_pod(const char *name, const char *version);

/* A Normal event about the pod at version "1"; recorded at `wall_ns`, which is its number, too. */
ki_recorded *event_make(const char *pod, const char *reason, const char *message, int64_t wall_ns);

/* Keys from a fixed seed. */
ki_recorded_hash event_make_hash(void);

#endif
