/* SPDX-License-Identifier: Apache-2.0 */
/* In its own file, so that a test with different calls does not need the library's. */
#include "support/sim/sim_server.h"

const sim_calls sim_library_calls = {
    .sent = ki_answer_sent,
    .head = ki_answer_head,
    .body = ki_answer_body,
    .end = ki_answer_end,
};
