/* SPDX-License-Identifier: Apache-2.0 */
/* mutation_detector - finds out who writes into cached objects, which everyone shares.
 *
 *   From:     dispatch: when an object enters or leaves the store, and every second
 *   To:       the log, a callback; abort()
 *   Locks:    none; dispatch's. Objects enter and leave under the store's locks, so what is found then is
 *             kept for ki_mutation_detector_report(): log and callback run without a lock.
 *   Not here: timers; which objects there are.
 *
 * An object has a fingerprint from when it enters, and is watched while it is in the store. The C compiler
 * keeps honest programs from writing; this is for casts, and for writes that were meant for somewhere else.
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
    ki_str key;              /* as it was when the object entered */
    const ki_object *object; /* as it is now */
    uint64_t before;         /* fingerprints, which tell only that they differ */
    uint64_t after;
} ki_mutation;

typedef void (*ki_mutation_cb)(const ki_mutation *mutation, void *user);

typedef struct ki_mutation_detector_options {
    ki_mutation_mode mode;
    ki_mutation_cb report; /* NULL: the log only */
    void *user;
    const char *name;       /* of whose objects they are; lives longer, as the next. NULL: "" */
    const ki_log_sink *log; /* NULL: that of the process */
    uint64_t hash_seed;     /* 0: a random key; else for simulations */
} ki_mutation_detector_options;

typedef struct ki_mutation_detector {
    ki_mutation_mode mode;
    ki_mutation_cb report;
    void *user;
    const char *name;
    const ki_log_sink *log;
    ki_hash_key hash_key;
    ki_list watched;
    ki_list found; /* those of them, and of those that have left, that are to be reported */
    ki_map by_object;
} ki_mutation_detector;

/* KUBE_CACHE_MUTATION_DETECTOR, read as Go's ParseBool does: KI_MUTATION_ABORT for 1, t, T, true, True and
 * TRUE, else KI_MUTATION_OFF. */
ki_mutation_mode ki_mutation_detector_mode_from_environment(void);

/* Returns 0 or KI_ERR_SYSTEM. `options` may be NULL: off. */
KI_NODISCARD int ki_mutation_detector_init(ki_mutation_detector *detector,
                                           const ki_mutation_detector_options *options);

/* Checks everything once more, then lets go of it. Takes a zeroed struct. */
void ki_mutation_detector_fini(ki_mutation_detector *detector);

/* Watches an object until it is removed as often as it was added; takes a reference. Returns 0, or
 * KI_ERR_NO_MEMORY: it is not watched, and all else is as before. */
KI_NODISCARD int ki_mutation_detector_add(ki_mutation_detector *detector, const ki_object *object);

/* Checks an object and lets go of it. Takes one that is not watched as well. Calls nobody. */
void ki_mutation_detector_remove(ki_mutation_detector *detector, const ki_object *object);

/* Reports what was found since the last time, also of objects that have left. Never under a lock. */
void ki_mutation_detector_report(ki_mutation_detector *detector);

/* Checks everything that is watched, and reports what was found. Whatever has changed is reported once for
 * each time it is seen to have. Returns how many have. */
size_t ki_mutation_detector_check(ki_mutation_detector *detector);

#endif
