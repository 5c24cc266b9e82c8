/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread may wait, and where it may not. */
#include "client/callback.h"

#include <kinformer.h>

#include "support/unit.h"

static void waiting_is_refused_until_the_outermost_callback_returns(void **state)
{
    (void)state;
    assert_int_equal(ki_client_may_wait(), 0);
    ki_callback_enter();
    ki_callback_enter();
    ki_callback_leave();
    assert_int_equal(ki_client_may_wait(), KI_ERR_WOULD_DEADLOCK);
    ki_callback_leave();
    assert_int_equal(ki_client_may_wait(), 0);
}

static void waiting_is_refused_in_a_read_section(void **state)
{
    (void)state;
    ki_read_lock();
    assert_int_equal(ki_client_may_wait(), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    assert_int_equal(ki_client_may_wait(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_is_refused_until_the_outermost_callback_returns),
        cmocka_unit_test(waiting_is_refused_in_a_read_section),
    };
    return RUN_TESTS(tests);
}
