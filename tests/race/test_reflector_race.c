/* SPDX-License-Identifier: Apache-2.0 */
/* Status and age are read while the reflector works. */
#include <stdatomic.h>
#include <stdio.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/thread.h"

enum { EVENTS = 20000 };

typedef struct reader {
    reflector_run *run;
    atomic_int stops;
    int saw_half;
} reader;

/* A reader sees counts and phase of the same moment. */
static void read_all(void *user)
{
    reader *r = user;
    while (!atomic_load(&r->stops)) {
        ki_informer_status status = reflector_run_status(r->run);
        r->saw_half |= status.events > 0 && status.lists == 0;
    }
}

static void the_status_can_be_read_at_any_time(void **state)
{
    reflector_run *run = *state;
    reader r = {.run = run};
    ki_thread thread = {0};
    char event[200];
    reflector_run_start_watching(run);
    assert_int_equal(
        ki_thread_start(&thread, &(ki_thread_options){.name = "worker", .run = read_all, .user = &r}, NULL),
        0);
    for (int i = 0; i < EVENTS; i++) {
        snprintf(event, sizeof(event), EVENT("ADDED", POD("b", "%d")), 11 + i);
        scripted_body(&run->source, event);
    }
    atomic_store(&r.stops, 1);
    ki_thread_join(&thread);
    assert_int_equal(reflector_run_status(run).events, EVENTS);
    assert_false(r.saw_half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(the_status_can_be_read_at_any_time),
    };
    return RUN_TESTS(tests);
}
