/* SPDX-License-Identifier: Apache-2.0 */
/* Functions posted to a client: each runs once, on io, and lets others run. */
#include <kinformer/client.h>
#include <stdatomic.h>

#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/unit.h"

/* A callback that posts itself forever. */
typedef struct poster {
    ki_client *client;
    atomic_int runs;
    int last; /* the result of its last post */
} poster;

static void post_again(void *user)
{
    poster *self = user;
    self->runs++;
    self->last = ki_client_post(self->client, post_again, self);
}

static void a_post_that_posts_itself_does_not_starve_others(void **state)
{
    (void)state;
    static const int modes[] = {KI_MODE_THREADS, KI_MODE_EVENT_LOOP};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        local_rig rig;
        local_rig_init(&rig, (ki_client_options){.mode = (ki_mode)modes[i]});
        poster p = {.client = rig.client};
        assert_int_equal(ki_client_post(rig.client, post_again, &p), 0);
        local_rig_sync(&rig);
        local_rig_fini(&rig);
        assert_true(p.runs > 0);
    }
}

static void a_step_of_the_program_s_loop_ends_even_if_posts_do_not(void **state)
{
    (void)state;
    ki_client_options options = {.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1};
    ki_client *client = ki_client_new(&options, NULL);
    assert_non_null(client);
    poster p = {.client = client};
    assert_int_equal(ki_client_post(client, post_again, &p), 0);
    assert_int_equal(ki_client_dispatch(client, KI_BUDGET_NONE), 1);
    assert_int_equal(ki_client_timeout_ms(client), 0);
    ki_client_free(client);
}

static void a_client_that_is_freed_runs_its_posts_and_accepts_no_more(void **state)
{
    (void)state;
    ki_client_options options = {.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1};
    ki_client *client = ki_client_new(&options, NULL);
    assert_non_null(client);
    poster one = {.client = client};
    poster other = {.client = client};
    assert_int_equal(ki_client_post(client, post_again, &one), 0);
    assert_int_equal(ki_client_post(client, post_again, &other), 0);
    ki_client_free(client);
    assert_int_equal(one.runs, 1);
    assert_int_equal(other.runs, 1);
    assert_int_equal(one.last, KI_ERR_STOPPED);
    assert_int_equal(other.last, KI_ERR_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_post_that_posts_itself_does_not_starve_others),
        WITH_MEMORY_CHECK(a_step_of_the_program_s_loop_ends_even_if_posts_do_not),
        WITH_MEMORY_CHECK(a_client_that_is_freed_runs_its_posts_and_accepts_no_more),
    };
    return RUN_TESTS(tests);
}
