/* SPDX-License-Identifier: Apache-2.0 */
/* rules - which changes are applied to the store: rules 3, 4 and 8 of docs/consistency.md.
 *
 *   From:     informer/apply.c and informer/apply_markers.c, for one change and the stored object of its key;
 *             informer/informer_metrics.c
 *   Locks:    none; pure functions.
 *   Not here: doing it.
 */
#ifndef KI_INFORMER_RULES_H
#define KI_INFORMER_RULES_H

#include <stdbool.h>

#include "queue/delta_fifo.h"

typedef enum ki_rules_verdict {
    KI_RULES_IGNORE = 0, /* an echo of an earlier state, or there is no stored object to change */
    KI_RULES_KEEP,       /* the stored object stays; the change proves that it exists */
    KI_RULES_PUT,
    KI_RULES_REMOVE,
    KI_RULES_HOLD /* apply it when the end of its list has shown that the list is not stale */
} ki_rules_verdict;

/* The stored object of the change's key, and how far the store is complete. */
typedef struct ki_standing {
    const ki_object *stored; /* NULL: there is none */
    bool of_other_history;   /* the version of `stored` is of another history */
    ki_str complete;         /* everything up to this version is in the store; empty: unknown */
} ki_standing;

ki_rules_verdict ki_rules_judge(const ki_delta *delta, const ki_standing *standing);

/* Whether a version is a number, so that versions can be compared: the larger one is newer. */
bool ki_rules_is_number(ki_str version);

/* Whether the object is not newer than the list. If the list does not contain the object,
 * then it was deleted. */
bool ki_rules_list_covers(const ki_object *object, const ki_resource_version *list_version);

#endif
