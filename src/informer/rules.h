/* SPDX-License-Identifier: Apache-2.0 */
/* rules - what is applied to the store and what is not: rules 3, 4 and 8 of docs/consistency.md.
 *
 *   From:     informer/apply.c asks, for one change and what the store holds under its key
 *   Locks:    none; pure functions.
 *   Not here: doing it.
 */
#ifndef KI_INFORMER_RULES_H
#define KI_INFORMER_RULES_H

#include <stdbool.h>

#include "queue/delta_fifo.h"

typedef enum ki_verdict {
    KI_VERDICT_IGNORE = 0, /* an echo of something that is over */
    KI_VERDICT_SEEN,       /* nothing new, but the object is alive */
    KI_VERDICT_PUT,
    KI_VERDICT_REMOVE,
    KI_VERDICT_HOLD /* counts when the end of its list has shown that the list can be believed */
} ki_verdict;

/* What the store has under the key of a change. */
typedef struct ki_standing {
    const ki_object *stored; /* NULL: nothing */
    bool of_other_history;   /* its version says nothing about the versions of now */
    ki_str complete;         /* all up to this version is in the store; empty: nothing is known */
} ki_standing;

ki_verdict ki_rules_judge(const ki_delta *delta, const ki_standing *standing);

/* Whether a version can be compared: then a newer one is larger. */
bool ki_rules_is_number(ki_str version);

/* Whether an object that a list has not met is gone with it: it is no newer than the list. */
bool ki_rules_list_covers(const ki_object *object, const ki_resource_version *list_version);

#endif
