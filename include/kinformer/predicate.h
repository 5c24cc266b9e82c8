/* SPDX-License-Identifier: Apache-2.0 */
/* predicate - selects the events that a controller reacts to.
 *
 *   ki_predicate either = ki_predicate_or(&KI_PREDICATE_GENERATION_CHANGED, &KI_PREDICATE_LABELS_CHANGED);
 *   ki_controller_watch(controller, informer, &either);
 *
 * The ready-made predicates test updates. They let every add and delete pass, every update without `old`, and
 * every update with KI_EVENT_REPLACED. Any other update passes only if the named part
 * differs, so a resync never passes. Predicates are plain values that borrow the predicates they are made of.
 * A controller borrows its predicates as well: all of them must live until the controller's on_release.
 * Threads: any, for all calls.
 */
#ifndef KI_PREDICATE_H
#define KI_PREDICATE_H

#include <kinformer/common.h>
#include <kinformer/handler.h>

KI_EXTERN_C_BEGIN

typedef struct ki_predicate ki_predicate;

/** Returns 1 to let the event pass, else 0. `user` is that of `predicate`. Called like a handler, on several
 * threads at once if several watches use it. */
typedef int (*ki_predicate_cb)(const ki_event *event, const ki_predicate *predicate, void *user);

struct ki_predicate {
    ki_predicate_cb passes; /* NULL: everything passes */
    void *user;             /* for a function of your own */
    const ki_predicate *a;  /* the operands of and, or, not */
    const ki_predicate *b;
    uint64_t reserved[2];
};

/** metadata.generation differs: the spec was changed, not just the status. For objects without a generation,
 * such as ConfigMaps, no update passes. */
KI_API extern const ki_predicate KI_PREDICATE_GENERATION_CHANGED;
/** The object was changed in any way. */
KI_API extern const ki_predicate KI_PREDICATE_RESOURCE_VERSION_CHANGED;
/** metadata.labels differ. */
KI_API extern const ki_predicate KI_PREDICATE_LABELS_CHANGED;
/** metadata.annotations differ. */
KI_API extern const ki_predicate KI_PREDICATE_ANNOTATIONS_CHANGED;

/** Combinations. The operands are borrowed; a NULL operand lets everything pass. ki_predicate_not() inverts
 * the result for adds and deletes, too, so that of a ready-made predicate lets none of them pass. */
KI_API ki_predicate ki_predicate_and(const ki_predicate *a, const ki_predicate *b);
KI_API ki_predicate ki_predicate_or(const ki_predicate *a, const ki_predicate *b);
KI_API ki_predicate ki_predicate_not(const ki_predicate *a);

/** 1 when the event passes; a NULL predicate lets everything pass, and a NULL event does not pass. */
KI_API int ki_predicate_passes(const ki_predicate *predicate, const ki_event *event);

KI_EXTERN_C_END

#endif
