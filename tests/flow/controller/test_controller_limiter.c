/* SPDX-License-Identifier: Apache-2.0 */
/* A custom limiter runs on a worker thread, and may stop or free what it is used by. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support/patience.h"
#include "support/unit.h"

typedef enum act { STOP, FREE_CONTROLLER, FREE_CLIENT, ACTS } act;

typedef struct site {
    act act;
    ki_client *client;
    ki_controller *controller;
    int stop_rc;
    atomic_int asked;
    atomic_bool returned;
    atomic_bool released;
} site;

static ki_result try_again(ki_request *request, void *user)
{
    (void)request;
    (void)user;
    return ki_retry(NULL);
}

static int when(ki_str key, uint64_t *out_delay_ns, void *user)
{
    site *s = user;
    ki_error err = {0};
    (void)key;
    *out_delay_ns = 1000000;
    if (s->asked++ > 0)
        return 0;
    if (s->act == STOP)
        s->stop_rc = ki_controller_stop(s->controller, &err);
    else if (s->act == FREE_CONTROLLER)
        ki_controller_free(s->controller);
    else
        ki_client_free(s->client);
    s->returned = true;
    return 0;
}

static void on_release(void *user)
{
    site *s = user;
    s->released = true;
}

static void wait_for(const atomic_bool *flag)
{
    for (int ms = 0; !*flag && ms < HANG_MS; ms++)
        (void)poll(NULL, 0, 1);
    assert_true(*flag);
}

static void a_limiter_can_end_what_it_is_used_by(void **state)
{
    (void)state;
    for (int i = 0; i < ACTS; i++) {
        site s = {.act = (act)i, .stop_rc = -1};
        ki_error err = {0};
        s.client = ki_client_new(&(ki_client_options){.server = "http://127.0.0.1:1"}, &err);
        ki_limiter *limiter = ki_limiter_new_custom(&(ki_limiter_functions){.when = when, .user = &s}, &err);
        s.controller = ki_controller_new(s.client,
                                         &(ki_controller_options){.name = "c",
                                                                  .reconcile = try_again,
                                                                  .limiter = limiter,
                                                                  .on_release = on_release,
                                                                  .stop_timeout_ms = UINT64_MAX,
                                                                  .user = &s},
                                         &err);
        assert_int_equal(ki_controller_start(s.controller, &err), 0);
        assert_int_equal(ki_controller_enqueue(s.controller, KI_STR("a"), 0), 0);
        wait_for(&s.returned);
        if (i == STOP)
            assert_int_equal(s.stop_rc, 0);
        if (i != FREE_CONTROLLER)
            ki_controller_free(s.controller);
        if (i != FREE_CLIENT)
            ki_client_free(s.client);
        wait_for(&s.released);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limiter_can_end_what_it_is_used_by),
    };
    return RUN_TESTS(tests);
}
