/* SPDX-License-Identifier: Apache-2.0 */
/* A limiter made of the program's own functions. */
#include <assert.h>

#include "util/error.h"
#include "workqueue/limiter.h"

typedef struct custom_limiter {
    ki_limiter base;
    ki_limiter_functions functions;
} custom_limiter;

static const ki_limiter_functions *functions_of(ki_limiter *limiter)
{
    return &((const custom_limiter *)limiter)->functions;
}

static int custom_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    const ki_limiter_functions *functions = functions_of(limiter);
    assert(functions->when != NULL && out_delay_ns != NULL);
    (void)now_ns;
    return functions->when(key, out_delay_ns, functions->user);
}

static void custom_forget(ki_limiter *limiter, ki_str key)
{
    const ki_limiter_functions *functions = functions_of(limiter);
    if (functions->forget != NULL)
        functions->forget(key, functions->user);
}

static uint32_t custom_num_requeues(ki_limiter *limiter, ki_str key)
{
    const ki_limiter_functions *functions = functions_of(limiter);
    return functions->num_requeues == NULL ? 0 : functions->num_requeues(key, functions->user);
}

static void release(const ki_limiter_functions *functions)
{
    if (functions->on_release != NULL)
        functions->on_release(functions->user);
}

static void custom_fini(ki_limiter *limiter)
{
    release(functions_of(limiter));
}

ki_limiter *ki_limiter_new_custom(const ki_limiter_functions *functions, ki_error *err)
{
    static const ki_limiter_kind kind = {custom_when, custom_forget, custom_num_requeues, custom_fini};
    ki_limiter *limiter = NULL;
    if (functions == NULL || functions->when == NULL)
        (void)ki_fail(err, KI_ERR_INVALID, "a limiter needs the function `when`");
    else
        limiter = ki_limiter_make(sizeof(custom_limiter), &kind, err);
    if (limiter != NULL)
        ((custom_limiter *)limiter)->functions = *functions;
    else if (functions != NULL)
        release(functions);
    return limiter;
}
