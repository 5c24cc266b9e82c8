/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/descriptors.h"

#include <kinformer/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"

int ki_descriptors_init(ki_descriptors *descriptors)
{
    const ki_fork_hook hook = {.order = KI_FORK_LEAVES, .mutex = &descriptors->mu};
    *descriptors = (ki_descriptors){.hook = hook, .is_begun = true};
    ki_mutex_init(&descriptors->mu);
    return ki_fork_add(&descriptors->hook);
}

void ki_descriptors_fini(ki_descriptors *descriptors)
{
    if (!descriptors->is_begun)
        return;
    ki_fork_remove(&descriptors->hook);
    ki_free(descriptors->open);
    ki_mutex_fini(&descriptors->mu);
    *descriptors = (ki_descriptors){0};
}

static int reserve_locked(ki_descriptors *descriptors, size_t more)
{
    size_t wanted = descriptors->count + more;
    if (wanted <= descriptors->capacity)
        return 0;
    ki_descriptor *open = ki_realloc(descriptors->open, 2 * wanted * sizeof(*open));
    if (open == NULL)
        return KI_ERR_NO_MEMORY;
    descriptors->open = open;
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

/* NULL if there is none. Searches from the end: the newest descriptors are the most likely to be closed. */
static ki_descriptor *find_locked(ki_descriptors *descriptors, int fd)
{
    size_t i = descriptors->count;
    while (i > 0 && descriptors->open[i - 1].fd != fd)
        i--;
    return i == 0 ? NULL : &descriptors->open[i - 1];
}

static ki_descriptor describe(int fd)
{
    struct stat about = {0};
    (void)fstat(fd, &about);
    return (ki_descriptor){fd, about.st_dev, about.st_ino};
}

void ki_descriptors_lock(ki_descriptors *descriptors)
{
    ki_mutex_lock(&descriptors->mu);
}

void ki_descriptors_unlock(ki_descriptors *descriptors)
{
    ki_mutex_unlock(&descriptors->mu);
}

void ki_descriptors_add_locked(ki_descriptors *descriptors, int fd)
{
    ki_descriptor *place = find_locked(descriptors, fd);
    if (place == NULL && reserve_locked(descriptors, 1) == 0)
        place = &descriptors->open[descriptors->count++];
    if (place != NULL)
        *place = describe(fd);
}

void ki_descriptors_remove_locked(ki_descriptors *descriptors, int fd)
{
    ki_descriptor *found = find_locked(descriptors, fd);
    if (found != NULL)
        *found = descriptors->open[--descriptors->count];
}

void ki_descriptors_close_all(ki_descriptors *descriptors)
{
    ki_mutex_lock(&descriptors->mu);
    while (descriptors->count > 0) {
        const ki_descriptor *known = &descriptors->open[--descriptors->count];
        ki_descriptor now = describe(known->fd);
        if (now.device == known->device && now.inode == known->inode)
            (void)close(known->fd);
    }
    ki_mutex_unlock(&descriptors->mu);
}
