/* SPDX-License-Identifier: Apache-2.0 */
/* armed_call - a call of the library that is made once, when the test reaches a chosen place.
 *
 *   From:     tests of which calls are allowed in which callback; each defines its own struct stage
 */
#ifndef KI_TESTS_SUPPORT_ARMED_CALL_H
#define KI_TESTS_SUPPORT_ARMED_CALL_H

#include <stdatomic.h>

typedef struct stage stage;

typedef struct armed_call {
    int (*call)(stage *s);
    atomic_int place; /* where the next call is to be made, or -1 */
    atomic_int is_done;
    int rc; /* of the call; set before is_done */
} armed_call;

/* Makes the call if this is its place. */
void armed_call_visit(armed_call *armed, stage *s, int here);

#endif
