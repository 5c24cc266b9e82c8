/* SPDX-License-Identifier: Apache-2.0 */
/* bench_workqueue - how many keys per second a work queue handles, compared with others;
 * the memory of a key; and how costs grow. */
#include <kinformer/workqueue.h>
#include <stdlib.h>

#include "bench.h"
#include "counted.h"
#include "workqueue_contest.h"
#include "workqueue_growth.h"
#include "workqueue_keys.h"

enum { KEYS = 1000000, KEYS_QUICK = 100000, EXTRA_BYTES_MAX = 100 };

static bool bench_memory(size_t count, bool *out_met)
{
    struct workqueue_keys keys = workqueue_keys_new(count);
    bool is_done = counted_begin();
    ki_workqueue *queue = is_done ? ki_workqueue_new(NULL, NULL) : NULL;
    size_t before = counted_held();
    for (size_t i = 0; i < count && is_done; i++) {
        ki_str key = {workqueue_key(&keys, i), WORKQUEUE_KEY_LEN};
        is_done = ki_workqueue_add(queue, key, KI_PRIORITY_HIGH) == 0;
    }
    double each = (double)(counted_held() - before) / (double)count - WORKQUEUE_KEY_LEN;
    if (is_done) {
        *out_met &= bench_target("memory: bytes per queued key beyond itself", each, "<=", EXTRA_BYTES_MAX);
    }
    ki_workqueue_free(queue);
    workqueue_keys_free(&keys);
    return counted_end() && is_done;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = KEYS, .seconds = 12};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    bool met = true;
    size_t keys = options.pods < KEYS ? KEYS_QUICK : KEYS;
    bool is_done =
        bench_memory(keys, &met) && workqueue_contest_bench(keys, &met) && workqueue_growth_bench(&met);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
