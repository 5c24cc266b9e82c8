/* SPDX-License-Identifier: Apache-2.0 */
/* work_rig - a work queue in virtual time, and short calls that fail the test on an error.
 *
 *   From:     tests of work queues
 *   To:       workqueue/queue.h
 */
#ifndef KI_TESTS_SUPPORT_CONTROLLER_WORK_RIG_H
#define KI_TESTS_SUPPORT_CONTROLLER_WORK_RIG_H

#include <kinformer/workqueue.h>

#include "util/clock.h"

typedef struct work_rig {
    ki_clock clock;
    ki_workqueue *queue;
} work_rig;

/* `options` may be NULL. */
void work_rig_init(work_rig *rig, const ki_workqueue_options *options);
void work_rig_fini(work_rig *rig);

/* All add with high priority, except the second. */
void work_add(work_rig *rig, const char *key);
void work_add_low(work_rig *rig, const char *key);
void work_add_after(work_rig *rig, const char *key, uint64_t delay_ms);

/* Gets exactly this key. */
ki_work_item work_get(work_rig *rig, const char *key);

/* Gets no key, with this code. */
void work_get_nothing(work_rig *rig, int code);

int work_done(work_rig *rig, const char *key);

/* Gets and finishes all waiting keys, which must be these: "a b c ". */
void work_assert_runs(work_rig *rig, const char *keys);

#endif
