/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/entry.h"

void ki_work_spares_fini(ki_work_spares *spares)
{
    for (size_t size = 0; size < KI_WORK_SPARE_SIZES; size++)
        for (ki_work_entry *entry = spares->lists[size], *next = NULL; entry != NULL; entry = next) {
            next = (ki_work_entry *)(void *)entry->node.next;
            ki_free(entry);
        }
    *spares = (ki_work_spares){0};
}
