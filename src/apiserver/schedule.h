/* SPDX-License-Identifier: Apache-2.0 */
/* schedule - whether a text is a schedule of cron as a CronJob has it.
 *
 *   From:     validation
 *   To:       its messages
 *   Locks:    none
 *   Not here: when it is due
 */
#ifndef KI_APISERVER_SCHEDULE_H
#define KI_APISERVER_SCHEDULE_H

#include <stdbool.h>

enum { KI_AS_SCHEDULE_WHY_BYTES = 256 };

/* Five fields, or "@hourly" and its like; if not, `why` says it in the words of Kubernetes. */
bool ki_as_schedule_check(const char *text, char why[KI_AS_SCHEDULE_WHY_BYTES]);

#endif
