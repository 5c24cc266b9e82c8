/* SPDX-License-Identifier: Apache-2.0 */
#include "util/descriptors.h"

#include <kinformer/error.h>
#include <unistd.h>

#include "util/alloc.h"

KI_NO_THREAD_SAFETY_ANALYSIS
static void around_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_descriptors *descriptors = KI_CONTAINER_OF(hook, ki_descriptors, hook);
    if (phase == KI_FORK_PREPARE)
        ki_mutex_lock(&descriptors->mu);
    else
        ki_mutex_unlock(&descriptors->mu);
}

int ki_descriptors_init(ki_descriptors *descriptors)
{
    *descriptors = (ki_descriptors){.hook = {.order = KI_FORK_LEAVES, .run = around_fork}, .is_begun = true};
    ki_mutex_init(&descriptors->mu);
    return ki_fork_add(&descriptors->hook);
}

void ki_descriptors_fini(ki_descriptors *descriptors)
{
    if (!descriptors->is_begun)
        return;
    ki_fork_remove(&descriptors->hook);
    ki_free(descriptors->fds);
    ki_mutex_fini(&descriptors->mu);
    *descriptors = (ki_descriptors){0};
}

static int reserve_locked(ki_descriptors *descriptors, size_t more)
{
    size_t wanted = descriptors->count + more;
    if (wanted <= descriptors->capacity)
        return 0;
    int *fds = ki_realloc(descriptors->fds, 2 * wanted * sizeof(*fds));
    if (fds == NULL)
        return KI_ERR_NO_MEMORY;
    descriptors->fds = fds;
    descriptors->capacity = 2 * wanted;
    return 0;
}

int ki_descriptors_reserve(ki_descriptors *descriptors, size_t more)
{
    ki_mutex_lock(&descriptors->mu);
    int rc = reserve_locked(descriptors, more);
    ki_mutex_unlock(&descriptors->mu);
    return rc;
}

void ki_descriptors_add(ki_descriptors *descriptors, int fd)
{
    ki_mutex_lock(&descriptors->mu);
    if (reserve_locked(descriptors, 1) == 0)
        descriptors->fds[descriptors->count++] = fd;
    ki_mutex_unlock(&descriptors->mu);
}

/* The youngest are the likeliest to be closed. */
void ki_descriptors_remove(ki_descriptors *descriptors, int fd)
{
    ki_mutex_lock(&descriptors->mu);
    size_t i = descriptors->count;
    while (i > 0 && descriptors->fds[i - 1] != fd)
        i--;
    if (i > 0)
        descriptors->fds[i - 1] = descriptors->fds[--descriptors->count];
    ki_mutex_unlock(&descriptors->mu);
}

void ki_descriptors_close_all(ki_descriptors *descriptors)
{
    ki_mutex_lock(&descriptors->mu);
    while (descriptors->count > 0)
        (void)close(descriptors->fds[--descriptors->count]);
    ki_mutex_unlock(&descriptors->mu);
}
