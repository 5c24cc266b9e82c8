/* SPDX-License-Identifier: Apache-2.0 */
#include "support/delays.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "util/loop/loop.h"
#include "util/random.h"
#include "util/thread.h"

void __real_ki_mutex_lock(const ki_mutex *mutex);
void __real_ki_mutex_unlock(const ki_mutex *mutex);
void __real_ki_job_wake(ki_job *job);
void __wrap_ki_mutex_lock(const ki_mutex *mutex);
void __wrap_ki_mutex_unlock(const ki_mutex *mutex);
void __wrap_ki_job_wake(ki_job *job);

enum { YIELDS_ONE_IN = 16, SLEEPS_ONE_IN = 512, SLEEP_US_MAX = 300, HOLD_UP_US = 20 * 1000 };

static atomic_ullong last_seed;
static _Thread_local ki_random chance;
static _Thread_local bool is_seeded;
static _Thread_local int places_left; /* 0: the thread is not held up */

void delays_hold_up(int place)
{
    places_left = place;
}

static void delay(void)
{
    if (!is_seeded)
        ki_random_init(&chance, ++last_seed);
    is_seeded = true;
    if (places_left > 0 && --places_left == 0)
        (void)usleep(HOLD_UP_US);
    else if (ki_random_below(&chance, SLEEPS_ONE_IN) == 0)
        (void)usleep((useconds_t)ki_random_below(&chance, SLEEP_US_MAX));
    else if (ki_random_below(&chance, YIELDS_ONE_IN) == 0)
        (void)sched_yield();
}

KI_NO_THREAD_SAFETY_ANALYSIS
void __wrap_ki_mutex_lock(const ki_mutex *mutex)
{
    delay();
    __real_ki_mutex_lock(mutex);
}

KI_NO_THREAD_SAFETY_ANALYSIS
void __wrap_ki_mutex_unlock(const ki_mutex *mutex)
{
    __real_ki_mutex_unlock(mutex);
    delay();
}

void __wrap_ki_job_wake(ki_job *job)
{
    delay();
    __real_ki_job_wake(job);
    delay();
}
