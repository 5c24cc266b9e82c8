/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread may wait, and where not. */
#include "client/callback.h"

#include <kinformer.h>

#include "support/unit.h"

static void nothing_is_waited_for_until_the_outermost_callback_has_returned(void **state)
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

static void nothing_is_waited_for_inside_a_read_section(void **state)
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
        cmocka_unit_test(nothing_is_waited_for_until_the_outermost_callback_has_returned),
        cmocka_unit_test(nothing_is_waited_for_inside_a_read_section),
    };
    return RUN_TESTS(tests);
}
