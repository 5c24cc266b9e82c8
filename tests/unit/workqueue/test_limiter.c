/* SPDX-License-Identifier: Apache-2.0 */
/* The delays of each limiter; test_workqueue_client_go.c checks that they are client-go's. */
#include <kinformer/limiter.h>
#include <stdlib.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"
#include "workqueue/limiter.h"

#define MS KI_NS_PER_MS
#define SECOND KI_NS_PER_S

static uint64_t when(ki_limiter *limiter, const char *key, uint64_t now_ns)
{
    uint64_t delay_ns = UINT64_MAX;
    assert_int_equal(ki_limiter_when_at(limiter, ki_str_of(key), now_ns, &delay_ns), 0);
    return delay_ns;
}

static void the_exponential_limiter_doubles_the_delay_of_each_key_up_to_its_maximum(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_exponential(3, 20, NULL);
    static const uint64_t delays_ms[] = {3, 6, 12, 20, 20};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), i);
        assert_int_equal(when(limiter, "a", 0), delays_ms[i] * MS);
    }
    assert_int_equal(when(limiter, "b", 0), 3 * MS);
    ki_limiter_forget(limiter, KI_STR("a"));
    ki_limiter_forget(limiter, KI_STR("unknown"));
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 0);
    assert_int_equal(when(limiter, "a", 0), 3 * MS);
    assert_int_equal(when(limiter, "b", 0), 6 * MS);
    (void)ki_limiter_unref(limiter);
}

static void the_exponential_limiter_does_not_overflow(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_exponential(1, UINT64_MAX, NULL);
    uint64_t before = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t delay = when(limiter, "a", 0);
        assert_true(delay >= before);
        before = delay;
    }
    assert_int_equal(before, ki_ns_of_ms(UINT64_MAX));
    (void)ki_limiter_unref(limiter);
}

static void the_exponential_limiter_defaults_to_5_ms_to_1000_s(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_exponential(0, 0, NULL);
    assert_int_equal(when(limiter, "a", 0), 5 * MS);
    for (int i = 0; i < 40; i++)
        (void)when(limiter, "a", 0);
    assert_int_equal(when(limiter, "a", 0), 1000 * SECOND);
    (void)ki_limiter_unref(limiter);
}

static void the_bucket_limiter_reserves_future_tokens(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_bucket(10, 3, NULL);
    uint64_t now = 7 * SECOND;
    for (int i = 0; i < 3; i++)
        assert_int_equal(when(limiter, "a", now), 0);
    assert_int_equal(when(limiter, "a", now), 100 * MS);
    assert_int_equal(when(limiter, "b", now), 200 * MS);
    assert_int_equal(when(limiter, "b", now + 250 * MS), 50 * MS);
    ki_limiter_forget(limiter, KI_STR("b"));
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("b")), 0);
    for (int i = 0; i < 3; i++) /* the bucket never holds more than the burst */
        assert_int_equal(when(limiter, "a", now + 1000 * SECOND), 0);
    assert_int_equal(when(limiter, "a", now + 1000 * SECOND), 100 * MS);
    (void)ki_limiter_unref(limiter);
}

static void the_bucket_limiter_defaults_to_a_burst_of_100_and_10_per_second(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_bucket(0, 0, NULL);
    for (int i = 0; i < 100; i++)
        assert_int_equal(when(limiter, "a", SECOND), 0);
    assert_int_equal(when(limiter, "a", SECOND), 100 * MS);
    (void)ki_limiter_unref(limiter);
}

static void fast_retries_are_followed_by_slow_ones(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_fast_slow(2, 50, 3, NULL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(when(limiter, "a", 0), (i < 3 ? 2 : 50) * MS);
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 5);
    assert_int_equal(when(limiter, "b", 0), 2 * MS);
    ki_limiter_forget(limiter, KI_STR("a"));
    assert_int_equal(when(limiter, "a", 0), 2 * MS);
    (void)ki_limiter_unref(limiter);
}

static void the_maximum_of_several_limiters_asks_and_forgets_in_each(void **state)
{
    (void)state;
    ki_limiter *exponential = ki_limiter_ref(ki_limiter_new_exponential(1, 100, NULL));
    ki_limiter *parts[] = {exponential, ki_limiter_new_fast_slow(3, 10, 2, NULL),
                           ki_limiter_new_bucket(1000, 100, NULL)};
    ki_limiter *limiter = ki_limiter_new_max_of(parts, 3, NULL);
    static const uint64_t delays_ms[] = {3, 3, 10, 10, 16};
    (void)when(exponential, "b", 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(when(limiter, "a", 0), delays_ms[i] * MS);
    (void)when(exponential, "a", 0);
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 6);
    ki_limiter_forget(limiter, KI_STR("a"));
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 0);
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("b")), 1);
    assert_int_equal(when(limiter, "a", 0), 3 * MS);
    (void)ki_limiter_unref(exponential);
    (void)ki_limiter_unref(limiter);
}

