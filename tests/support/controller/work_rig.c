/* SPDX-License-Identifier: Apache-2.0 */
#include "support/controller/work_rig.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"
#include "workqueue/queue.h"

void work_rig_init(work_rig *rig, const ki_workqueue_options *options)
{
    ki_clock_init_virtual(&rig->clock, 1000 * 1000 * 1000, 0);
    rig->queue = ki_workqueue_new_with_clock(options, &rig->clock, NULL);
    assert_non_null(rig->queue);
}

void work_rig_fini(work_rig *rig)
{
    ki_workqueue_free(rig->queue);
    rig->queue = NULL;
}

void work_add(work_rig *rig, const char *key)
{
    assert_int_equal(ki_workqueue_add(rig->queue, ki_str_of(key), KI_PRIORITY_HIGH), 0);
}

void work_add_low(work_rig *rig, const char *key)
{
    assert_int_equal(ki_workqueue_add(rig->queue, ki_str_of(key), KI_PRIORITY_LOW), 0);
}

void work_add_after(work_rig *rig, const char *key, uint64_t delay_ms)
{
    assert_int_equal(ki_workqueue_add_after(rig->queue, ki_str_of(key), KI_PRIORITY_HIGH, delay_ms), 0);
}

ki_work_item work_get(work_rig *rig, const char *key)
{
    ki_work_item item = {0};
    assert_int_equal(ki_workqueue_get(rig->queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, ki_str_of(key)));
    return item;
}

void work_get_nothing(work_rig *rig, int code)
{
    ki_work_item item = {0};
    assert_int_equal(ki_workqueue_get(rig->queue, 0, &item), code);
    assert_null(item.key.ptr);
}

int work_done(work_rig *rig, const char *key)
{
    return ki_workqueue_done(rig->queue, ki_str_of(key));
}

void work_assert_runs(work_rig *rig, const char *keys)
{
    char seen[1024] = "";
    size_t len = 0;
    ki_work_item item;
    while (ki_workqueue_get(rig->queue, 0, &item) == 0) {
        len += (size_t)snprintf(seen + len, sizeof(seen) - len, "%.*s ", KI_STR_ARGS(item.key));
        assert_true(len < sizeof(seen));
        assert_int_equal(ki_workqueue_done(rig->queue, item.key), 0);
    }
    assert_string_equal(seen, keys);
}
