/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/limiter.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"

KI_NO_THREAD_SAFETY_ANALYSIS
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_limiter *limiter = KI_CONTAINER_OF(hook, ki_limiter, fork_hook);
    if (phase == KI_FORK_PREPARE)
        ki_mutex_lock(&limiter->mu);
    else
        ki_mutex_unlock(&limiter->mu);
}

ki_limiter *ki_limiter_make(size_t bytes, const ki_limiter_kind *kind, ki_error *err)
{
    assert(bytes >= sizeof(ki_limiter));
    assert(kind->when != NULL && kind->forget != NULL && kind->num_requeues != NULL && kind->fini != NULL);
    if (ki_fork_check(err) < 0)
        return NULL;
    ki_limiter *limiter = ki_calloc(1, bytes);
    if (limiter == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    limiter->kind = kind;
    limiter->fork_hook = (ki_fork_hook){.order = KI_FORK_LEAVES, .run = on_fork};
    ki_refcount_init(&limiter->refs);
    ki_mutex_init(&limiter->mu);
    if (ki_fork_add(&limiter->fork_hook) < 0) {
        (void)ki_fail_no_memory(err);
        return ki_limiter_unref(limiter);
    }
    return limiter;
}

ki_limiter *ki_limiter_ref(ki_limiter *limiter)
{
    if (limiter != NULL)
        ki_refcount_ref(&limiter->refs);
    return limiter;
}

ki_limiter *ki_limiter_unref(ki_limiter *limiter)
{
    if (limiter == NULL || !ki_refcount_unref(&limiter->refs))
        return NULL;
    ki_fork_remove(&limiter->fork_hook);
    limiter->kind->fini(limiter);
    ki_mutex_fini(&limiter->mu);
    ki_free(limiter);
    return NULL;
}

int ki_limiter_when_at(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    assert(limiter != NULL && out_delay_ns != NULL);
    return limiter->kind->when(limiter, key, now_ns, out_delay_ns);
}

int ki_limiter_when(ki_limiter *limiter, ki_str key, uint64_t *out_delay_ns)
{
    if (limiter == NULL || key.len == 0 || out_delay_ns == NULL)
        return KI_ERR_INVALID;
    return ki_limiter_when_at(limiter, key, ki_clock_now_ns(ki_clock_real()), out_delay_ns);
}

void ki_limiter_forget(ki_limiter *limiter, ki_str key)
{
    if (limiter != NULL)
        limiter->kind->forget(limiter, key);
}

uint32_t ki_limiter_num_requeues(const ki_limiter *limiter, ki_str key)
{
    ki_limiter *mine = (ki_limiter *)limiter; /* only its mutex is changed */
    return mine == NULL ? 0 : mine->kind->num_requeues(mine, key);
}
