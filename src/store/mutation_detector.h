/* SPDX-License-Identifier: Apache-2.0 */
/* mutation_detector - detects writes into cached objects, which are shared.
 *
 *   From:     informer/: when an object enters or leaves the store, and every second
 *   To:       the log, a callback; abort()
 *   Locks:    none; dispatch's. Objects enter and leave under the store's locks, so findings are kept for
 *             ki_mutation_detector_report(): log and callback run without a lock.
 *   Not here: timers; which objects there are.
 *
 * An object gets a fingerprint when it enters, and is checked while it is in the store. `const` keeps correct
 * programs from writing; this finds casts and stray writes.
 */
#ifndef KI_STORE_MUTATION_DETECTOR_H
#define KI_STORE_MUTATION_DETECTOR_H

#include <kinformer/object.h>

#include "util/hash.h"
#include "util/list.h"
#include "util/log.h"
#include "util/map.h"

typedef enum ki_mutation_mode {
    KI_MUTATION_OFF = 0, /* nothing is watched, and every call returns at once */
    KI_MUTATION_REPORT,
    KI_MUTATION_ABORT /* reports, then ends the process */
} ki_mutation_mode;

/* Borrowed for the call. */
typedef struct ki_mutation {
    ki_str key;              /* the key when the object entered */
    const ki_object *object; /* in its current state */
    uint64_t before;         /* fingerprints: they only show that the object has changed */
    uint64_t after;
} ki_mutation;

typedef void (*ki_mutation_cb)(const ki_mutation *mutation, void *user);

typedef struct ki_mutation_detector_options {
    ki_mutation_mode mode;
    ki_mutation_cb report; /* NULL: the log only */
    void *user;
    const char *name;       /* the owner of the objects; NULL: "". `name` and `log` must outlive the
                             * detector */
    const ki_log_sink *log; /* NULL: that of the process */
    uint64_t hash_seed;     /* 0: a random key; other values are for simulations */
} ki_mutation_detector_options;

typedef struct ki_mutation_detector {
    ki_mutation_mode mode;
    ki_mutation_cb report;
    void *user;
    const char *name;
    const ki_log_sink *log;
    ki_hash_key hash_key;
    ki_list watched;
    ki_list found; /* objects with a change to report; they may have left the store */
    ki_map by_object;
} ki_mutation_detector;

/* KUBE_CACHE_MUTATION_DETECTOR, read as Go's ParseBool does: KI_MUTATION_ABORT for 1, t, T, true, True and
 * TRUE, else KI_MUTATION_OFF. */
ki_mutation_mode ki_mutation_detector_mode_from_environment(void);

/* Returns 0 or KI_ERR_SYSTEM. If `options` is NULL, the detector is off. */
KI_NODISCARD int ki_mutation_detector_init(ki_mutation_detector *detector,
                                           const ki_mutation_detector_options *options);

/* Checks all watched objects once more, then drops them. A zeroed struct is allowed. */
void ki_mutation_detector_fini(ki_mutation_detector *detector);

/* Watches an object until it has been removed as often as it was added. Adds a reference. Returns 0, or
 * KI_ERR_NO_MEMORY; then the object is not watched, and nothing else changes. */
KI_NODISCARD int ki_mutation_detector_add(ki_mutation_detector *detector, const ki_object *object);

/* Checks an object and drops it. An object that is not watched is allowed. Calls no callback. */
void ki_mutation_detector_remove(ki_mutation_detector *detector, const ki_object *object);

/* Reports the findings since the last call, also for objects that have left the store.
 * Never call it under a lock. */
void ki_mutation_detector_report(ki_mutation_detector *detector);

/* Checks all watched objects, and reports findings. Each detected change is reported once. Returns the number
 * of changed objects. */
size_t ki_mutation_detector_check(ki_mutation_detector *detector);

#endif
