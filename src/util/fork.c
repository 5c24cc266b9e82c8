/* SPDX-License-Identifier: Apache-2.0 */
#include "util/fork.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "util/error.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int register_rc;
static ki_mutex mu;
static ki_list hooks[KI_FORK_ORDERS]; /* guarded by mu */
static _Atomic unsigned generation;
static _Thread_local unsigned bars;

KI_NO_THREAD_SAFETY_ANALYSIS
static void run(ki_fork_hook *hook, ki_fork_phase phase)
{
    assert((hook->mutex == NULL) == (hook->run != NULL));
    if (hook->run != NULL)
        hook->run(hook, phase);
    else if (phase == KI_FORK_PREPARE)
        ki_mutex_lock(hook->mutex);
    else
        ki_mutex_unlock(hook->mutex);
}

static void run_all(const ki_list *list, ki_fork_phase phase)
{
    for (ki_list_node *node = ki_list_first(list); node != NULL; node = ki_list_next(list, node))
        run(KI_CONTAINER_OF(node, ki_fork_hook, node), phase);
}

KI_NO_THREAD_SAFETY_ANALYSIS
static void prepare(void)
{
    ki_mutex_lock(&mu);
    for (int order = 0; order < KI_FORK_ORDERS; order++)
        run_all(&hooks[order], KI_FORK_PREPARE);
}

KI_NO_THREAD_SAFETY_ANALYSIS
static void undo(ki_fork_phase phase)
{
    for (int order = KI_FORK_ORDERS; order-- > 0;)
        run_all(&hooks[order], phase);
    ki_mutex_unlock(&mu);
}

static void in_parent(void)
{
    undo(KI_FORK_PARENT);
}

static void in_child(void)
{
    generation++;
    undo(KI_FORK_CHILD);
}

static void begin(void)
{
    ki_mutex_init(&mu);
    for (int order = 0; order < KI_FORK_ORDERS; order++)
        ki_list_init(&hooks[order]);
    register_rc = pthread_atfork(prepare, in_parent, in_child) == 0 ? 0 : KI_ERR_NO_MEMORY;
}

int ki_fork_add(ki_fork_hook *hook)
{
    assert(hook != NULL);
    (void)pthread_once(&once, begin);
    if (register_rc < 0)
        return register_rc;
    ki_mutex_lock(&mu);
    ki_list_push_back(&hooks[hook->order], &hook->node);
    ki_mutex_unlock(&mu);
    return 0;
}

void ki_fork_remove(ki_fork_hook *hook)
{
    assert(hook != NULL);
    (void)pthread_once(&once, begin);
    ki_mutex_lock(&mu);
    ki_list_remove(&hook->node); /* under the lock, because this changes other hooks of the list */
    ki_mutex_unlock(&mu);
}

void ki_fork_bar(void)
{
    bars++;
}

void ki_fork_unbar(void)
{
    assert(bars > 0);
    bars--;
}

int ki_fork_check(ki_error *err)
{
    return bars == 0 ? 0
                     : ki_fail(err, KI_ERR_WOULD_DEADLOCK,
                               "cannot be created in an index function: it could deadlock with fork()");
}

unsigned ki_fork_generation(void)
{
    (void)pthread_once(&once, begin);
    return generation;
}
