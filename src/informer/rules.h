/* SPDX-License-Identifier: Apache-2.0 */
/* rules - which changes are applied to the store: rules 3, 4 and 8 of docs/consistency.md.
 *
 *   From:     informer/apply.c, for one change and the stored object of its key
 *   Locks:    none; pure functions.
 *   Not here: doing it.
 */
#ifndef KI_INFORMER_RULES_H
#define KI_INFORMER_RULES_H

#include <stdbool.h>

#include "queue/delta_fifo.h"

typedef enum ki_rules_verdict {
    KI_RULES_IGNORE = 0, /* an echo of an earlier state */
    KI_RULES_SEEN,       /* nothing new, but the object exists */
    KI_RULES_PUT,
    KI_RULES_REMOVE,
    KI_RULES_HOLD /* to be applied when the end of its list has shown that the list is not stale */
} ki_rules_verdict;

/* The stored object of a change's key. */
typedef struct ki_standing {
    const ki_object *stored; /* NULL: nothing */
    bool of_other_history;   /* its version is of another history */
    ki_str complete;         /* everything up to this version is in the store; empty: unknown */
} ki_standing;

ki_rules_verdict ki_rules_judge(const ki_delta *delta, const ki_standing *standing);

/* Whether a version can be compared: then a newer one is larger. */
bool ki_rules_is_number(ki_str version);

/* Whether an object that a list does not contain is deleted by it: it is not newer than the list. */
bool ki_rules_list_covers(const ki_object *object, const ki_resource_version *list_version);

#endif
