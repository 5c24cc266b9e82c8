/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are busy for long, and keys that wait for a delay meanwhile. The functions of ki_cond are
 * wrapped: glibc wakes the thread that has slept longest, and a program must not depend on it. */
#include <errno.h>
#include <kinformer.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "controller/controller.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

enum { WORKERS = 3, DELAY_MS = 50, LONG_DELAY_MS = 500 };

/* ---- a system that wakes the thread which fell asleep last -------------------------------------------- */

typedef struct napper {
    sem_t woken;
    struct napper *below;
} napper;

/* Whose workers sleep so; NULL: none. Set while it is stopped. */
static _Atomic(ki_controller *) stacked;
/* Guarded by its mutex, like the number of them. */
static napper *top;
static int asleep;

void __real_ki_cond_wait(ki_cond *cond, ki_mutex *mutex);
void __wrap_ki_cond_wait(ki_cond *cond, ki_mutex *mutex);
bool __real_ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms);
bool __wrap_ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms);
void __real_ki_cond_signal(ki_cond *cond);
void __wrap_ki_cond_signal(ki_cond *cond);
void __real_ki_cond_broadcast(ki_cond *cond);
void __wrap_ki_cond_broadcast(ki_cond *cond);

static bool is_stacked(const ki_cond *cond)
{
    const ki_controller *c = stacked;
    return c != NULL && cond == &c->work;
}

static struct timespec in_ms(uint64_t ms)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    uint64_t ns = (uint64_t)t.tv_nsec + ki_ns_of_ms(ms);
    t.tv_sec += (time_t)(ns / KI_NS_PER_S);
    t.tv_nsec = (long)(ns % KI_NS_PER_S);
    return t;
}

static void leave_stack(const napper *me)
{
    for (napper **at = &top; *at != NULL; at = &(*at)->below) {
        if (*at == me) {
            *at = me->below;
            asleep--;
            return;
        }
    }
}

/* Returns false when the deadline has passed; NULL: there is none. */
KI_NO_THREAD_SAFETY_ANALYSIS
static bool nap(ki_mutex *mutex, const struct timespec *deadline)
{
    int rc;
    napper me = {.below = top};
    sem_init(&me.woken, 0, 0);
    top = &me;
    asleep++;
    ki_mutex_unlock(mutex);
    do
        rc = deadline == NULL ? sem_wait(&me.woken) : sem_timedwait(&me.woken, deadline);
    while (rc != 0 && errno == EINTR);
    ki_mutex_lock(mutex);
    leave_stack(&me);
    sem_destroy(&me.woken);
    return rc == 0;
}

static void wake_top(void)
{
    napper *woken = top;
    if (woken == NULL)
        return;
    leave_stack(woken);
    sem_post(&woken->woken);
}

void __wrap_ki_cond_wait(ki_cond *cond, ki_mutex *mutex)
{
    if (is_stacked(cond))
        (void)nap(mutex, NULL);
    else
        __real_ki_cond_wait(cond, mutex);
}

bool __wrap_ki_cond_wait_ms(ki_cond *cond, ki_mutex *mutex, uint64_t timeout_ms)
{
    if (!is_stacked(cond))
        return __real_ki_cond_wait_ms(cond, mutex, timeout_ms);
    struct timespec deadline = in_ms(timeout_ms);
    return nap(mutex, &deadline);
}

void __wrap_ki_cond_signal(ki_cond *cond)
{
    if (is_stacked(cond))
        wake_top();
    else
        __real_ki_cond_signal(cond);
}

void __wrap_ki_cond_broadcast(ki_cond *cond)
{
    if (!is_stacked(cond)) {
        __real_ki_cond_broadcast(cond);
        return;
    }
    while (top != NULL)
        wake_top();
}

static void wait_asleep(ki_controller *c, int count)
{
    int seen = -1;
    for (int ms = 0; seen != count; ms++) {
        assert_true(ms < HANG_MS);
        ki_mutex_lock(&c->mu);
        seen = asleep;
        ki_mutex_unlock(&c->mu);
        (void)poll(NULL, 0, 1);
    }
}

/* ---- the controller ------------------------------------------------------------------------------------ */

typedef struct site {
    ki_client *client;
    ki_controller *controller;
    sem_t began;   /* a reconcile of a busy key has begun */
    sem_t delayed; /* the delayed key was reconciled */
    sem_t go_on;   /* a busy reconcile may end */
    uint64_t again_ms;
    int delayed_runs;
} site;

static void wait_for(sem_t *event)
{
    struct timespec deadline = in_ms(HANG_MS);
    assert_int_equal(sem_timedwait(event, &deadline), 0);
}

static ki_result reconcile(ki_request *request, void *user)
{
    site *s = user;
    if (ki_str_equal(ki_request_key(request), KI_STR("delayed"))) {
        sem_post(&s->delayed);
        return s->delayed_runs++ == 0 && s->again_ms != 0 ? ki_requeue_after(s->again_ms) : ki_done();
    }
    sem_post(&s->began);
    while (sem_wait(&s->go_on) != 0)
        ;
    return ki_done();
}

static void site_init(site *s)
{
    ki_error err = {0};
    sem_init(&s->began, 0, 0);
    sem_init(&s->delayed, 0, 0);
    sem_init(&s->go_on, 0, 0);
    s->client = ki_client_new(&(ki_client_options){.no_cluster = 1}, &err);
    s->controller = ki_controller_new(
        s->client,
        &(ki_controller_options){.name = "busy", .reconcile = reconcile, .workers = WORKERS, .user = s},
        &err);
    assert_non_null(s->controller);
}

static void site_start(const site *s)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_start(s->controller, &err), 0);
}

static void enqueue(const site *s, const char *key, uint64_t after_ms)
{
    assert_int_equal(ki_controller_enqueue(s->controller, ki_str_of(key), after_ms), 0);
}

/* Ends the busy reconciles. */
static void site_fini(site *s)
{
    sem_post(&s->go_on);
    sem_post(&s->go_on);
    ki_controller_free(s->controller);
    ki_client_free(s->client);
}

static void a_delayed_key_is_reconciled_while_all_workers_but_one_are_busy(void **state)
{
    (void)state;
    site s = {.again_ms = DELAY_MS};
    site_init(&s);
    site_start(&s);
    enqueue(&s, "delayed", 0);
    wait_for(&s.delayed);
    enqueue(&s, "busy-1", 0);
    enqueue(&s, "busy-2", 0);
    wait_for(&s.began);
    wait_for(&s.began);
    wait_for(&s.delayed);
    site_fini(&s);
    assert_int_equal(s.delayed_runs, 2);
}

/* The workers that see the delay are those that become busy. The third one, at the bottom, has no timer. */
static void a_delayed_key_is_reconciled_whichever_worker_is_woken(void **state)
{
    (void)state;
    site s = {0};
    site_init(&s);
    stacked = s.controller;
    site_start(&s);
    wait_asleep(s.controller, WORKERS);
    enqueue(&s, "delayed", LONG_DELAY_MS);
    wait_asleep(s.controller, WORKERS);
    enqueue(&s, "busy-1", 0);
    wait_for(&s.began);
    wait_asleep(s.controller, WORKERS - 1);
    enqueue(&s, "busy-2", 0);
    wait_for(&s.began);
    wait_for(&s.delayed);
    site_fini(&s);
    stacked = NULL;
    assert_int_equal(s.delayed_runs, 1);
    assert_null(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delayed_key_is_reconciled_while_all_workers_but_one_are_busy),
        cmocka_unit_test(a_delayed_key_is_reconciled_whichever_worker_is_woken),
    };
    return RUN_TESTS(tests);
}
