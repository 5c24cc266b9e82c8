/* SPDX-License-Identifier: Apache-2.0 */
#include "json/kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 4 };

static const ki_json_kernel *available[KERNELS_MAX];
static const ki_json_kernel *best;
static pthread_once_t chosen = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* Checks every instruction set that the kernel's file is compiled for: a processor or a hypervisor may
 * offer only some of them. */
static int has_sse42(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul");
}

static int has_avx2(void)
{
    return has_sse42() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#endif

static void find_available(void)
{
    size_t n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (has_avx2())
        available[n++] = &ki_json_kernel_avx2;
    if (has_sse42())
        available[n++] = &ki_json_kernel_sse42;
#elif defined(__aarch64__)
    available[n++] = &ki_json_kernel_neon;
#endif
    available[n] = &ki_json_kernel_scalar;
}

static const ki_json_kernel *find_named(const char *name)
{
    for (size_t i = 0; i < KERNELS_MAX && available[i] != NULL; i++)
        if (strcmp(available[i]->name, name) == 0)
            return available[i];
    return NULL;
}

static void choose(void)
{
    find_available();
    const char *wanted = getenv("KI_SIMD");
    best = wanted == NULL ? NULL : find_named(wanted);
    if (best == NULL)
        best = available[0];
}

const ki_json_kernel *ki_json_kernel_best(void)
{
    pthread_once(&chosen, choose);
    return best;
}

const ki_json_kernel *const *ki_json_kernels(void)
{
    pthread_once(&chosen, choose);
    return available;
}