static void a_maximum_wait_limits_the_delays_of_another_limiter(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_max_wait(ki_limiter_new_exponential(4, 1000, NULL), 10, NULL);
    static const uint64_t delays_ms[] = {4, 8, 10, 10};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(when(limiter, "a", 0), delays_ms[i] * MS);
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 4);
    ki_limiter_forget(limiter, KI_STR("a"));
    assert_int_equal(when(limiter, "a", 0), 4 * MS);
    (void)ki_limiter_unref(limiter);
}

static void the_default_is_the_maximum_of_exponential_and_bucket(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_default(NULL);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(when(limiter, "a", SECOND), (5 * MS) << i);
    for (int i = 10; i < 100; i++)
        (void)when(limiter, "b", SECOND);
    assert_int_equal(when(limiter, "c", SECOND), 100 * MS);
    (void)ki_limiter_unref(limiter);
}

/* ---- custom limiters ----------------------------------------------------------------------------------- */

typedef struct own {
    uint64_t delay_ns;
    int rc;
    int forgotten;
    int released;
} own;

static int own_when(ki_str key, uint64_t *out_delay_ns, void *user)
{
    own *o = user;
    *out_delay_ns = o->delay_ns + key.len;
    return o->rc;
}

static void own_forget(ki_str key, void *user)
{
    ((own *)user)->forgotten += (int)key.len;
}

static uint32_t own_num_requeues(ki_str key, void *user)
{
    (void)user;
    return (uint32_t)key.len * 7;
}

static void own_release(void *user)
{
    ((own *)user)->released++;
}

static void a_custom_limiter_works_like_the_others(void **state)
{
    (void)state;
    own o = {.delay_ns = 100};
    uint64_t delay_ns = 0;
    ki_limiter_functions functions = {own_when, own_forget, own_num_requeues, own_release, &o, {0}};
    ki_limiter *limiter = ki_limiter_new_max_wait(ki_limiter_new_custom(&functions, NULL), 1, NULL);
    assert_int_equal(ki_limiter_when(limiter, KI_STR("ab"), &delay_ns), 0);
    assert_int_equal(delay_ns, 102);
    ki_limiter_forget(limiter, KI_STR("abc"));
    assert_int_equal(o.forgotten, 3);
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 7);
    o.rc = -77;
    assert_int_equal(ki_limiter_when(limiter, KI_STR("ab"), &delay_ns), -77);
    assert_int_equal(delay_ns, 102);
    assert_null(ki_limiter_unref(ki_limiter_ref(limiter)));
    assert_int_equal(o.released, 0);
    (void)ki_limiter_unref(limiter);
    assert_int_equal(o.released, 1);
}

static void a_custom_limiter_needs_only_a_delay_function(void **state)
{
    (void)state;
    own o = {.delay_ns = 1};
    ki_limiter *limiter = ki_limiter_new_custom(&(ki_limiter_functions){.when = own_when, .user = &o}, NULL);
    ki_limiter_forget(limiter, KI_STR("a"));
    assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), 0);
    assert_int_equal(when(limiter, "a", 0), 2);
    (void)ki_limiter_unref(limiter);
}

static void a_custom_limiter_is_released_once_even_if_it_cannot_be_created(void **state)
{
    (void)state;
    own refused = {0};
    assert_null(
        ki_limiter_new_custom(&(ki_limiter_functions){.on_release = own_release, .user = &refused}, NULL));
    assert_int_equal(refused.released, 1);
    for (size_t n = 1;; n++) {
        own o = {0};
        failing_allocator_fail_at(n);
        ki_limiter *limiter = ki_limiter_new_custom(
            &(ki_limiter_functions){.when = own_when, .on_release = own_release, .user = &o}, NULL);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(o.released, has_failed);
        (void)ki_limiter_unref(limiter);
        assert_int_equal(o.released, 1);
        if (!has_failed)
            break;
    }
}

/* ---- invalid arguments --------------------------------------------------------------------------------- */

