/* SPDX-License-Identifier: Apache-2.0 */
/* Limiters made of others. They have no state, so nothing is locked. */
#include <assert.h>

#include "util/error.h"
#include "util/units.h"
#include "workqueue/limiter.h"

/* ---- the largest of several ---------------------------------------------------------------------------- */

typedef struct max_of_limiter {
    ki_limiter base;
    size_t count;
    ki_limiter *parts[];
} max_of_limiter;

/* Calls every limiter, since each counts the attempt. The first failure ends the loop. */
static int max_of_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    const max_of_limiter *max_of = (const max_of_limiter *)limiter;
    assert(max_of->count > 0);
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < max_of->count; i++) {
        uint64_t delay_ns = 0;
        int rc = ki_limiter_when_at(max_of->parts[i], key, now_ns, &delay_ns);
        if (rc < 0)
            return rc;
        longest_ns = ki_ns_max(longest_ns, delay_ns);
    }
    *out_delay_ns = longest_ns;
    return 0;
}

static void max_of_forget(ki_limiter *limiter, ki_str key)
{
    const max_of_limiter *max_of = (const max_of_limiter *)limiter;
    for (size_t i = 0; i < max_of->count; i++)
        ki_limiter_forget(max_of->parts[i], key);
}

static uint32_t max_of_num_requeues(ki_limiter *limiter, ki_str key)
{
    const max_of_limiter *max_of = (const max_of_limiter *)limiter;
    uint32_t most = 0;
    for (size_t i = 0; i < max_of->count; i++) {
        uint32_t count = ki_limiter_num_requeues(max_of->parts[i], key);
        most = count > most ? count : most;
    }
    return most;
}

static void unref_all(ki_limiter *const *limiters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)ki_limiter_unref(limiters[i]);
}

static void max_of_fini(ki_limiter *limiter)
{
    const max_of_limiter *max_of = (const max_of_limiter *)limiter;
    unref_all(max_of->parts, max_of->count);
}

/* A part is NULL if it could not be made, in which case the error already says why, or if the caller passed
 * NULL. */
static void fail_missing(ki_error *err)
{
    if (err != NULL && err->code == 0)
        (void)ki_fail(err, KI_ERR_INVALID, "a limiter is missing");
}

static ki_limiter *make_max_of(size_t count, ki_error *err)
{
    assert(count > 0);
    static const ki_limiter_kind kind = {max_of_when, max_of_forget, max_of_num_requeues, max_of_fini};
    if (count > SIZE_MAX / 2 / sizeof(ki_limiter *)) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    return ki_limiter_make(sizeof(max_of_limiter) + count * sizeof(ki_limiter *), &kind, err);
}

ki_limiter *ki_limiter_new_max_of(ki_limiter *const *limiters, size_t count, ki_error *err)
{
    size_t there = 0;
    while (limiters != NULL && there < count && limiters[there] != NULL)
        there++;
    ki_limiter *limiter = NULL;
    if (count == 0 || there < count)
        fail_missing(err);
    else
        limiter = make_max_of(count, err);
    if (limiter == NULL) {
        if (limiters != NULL)
            unref_all(limiters, count);
        return NULL;
    }
    max_of_limiter *max_of = (max_of_limiter *)limiter;
    for (size_t i = 0; i < count; i++)
        max_of->parts[i] = limiters[i];
    max_of->count = count;
    return limiter;
}

ki_limiter *ki_limiter_new_default(ki_error *err)
{
    ki_limiter *exponential = ki_limiter_new_exponential(0, 0, err);
    ki_limiter *bucket = exponential == NULL ? NULL : ki_limiter_new_bucket(0, 0, err);
    if (bucket == NULL)
        return ki_limiter_unref(exponential);
    ki_limiter *both[] = {exponential, bucket};
    return ki_limiter_new_max_of(both, 2, err);
}

/* ---- not longer than --------------------------------------------------------------------------------- */

typedef struct max_wait_limiter {
    ki_limiter base;
    ki_limiter *part;
    uint64_t max_ns;
} max_wait_limiter;

static int max_wait_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    const max_wait_limiter *max_wait = (const max_wait_limiter *)limiter;
    assert(max_wait->part != NULL);
    uint64_t delay_ns = 0;
    int rc = ki_limiter_when_at(max_wait->part, key, now_ns, &delay_ns);
    if (rc == 0)
        *out_delay_ns = ki_ns_min(delay_ns, max_wait->max_ns);
    return rc;
}

static void max_wait_forget(ki_limiter *limiter, ki_str key)
{
    ki_limiter_forget(((const max_wait_limiter *)limiter)->part, key);
}

static uint32_t max_wait_num_requeues(ki_limiter *limiter, ki_str key)
{
    return ki_limiter_num_requeues(((const max_wait_limiter *)limiter)->part, key);
}

static void max_wait_fini(ki_limiter *limiter)
{
    (void)ki_limiter_unref(((const max_wait_limiter *)limiter)->part);
}

ki_limiter *ki_limiter_new_max_wait(ki_limiter *part, uint64_t max_ms, ki_error *err)
{
    static const ki_limiter_kind kind = {max_wait_when, max_wait_forget, max_wait_num_requeues,
                                         max_wait_fini};
    if (part == NULL) {
        fail_missing(err);
        return NULL;
    }
    ki_limiter *limiter = ki_limiter_make(sizeof(max_wait_limiter), &kind, err);
    if (limiter == NULL)
        return ki_limiter_unref(part);
    ((max_wait_limiter *)limiter)->part = part;
    ((max_wait_limiter *)limiter)->max_ns = ki_ns_of_ms(max_ms);
    return limiter;
}
