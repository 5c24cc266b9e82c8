/* SPDX-License-Identifier: Apache-2.0 */
#include "support/armed_call.h"

void armed_call_visit(armed_call *armed, stage *s, int here)
{
    if (!atomic_compare_exchange_strong(&armed->place, &here, -1))
        return;
    armed->rc = armed->call(s);
    armed->is_done = 1;
}
