/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are busy for long, and keys that wait for a delay meanwhile. */
#include <kinformer.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "support/patience.h"
#include "support/unit.h"

enum { WORKERS = 3, DELAY_MS = 50 };

typedef struct site {
    sem_t began;   /* a reconcile of a busy key has begun */
    sem_t delayed; /* the delayed key was reconciled */
    sem_t go_on;   /* a busy reconcile may end */
    int delayed_runs;
} site;

static void wait_for(sem_t *event)
{
    struct timespec deadline;
    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += HANG_MS / 1000;
    assert_int_equal(sem_timedwait(event, &deadline), 0);
}

static ki_result reconcile(ki_request *request, void *user)
{
    site *s = user;
    if (ki_str_equal(ki_request_key(request), KI_STR("delayed"))) {
        sem_post(&s->delayed);
        return s->delayed_runs++ == 0 ? ki_requeue_after(DELAY_MS) : ki_done();
    }
    sem_post(&s->began);
    while (sem_wait(&s->go_on) != 0)
        ;
    return ki_done();
}

static void a_delayed_key_is_reconciled_while_all_workers_but_one_are_busy(void **state)
{
    (void)state;
    site s = {0};
    ki_error err = {0};
    sem_init(&s.began, 0, 0);
    sem_init(&s.delayed, 0, 0);
    sem_init(&s.go_on, 0, 0);
    ki_client *client = ki_client_new(&(ki_client_options){.no_cluster = 1}, &err);
    ki_controller *controller = ki_controller_new(
        client,
        &(ki_controller_options){.name = "busy", .reconcile = reconcile, .workers = WORKERS, .user = &s},
        &err);
    assert_int_equal(ki_controller_start(controller, &err), 0);
    assert_int_equal(ki_controller_enqueue(controller, KI_STR("delayed"), KI_PRIORITY_HIGH), 0);
    wait_for(&s.delayed);
    assert_int_equal(ki_controller_enqueue(controller, KI_STR("busy-1"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_controller_enqueue(controller, KI_STR("busy-2"), KI_PRIORITY_HIGH), 0);
    wait_for(&s.began);
    wait_for(&s.began);
    wait_for(&s.delayed);
    sem_post(&s.go_on);
    sem_post(&s.go_on);
    ki_controller_free(controller);
    ki_client_free(client);
    assert_int_equal(s.delayed_runs, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delayed_key_is_reconciled_while_all_workers_but_one_are_busy),
    };
    return RUN_TESTS(tests);
}
