/* SPDX-License-Identifier: Apache-2.0 */
/* predicate - selects the events that a controller reacts to.
 *
 *   ki_predicate either = ki_predicate_or(&KI_PREDICATE_GENERATION_CHANGED, &KI_PREDICATE_LABELS_CHANGED);
 *   ki_controller_watch(controller, informer, &either);
 *
 * The ready-made predicates test updates only; adds and deletes always pass. Predicates are plain values that
 * borrow the predicates they are made of.
 * Threads: any, for all calls.
 */
#ifndef KI_PREDICATE_H
#define KI_PREDICATE_H

#include <kinformer/common.h>
#include <kinformer/handler.h>

KI_EXTERN_C_BEGIN

typedef struct ki_predicate ki_predicate;

/** Returns 1 to let the event pass, else 0. `user` is that of `predicate`. Called on a handler thread. */
typedef int (*ki_predicate_cb)(const ki_event *event, const ki_predicate *predicate, void *user);

struct ki_predicate {
    ki_predicate_cb passes; /* NULL: everything passes */
    void *user;             /* for a function of your own */
    const ki_predicate *a;  /* the operands of and, or, not */
    const ki_predicate *b;
    uint64_t reserved[2];
};

/** metadata.generation differs: the spec was changed, not just the status. Resyncs do not pass. */
KI_API extern const ki_predicate KI_PREDICATE_GENERATION_CHANGED;
/** The object was changed in any way. Resyncs do not pass. */
KI_API extern const ki_predicate KI_PREDICATE_RESOURCE_VERSION_CHANGED;
KI_API extern const ki_predicate KI_PREDICATE_LABELS_CHANGED;
KI_API extern const ki_predicate KI_PREDICATE_ANNOTATIONS_CHANGED;

/** Combinations. The operands are borrowed; NULL stands for one that lets everything pass. */
KI_API ki_predicate ki_predicate_and(const ki_predicate *a, const ki_predicate *b);
KI_API ki_predicate ki_predicate_or(const ki_predicate *a, const ki_predicate *b);
KI_API ki_predicate ki_predicate_not(const ki_predicate *a);

/** 1 when the event passes; NULL lets everything pass. */
KI_API int ki_predicate_passes(const ki_predicate *predicate, const ki_event *event);

KI_EXTERN_C_END

#endif
