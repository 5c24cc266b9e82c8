/* SPDX-License-Identifier: Apache-2.0 */
#include "util/token_bucket.h"

#include "support/unit.h"

enum { SECOND = 1000 };

static void a_bucket_is_full_at_first(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 5);
    for (int i = 0; i < 5; i++)
        assert_true(ki_token_bucket_take(&bucket, 100 * SECOND) == 0);
    assert_true(ki_token_bucket_take(&bucket, 100 * SECOND) == 101 * SECOND);
}

static void a_bucket_gains_one_token_per_interval(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 2);
    assert_true(ki_token_bucket_take(&bucket, 0) == 0);
    assert_true(ki_token_bucket_take(&bucket, 0) == 0);
    assert_true(ki_token_bucket_take(&bucket, SECOND - 1) == SECOND);
    assert_true(ki_token_bucket_take(&bucket, SECOND) == 0);
    assert_true(ki_token_bucket_take(&bucket, SECOND) == 2 * SECOND);
}

static void a_bucket_holds_no_more_than_the_burst(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 2);
    assert_true(ki_token_bucket_take(&bucket, 0) == 0);
    assert_true(ki_token_bucket_take(&bucket, 3600 * SECOND) == 0);
    assert_true(ki_token_bucket_take(&bucket, 3600 * SECOND) == 0);
    assert_true(ki_token_bucket_take(&bucket, 3600 * SECOND) == 3601 * SECOND);
}

static void a_failed_request_takes_nothing(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 1);
    assert_true(ki_token_bucket_take(&bucket, 0) == 0);
    for (int i = 0; i < 10; i++)
        assert_true(ki_token_bucket_take(&bucket, 10) == SECOND);
    assert_true(ki_token_bucket_take(&bucket, SECOND) == 0);
}

static void future_tokens_are_reserved_in_order(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 2);
    assert_true(ki_token_bucket_reserve(&bucket, 10, UINT64_MAX) == 10);
    assert_true(ki_token_bucket_reserve(&bucket, 10, UINT64_MAX) == 10);
    assert_true(ki_token_bucket_reserve(&bucket, 10, UINT64_MAX) == 10 + SECOND);
    assert_true(ki_token_bucket_reserve(&bucket, 10, UINT64_MAX) == 10 + 2 * SECOND);
    assert_true(ki_token_bucket_reserve(&bucket, 20, UINT64_MAX) == 10 + 3 * SECOND);
}

static void a_token_that_is_available_too_late_is_not_reserved(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 1);
    assert_true(ki_token_bucket_reserve(&bucket, 0, 0) == 0);
    assert_true(ki_token_bucket_reserve(&bucket, 0, SECOND - 1) == UINT64_MAX);
    assert_true(ki_token_bucket_reserve(&bucket, 0, SECOND) == SECOND);
}

static void a_token_that_is_given_back_can_be_reserved_again(void **state)
{
    (void)state;
    ki_token_bucket bucket;
    ki_token_bucket_init(&bucket, SECOND, 1);
    assert_true(ki_token_bucket_reserve(&bucket, 0, UINT64_MAX) == 0);
    assert_true(ki_token_bucket_reserve(&bucket, 0, UINT64_MAX) == SECOND);
    assert_true(ki_token_bucket_reserve(&bucket, 0, UINT64_MAX) == 2 * SECOND);
    ki_token_bucket_give_back(&bucket);
    assert_true(ki_token_bucket_reserve(&bucket, 0, UINT64_MAX) == 2 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_is_full_at_first),
        cmocka_unit_test(a_bucket_gains_one_token_per_interval),
        cmocka_unit_test(a_bucket_holds_no_more_than_the_burst),
        cmocka_unit_test(a_failed_request_takes_nothing),
        cmocka_unit_test(future_tokens_are_reserved_in_order),
        cmocka_unit_test(a_token_that_is_available_too_late_is_not_reserved),
        cmocka_unit_test(a_token_that_is_given_back_can_be_reserved_again),
    };
    return RUN_TESTS(tests);
}
