/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sleeper.h"

#include "support/require.h"

static void stay(sleeper *s)
{
    ki_mutex_lock(&s->mu);
    s->is_inside = true;
    ki_cond_broadcast(&s->changed);
    while (!s->may_leave)
        ki_cond_wait(&s->changed, &s->mu);
    ki_mutex_unlock(&s->mu);
}

static int stay_at_one(const ki_object *object, void *user)
{
    (void)object;
    stay(user);
    return 1;
}

static void run(void *user)
{
    sleeper *s = user;
    if (s->walked != NULL) {
        require(ki_store_walk(s->walked, stay_at_one, s) == 1);
        return;
    }
    ki_read_lock();
    stay(s);
    ki_read_unlock();
}

void sleeper_begin(sleeper *s, const ki_store *walked)
{
    *s = (sleeper){.walked = walked};
    ki_mutex_init(&s->mu);
    ki_cond_init(&s->changed);
    require(ki_thread_start(&s->thread, &(ki_thread_options){"sleeper", run, s, 0}, NULL) == 0);
    ki_mutex_lock(&s->mu);
    while (!s->is_inside)
        ki_cond_wait(&s->changed, &s->mu);
    ki_mutex_unlock(&s->mu);
}

void sleeper_end(sleeper *s)
{
    ki_mutex_lock(&s->mu);
    s->may_leave = true;
    ki_cond_broadcast(&s->changed);
    ki_mutex_unlock(&s->mu);
    ki_thread_join(&s->thread);
    ki_cond_fini(&s->changed);
    ki_mutex_fini(&s->mu);
}