static void the_first_error_of_nested_calls_is_kept_and_parts_are_freed(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_limiter *parts[] = {ki_limiter_new_exponential(0, 0, &err), ki_limiter_new_bucket(-1, 1, &err)};
    assert_null(ki_limiter_new_max_wait(ki_limiter_new_max_of(parts, 2, &err), 5, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_string_equal(err.message, "a rate of -1 per second is not valid");
}

static void invalid_limiters_and_keys_are_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    uint64_t delay_ns = 0;
    ki_limiter *limiter = ki_limiter_new_exponential(1, 2, NULL);
    char *longest = calloc(1, 65536);
    assert_null(ki_limiter_new_max_of(NULL, 0, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_null(ki_limiter_new_max_wait(NULL, 5, NULL));
    assert_null(ki_limiter_new_custom(NULL, NULL));
    assert_null(ki_limiter_new_custom(&(ki_limiter_functions){0}, NULL));
    assert_int_equal(ki_limiter_when(NULL, KI_STR("a"), &delay_ns), KI_ERR_INVALID);
    assert_int_equal(ki_limiter_when(limiter, KI_STR(""), &delay_ns), KI_ERR_INVALID);
    assert_int_equal(ki_limiter_when(limiter, KI_STR("a"), NULL), KI_ERR_INVALID);
    assert_int_equal(ki_limiter_when(limiter, (ki_str){longest, 65536}, &delay_ns), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_limiter_when(limiter, (ki_str){longest, 65535}, &delay_ns), 0);
    assert_int_equal(ki_limiter_num_requeues(NULL, KI_STR("a")), 0);
    ki_limiter_forget(NULL, KI_STR("a"));
    assert_null(ki_limiter_unref(NULL));
    assert_null(ki_limiter_ref(NULL));
    (void)ki_limiter_unref(limiter);
    free(longest);
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

static ki_limiter *make_nested(ki_error *err)
{
    ki_limiter *parts[] = {ki_limiter_new_default(err), ki_limiter_new_fast_slow(1, 2, 3, err)};
    return ki_limiter_new_max_wait(ki_limiter_new_max_of(parts, 2, err), 100, err);
}

static void creating_a_limiter_fails_cleanly_when_out_of_memory(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        ki_limiter *limiter = make_nested(&err);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_true((limiter == NULL) == has_failed);
        assert_int_equal(err.code, has_failed ? KI_ERR_NO_MEMORY : 0);
        (void)ki_limiter_unref(limiter);
        assert_int_equal(failing_allocator_live_count(), 0);
        if (!has_failed)
            break;
    }
}

static void a_retry_that_runs_out_of_memory_is_not_counted(void **state)
{
    (void)state;
    ki_limiter *limiter = ki_limiter_new_exponential(1, 100, NULL);
    for (size_t n = 1;; n++) {
        uint64_t delay_ns = 0;
        failing_allocator_fail_at(n);
        int rc = ki_limiter_when(limiter, KI_STR("a"), &delay_ns);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        assert_int_equal(ki_limiter_num_requeues(limiter, KI_STR("a")), has_failed ? 0 : 1);
        if (!has_failed)
            break;
    }
    (void)ki_limiter_unref(limiter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_exponential_limiter_doubles_the_delay_of_each_key_up_to_its_maximum),
        WITH_MEMORY_CHECK(the_exponential_limiter_does_not_overflow),
        WITH_MEMORY_CHECK(the_exponential_limiter_defaults_to_5_ms_to_1000_s),
        WITH_MEMORY_CHECK(the_bucket_limiter_reserves_future_tokens),
        WITH_MEMORY_CHECK(the_bucket_limiter_defaults_to_a_burst_of_100_and_10_per_second),
        WITH_MEMORY_CHECK(fast_retries_are_followed_by_slow_ones),
        WITH_MEMORY_CHECK(the_maximum_of_several_limiters_asks_and_forgets_in_each),
        WITH_MEMORY_CHECK(a_maximum_wait_limits_the_delays_of_another_limiter),
        WITH_MEMORY_CHECK(the_default_is_the_maximum_of_exponential_and_bucket),
        WITH_MEMORY_CHECK(a_custom_limiter_works_like_the_others),
        WITH_MEMORY_CHECK(a_custom_limiter_needs_only_a_delay_function),
        WITH_MEMORY_CHECK(a_custom_limiter_is_released_once_even_if_it_cannot_be_created),
        WITH_MEMORY_CHECK(the_first_error_of_nested_calls_is_kept_and_parts_are_freed),
        WITH_MEMORY_CHECK(invalid_limiters_and_keys_are_refused),
        WITH_MEMORY_CHECK(creating_a_limiter_fails_cleanly_when_out_of_memory),
        WITH_MEMORY_CHECK(a_retry_that_runs_out_of_memory_is_not_counted),
    };
    return RUN_TESTS(tests);
}
